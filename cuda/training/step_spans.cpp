// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step_spans.h"

#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
using std::chrono::nanoseconds;

class SpanWriter {
 public:
  SpanWriter(const ClockMap& clock, Rank rank, std::int32_t step, std::vector<Span>& spans)
      : clock_(clock), rank_(rank), step_(step), spans_(spans) {}

  void start_at(double time) { now_ = at(time); }
  nanoseconds now() const { return now_; }
  // From where the last one ended; an event that was read as earlier ends it there.
  void until(double time, Activity activity, std::int32_t sequence, const std::string& name) {
    const nanoseconds end = std::max(now_, at(time));
    spans_.push_back({rank_, step_, activity, sequence, now_, end, name});
    now_ = end;
  }
  bool is_later(double time) const { return at(time) > now_; }
  void mark(Activity activity, std::int32_t sequence, const std::string& name) {
    spans_.push_back({rank_, step_, activity, sequence, now_, now_, name});
  }
  void whole_step(nanoseconds start) {
    spans_.push_back({rank_, step_, Activity::step, -1, start, now_, "step"});
  }

 private:
  nanoseconds at(double time) const {
    return nanoseconds(std::llround((clock_.offset + clock_.factor * time) * 1e9));
  }

  ClockMap clock_;
  Rank rank_;
  std::int32_t step_;
  std::vector<Span>& spans_;
  nanoseconds now_{};
};

std::string sum_name(std::size_t sum) {
  return sum == 0 ? "loss" : fmt::format("bucket {}", sum - 1);
}
}  // namespace

void append_step_spans(const StepSchedule& schedule,
                       const StepTimes& times,
                       const ClockMap& clock,
                       Rank rank,
                       std::int32_t step,
                       std::vector<Span>& spans) {
  SpanWriter writer(clock, rank, step, spans);
  writer.start_at(times.previous_end);
  const nanoseconds start = writer.now();
  writer.until(times.start, Activity::host, -1, "data and launch");
  std::size_t sum = 0;
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    writer.until(times.stage_end[stage], Activity::compute, -1, schedule.stages[stage]);
    for (; sum < schedule.posted_after.size() && schedule.posted_after[sum] == stage; ++sum) {
      writer.mark(Activity::post, static_cast<std::int32_t>(sum), "post " + sum_name(sum));
    }
  }
  for (sum = 0; sum < times.sum_end.size(); ++sum) {
    if (!writer.is_later(times.sum_end[sum])) continue;
    writer.until(times.sum_end[sum],
                 Activity::collective_wait,
                 static_cast<std::int32_t>(sum),
                 "all-reduce " + sum_name(sum));
  }
  writer.until(times.end, Activity::optimizer, -1, "optimizer");
  writer.whole_step(start);
}

namespace {
using Activities = std::vector<DeviceActivity>;

bool is_sum(const DeviceActivity& activity) {
  return activity.name.find("nccl") != std::string::npos;
}

// The mangled name of the optimizer's kernel has its argument's type.
bool is_update(const DeviceActivity& activity) {
  return activity.name.find("4Adam") != std::string::npos;
}

/// One step: (previous update's end, own update's end].
struct StepActivities {
  std::int64_t start_ns = 0;
  Activities own;   // in order; the update last
  Activities sums;  // in order
};

std::vector<StepActivities> split(Activities activities) {
  std::sort(activities.begin(), activities.end(), [](const auto& a, const auto& b) {
    return std::pair(a.start_ns, a.end_ns) < std::pair(b.start_ns, b.end_ns);
  });
  std::vector<StepActivities> steps;
  StepActivities open;
  bool first = true;
  for (DeviceActivity& activity : activities) {
    const std::int64_t end = activity.end_ns;
    const bool last = is_update(activity);
    (is_sum(activity) ? open.sums : open.own).push_back(std::move(activity));
    if (!last) continue;
    if (!first) steps.push_back(std::move(open));  // where the first one began is not known
    first = false;
    open = {end, {}, {}};
  }
  return steps;
}

class StepWriter {
 public:
  StepWriter(const StepActivities& step, Rank rank, std::int32_t number, std::vector<Span>& spans)
      : step_(step), rank_(rank), number_(number), spans_(spans), now_(step.start_ns) {}

