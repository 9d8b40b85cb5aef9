// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step_spans.h"

#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scaleworth::gpu {
namespace {
using std::chrono::nanoseconds;

std::string sum_name(std::size_t sum) {
  return sum == 0 ? "loss" : fmt::format("bucket {}", sum - 1);
}

using Activities = std::vector<DeviceActivity>;

// The mangled name of the optimizer's kernel has its argument's type.
bool is_update(const DeviceActivity& activity) {
  return activity.name.find("4Adam") != std::string::npos;
}

bool is_copy(const DeviceActivity& activity) {
  return activity.kind == DeviceActivity::Kind::copy;
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
    (activity.name.find("nccl") != std::string::npos ? open.sums : open.own)
        .push_back(std::move(activity));
    if (!last) continue;
    if (!first) steps.push_back(std::move(open));  // where the first one began is not known
    first = false;
    open = {end, {}, {}};
  }
  return steps;
}

void append_kernel_spans(const StepActivities& step,
                         Rank rank,
                         std::int32_t number,
                         std::vector<Span>& spans) {
  std::int64_t now = step.start_ns;
  const auto add = [&](Activity activity,
                       std::int32_t sequence,
                       std::int64_t start,
                       std::int64_t end,
                       const std::string& name) {
    spans.push_back({rank, number, activity, sequence, nanoseconds(start), nanoseconds(end), name});
  };
  add(Activity::step, -1, step.start_ns, step.own.back().end_ns, "step");
  for (std::size_t sum = 0; sum < step.sums.size(); ++sum) {
    const std::int64_t arrival = step.sums[sum].start_ns;
    add(Activity::post, static_cast<std::int32_t>(sum), arrival, arrival, "post " + sum_name(sum));
  }
  // Sums that still run behind what the rank did itself.
  const auto wait_until = [&](std::int64_t limit) {
    for (std::size_t sum = 0; sum < step.sums.size(); ++sum) {
      const std::int64_t end = std::min(step.sums[sum].end_ns, limit);
      if (end <= now) continue;
      const auto sequence = static_cast<std::int32_t>(sum);
      add(Activity::collective_wait, sequence, now, end, "all-reduce " + sum_name(sum));
      now = end;
    }
  };
  // The first activity behind the last kernel before the update; a copy of the loss may be there.
  std::size_t tail = step.own.size() - 1;
  while (tail > 0 && is_copy(step.own[tail - 1])) --tail;
  for (std::size_t i = 0; i < step.own.size(); ++i) {
    const DeviceActivity& own = step.own[i];
    if (i >= tail) wait_until(own.start_ns);
    // Copies of the next input may run beside kernels.
    const std::int64_t start = std::max(now, own.start_ns);
    if (own.end_ns <= start) continue;
    const Activity what = is_copy(own)     ? Activity::host
                          : is_update(own) ? Activity::optimizer
                                           : Activity::compute;
    add(what, -1, start, own.end_ns, is_copy(own) ? "copy" : own.name);
    now = own.end_ns;
  }
}

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

void append_step_spans(const StepSchedule& schedule,
                       const StepTimes& times,
                       const ClockMap& clock,
                       Rank rank,
                       std::int32_t step,
                       std::vector<Span>& spans) {
  const auto at = [&clock](double time) {
    return nanoseconds(std::llround((clock.offset + clock.factor * time) * 1e9));
  };
  const nanoseconds start = at(times.previous_end);
  nanoseconds now = start;
  // From where the last one ended; an event that was read as earlier ends it there.
  const auto until = [&](double time, Activity activity, int sequence, const std::string& name) {
    const nanoseconds end = std::max(now, at(time));
    spans.push_back({rank, step, activity, sequence, now, end, name});
    now = end;
  };
  until(times.start, Activity::host, -1, "data and launch");
  std::size_t sum = 0;
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    until(times.stage_end[stage], Activity::compute, -1, schedule.stages[stage]);
    for (; sum < schedule.posted_after.size() && schedule.posted_after[sum] == stage; ++sum) {
      const auto number = static_cast<std::int32_t>(sum);
      spans.push_back({rank, step, Activity::post, number, now, now, "post " + sum_name(sum)});
    }
  }
  for (sum = 0; sum < times.sum_end.size(); ++sum) {
    if (at(times.sum_end[sum]) <= now) continue;
    until(times.sum_end[sum],
          Activity::collective_wait,
          static_cast<std::int32_t>(sum),
          "all-reduce " + sum_name(sum));
  }
  until(times.end, Activity::optimizer, -1, "optimizer");
  spans.push_back({rank, step, Activity::step, -1, start, now, "step"});
}

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
    append_kernel_spans(steps[i], rank, static_cast<std::int32_t>(i), spans);
  }
  return spans;
}

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
