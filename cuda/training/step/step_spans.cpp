// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/step_spans.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

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

}  // namespace scaleworth::gpu
