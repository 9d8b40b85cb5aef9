// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {
constexpr int calibration_steps = 5;

// FLOP/s of one rank while all of them train.
FlopPerSecond calibrate(RankGroup& group, const StepSizes& sizes, TrainingWork work) {
  work.shape = sizes.shape;
  work.ranks = group.size();
  work.global_batch = sizes.batch * group.size();
  work.warmup_steps = calibration_length - calibration_steps;
  work.steps = calibration_steps;
  work.straggler.reset();
  const TrainingMeasured measured = group.train(work);
  if (!(measured.fastest_step > Seconds(0.0))) {
    throw ProbeFailure("the calibration of the training step took no time");
  }
  return model_flops(sizes.shape, sizes.batch) / measured.fastest_step;
}

void keep(std::vector<StepSeries>& series, Recorder& recorder) {
  for (StepSeries& one : series) {
    if (one.empty()) continue;
    Point point = one.point();
    recorder.add(point);
    recorder.add_timeline(point, one.take_timeline());
  }
}
}  // namespace

Rounds rounds_of(Suite suite) {
  return suite == Suite::quick ? Rounds{2, 10} : Rounds{3, 20};
}

void check_straggler(const RankGroup& group, const RankOptions& options) {
  if (!options.straggler) return;
  const int rank = options.straggler->rank.index;
  if (rank >= 0 && rank < group.size()) return;
  throw UserError(fmt::format(
      "straggler rank {}: this job has ranks 0 to {}; name one of them", rank, group.size() - 1));
}

StepSizes choose_sizes(RankGroup& group,
                       const ShapeFamily& family,
                       const TrainingWork& work,
                       Recorder& recorder) {
  RankCapacity capacity{FlopPerSecond(0.0), group.available_memory_per_rank(), group.size()};
  StepSizes sizes{family.member(family.widths.front()), 1};
  capacity.rate = calibrate(group, sizes, work);
  std::int64_t measured_width = 0;
  for (TransformerShape next = choose_shape(capacity, family); next.width > measured_width;
       next = choose_shape(capacity, family)) {
    const StepSizes tried{next, choose_batch(next, capacity, family)};
    try {
      capacity.rate = calibrate(group, tried, work);
      sizes = tried;
      measured_width = next.width;
    } catch (const OutOfMemory& failure) {
      if (next.width == family.widths.front() && tried.batch == 1) throw;
      recorder.warn(fmt::format("the training step becomes smaller: {}", failure.what()));
      capacity.memory = 0.7 * family.memory(next, tried.batch);
    }
  }
  return {sizes.shape, choose_batch(sizes.shape, capacity, family)};
}

std::vector<StepSeries> scaling_series(const RankGroup& group,
                                       Suite suite,
                                       const StepSizes& sizes,
                                       const TrainingWork& work,
                                       const std::string& precision) {
  std::vector<StepSeries> series;
  const std::vector<int> counts = scaling_counts(group.size());
  TrainingWork next = work;
  next.shape = sizes.shape;
  next.warmup_steps = warmup_steps;
  next.steps = rounds_of(suite).steps;
  for (const int ranks : counts) {
    next.ranks = ranks;
    next.global_batch = sizes.batch * counts.back();
    series.emplace_back("strong", next, precision);
  }
  if (counts.size() == 1) return series;
  for (const int ranks : counts) {
    next.ranks = ranks;
    next.global_batch = 2 * sizes.batch * ranks;
    series.emplace_back("weak", next, precision);
  }
  return series;
}

Seconds step_of_each_count(const std::vector<int>& counts, Seconds target) {
  Seconds sum;
  for (const int ranks : counts) {
    sum += target * (static_cast<double>(counts.back()) / ranks);  // strong
    if (counts.size() > 1) sum += 2.0 * target;                    // weak
  }
  return sum;
}

void measure_rounds(RankGroup& group,
                    int rounds,
                    std::vector<StepSeries>& series,
                    Recorder& recorder) {
  try {
    double done = 0.0;
    in_turns(rounds, series.size(), [&](int, std::size_t index) {
      recorder.progress(done++ / (rounds * static_cast<double>(series.size())),
                        series[index].description());
      series[index].append(group.train(series[index].work()));
    });
  } catch (...) {
    keep(series, recorder);
    throw;
  }
  keep(series, recorder);
}
}  // namespace scaleworth::probes
