// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/kernel_spans.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using std::chrono::nanoseconds;
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
      add(Activity::post, number_of(sum), arrival, arrival, "post " + name_of(sum));
    }
    const std::size_t tail = after_backward();
    for (std::size_t i = 0; i < step_.own.size(); ++i) {
      if (i >= tail) wait_until(step_.own[i].start_ns);
      own(step_.own[i]);
    }
  }

 private:
  static std::int32_t number_of(std::size_t sum) { return static_cast<std::int32_t>(sum); }
  static std::string name_of(std::size_t sum) {
    return sum == 0 ? "loss" : fmt::format("bucket {}", sum - 1);
  }

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
      add(Activity::collective_wait, number_of(sum), now_, end, "all-reduce " + name_of(sum));
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

}  // namespace scaleworth::gpu
