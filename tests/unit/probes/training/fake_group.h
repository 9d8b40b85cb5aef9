// SPDX-License-Identifier: Apache-2.0
/// A group of ranks whose training takes a time that is known beforehand.
#pragma once

#include "probes/machine.h"
#include "probes/ranks.h"
#include "probes/training/shape.h"
#include "src/core/error.h"

#include <string>
#include <utility>
#include <vector>

namespace scaleworth::testing {

class FakeGroup : public probes::RankGroup {
 public:
  explicit FakeGroup(int ranks) : ranks_(ranks) {}
  Rank rank() const override { return Rank{0}; }
  int size() const override { return ranks_; }
  std::string placement() const override { return "fake"; }
  Bytes available_memory_per_rank() const override { return memory; }
  probes::CollectiveMeasured time_collective(const probes::CollectiveWork&,
                                             const StoppingTarget&) override {
    return {};
  }

  /// Each rank computes at `rate`; nothing else takes time.
  probes::TrainingMeasured train(const probes::TrainingWork& work) override {
    if (static_cast<int>(works.size()) == fail_at) throw ProbeFailure("a rank is lost");
    works.push_back(work);
    probes::TrainingMeasured measured;
    const double step =
        probes::model_flops(work.shape, work.global_batch / work.ranks) / rate / Seconds(1.0);
    time_spent += Seconds(step * (work.warmup_steps + work.steps));
    measured.fastest_step = Seconds(step);
    measured.tokens = work.global_batch * work.shape.sequence;
    measured.buckets = {Bytes(1.0), Bytes(2.0)};
    measured.timeline.ranks = work.ranks;
    measured.timeline.progress_inside_calls_only = true;
    for (int i = 0; i < work.warmup_steps + work.steps; ++i) measured.loss.push_back(100.0 - i);
    for (int i = 0; i < work.steps; ++i) add_step(measured.timeline, i, step);
    return measured;
  }

  Bytes memory{1e12};
  FlopPerSecond rate{30e9};
  int fail_at = -1;
  std::vector<probes::TrainingWork> works;
  Seconds time_spent;

 private:
  static void add_step(Timeline& timeline, int step, double seconds) {
    for (int rank = 0; rank < timeline.ranks; ++rank) {
      Span span;
      span.rank = Rank{rank};
      span.step = step;
      span.activity = Activity::step;
      // The last rank is the slowest one.
      const double own = seconds * (1.0 + rank) / timeline.ranks;
      span.end = std::chrono::nanoseconds(static_cast<std::int64_t>(own * 1e9));
      timeline.spans.push_back(span);
    }
  }

  int ranks_;
};

class KeepingRecorder : public probes::Recorder {
 public:
  void add(Point point) override { points.push_back(std::move(point)); }
  void add_timeline(const Point&, Timeline timeline) override {
    timelines.push_back(std::move(timeline));
  }
  void add_rows(const std::string&,
                const std::vector<std::string>&,
                const std::vector<std::vector<std::string>>&) override {}
  void warn(const Finding&) override {}
  void lose(const std::string&, double) override {}
  void progress(double fraction, const std::string&) override { fractions.push_back(fraction); }

  std::vector<Point> points;
  std::vector<Timeline> timelines;
  std::vector<double> fractions;
};

}  // namespace scaleworth::testing
