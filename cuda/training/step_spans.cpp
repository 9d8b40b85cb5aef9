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

constexpr int tries = 50;  // of comparing clocks: the shortest decides, one of them is undisturbed
constexpr double limit_s = 10.0;  // the GPU answers in microseconds

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