  void write() {
    const std::int64_t end = step_.own.back().end_ns;
    add(Activity::step, -1, step_.start_ns, end, "step");
    for (std::size_t sum = 0; sum < step_.sums.size(); ++sum) {
      const std::int64_t arrival = step_.sums[sum].start_ns;
      add(Activity::post, number_of(sum), arrival, arrival, "post " + sum_name(sum));
    }
    const std::size_t tail = after_backward();
    for (std::size_t i = 0; i < step_.own.size(); ++i) {
      if (i >= tail) wait_until(step_.own[i].start_ns);
      own(step_.own[i]);
    }
  }

 private:
  static std::int32_t number_of(std::size_t sum) { return static_cast<std::int32_t>(sum); }

  void add(Activity activity,
           std::int32_t sequence,
           std::int64_t start,
           std::int64_t end,
           const std::string& name) {
    spans_.push_back(
        {rank_, number_, activity, sequence, nanoseconds(start), nanoseconds(end), name});
  }

  void own(const DeviceActivity& activity) {
    // Copies of the next input may run beside kernels.
    const std::int64_t start = std::max(now_, activity.start_ns);
    if (activity.end_ns <= start) return;
    const bool copy = activity.kind == DeviceActivity::Kind::copy;
    const Activity what = copy                  ? Activity::host
                          : is_update(activity) ? Activity::optimizer
                                                : Activity::compute;
    add(what, -1, start, activity.end_ns, copy ? "copy" : activity.name);
    now_ = activity.end_ns;
  }

  // The first activity behind the last kernel before the update; a copy of the loss may be there.
  std::size_t after_backward() const {
    std::size_t tail = step_.own.size() - 1;
    while (tail > 0 && step_.own[tail - 1].kind == DeviceActivity::Kind::copy) --tail;
    return tail;
  }

  // Sums that still run behind what the rank did itself.
  void wait_until(std::int64_t limit) {
    for (std::size_t sum = 0; sum < step_.sums.size(); ++sum) {
      const std::int64_t end = std::min(step_.sums[sum].end_ns, limit);
      if (end <= now_) continue;
      add(Activity::collective_wait, number_of(sum), now_, end, "all-reduce " + sum_name(sum));
      now_ = end;
    }
  }

  const StepActivities& step_;
  Rank rank_;
  std::int32_t number_;
  std::vector<Span>& spans_;
  std::int64_t now_;
};
}  // namespace

std::vector<Span> kernel_spans(std::vector<DeviceActivity> activities,
                               const StepWindow& window,
                               Rank rank) {
  std::vector<StepActivities> steps = split(std::move(activities));
  std::vector<Span> spans;
  const auto wanted = static_cast<std::size_t>(window.steps);
  if (steps.size() < wanted) return spans;
  steps.erase(steps.begin(), steps.end() - window.steps);
  for (const StepActivities& step : steps) {
    if (step.sums.size() != window.sums) return {};
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StepWriter(steps[i], rank, static_cast<std::int32_t>(i), spans).write();
  }
  return spans;
}

namespace {
constexpr int tries = 50;
constexpr double limit_s = 10.0;

double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns when it was first seen done.
double wait_until_done(cudaEvent_t event, double before) {
  while (true) {
    const bool done = has_happened(event);
    const double now = host_seconds();
    if (done) return now;
    if (now - before > limit_s) {
      throw ProbeFailure(
          "an idle GPU did not record an event within 10 s: it hangs; see dmesg for Xid");
    }
  }
}
}  // namespace

ClockAnchor set_anchor(cudaStream_t stream) {
  ClockAnchor best;
  for (int i = 0; i < tries; ++i) {
    Event event = make_event();
    const double before = host_seconds();
    check(cudaEventRecord(event.get(), stream));
    const double after = wait_until_done(event.get(), before);
    const double error = (after - before) / 2.0;
    if (i == 0 || error < best.error_s) {
      best = {std::move(event), before + error, error};
    }
  }
  return best;
}

ClockMap clock_between(double first_host_s, double second_host_s, double gpu_s) {
  if (!(gpu_s > 0.0)) return {first_host_s, 1.0};
  return {first_host_s, (second_host_s - first_host_s) / gpu_s};
}
}  // namespace scaleworth::gpu
