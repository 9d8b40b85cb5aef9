// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace scaleworth::probes {
namespace {
/// The least batch that each of `counts` shares out evenly.
std::int64_t common_multiple(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{1}, [](auto a, auto b) {
    return std::lcm(a, std::int64_t{b});
  });
}

/// 1, 2, 4, ... and `ranks` itself. Of the powers of 2 the largest are left out while a batch that
/// all of these share out evenly exceeds four sequences a rank.
std::vector<int> scaling_counts(int ranks) {
  std::vector<int> counts;
  for (int count = 1; count < ranks; count *= 2) counts.push_back(count);
  counts.push_back(ranks);
  while (common_multiple(counts) > std::int64_t{4} * ranks) counts.erase(counts.end() - 2);
  return counts;
}

/// The batch of strong scaling: about `batch` sequences for each of the most ranks.
std::int64_t shared_batch(std::int64_t batch, const std::vector<int>& counts) {
  const std::int64_t unit = common_multiple(counts);
  return unit * std::max<std::int64_t>(1, (batch * counts.back() + unit / 2) / unit);
}

/// What one rank was seen to do and has.
struct RankCapacity {
  FlopPerSecond rate;
  Bytes memory;
  int ranks = 1;  // of the job
};

std::int64_t wanted_batch(const TransformerShape& shape, FlopPerSecond rate, Seconds target) {
  const double sequences = target / (model_flops(shape, 1) / rate);
  return std::max<std::int64_t>(1, std::llround(sequences));
}

/// Sequences per rank that come closest to the target, fewer where one rank alone could not hold
/// the whole batch of strong scaling, or its doubled share of weak scaling; at least 1.
std::int64_t choose_batch(const TransformerShape& shape,
                          const RankCapacity& capacity,
                          const ShapeFamily& family) {
  const std::vector<int> counts = scaling_counts(capacity.ranks);
  const std::int64_t share = std::max(2, counts.back());
  const std::int64_t rounding = (common_multiple(counts) - counts.back()) / 2;
  const double empty = family.memory(shape, 0).value();
  const double sequence = family.memory(shape, 1).value() - empty;
  const double room = (capacity.memory.value() - empty) / sequence;
  const auto fitting = (static_cast<std::int64_t>(std::clamp(room, 1.0, 1e6)) - rounding) / share;
  const std::int64_t wanted = wanted_batch(shape, capacity.rate, family.target_step);
  return std::max<std::int64_t>(1, std::min(wanted, fitting));
}

/// The widest member of which four sequences take at most the target and whose training state fits
/// into memory with the batch that follows. The narrowest where none does.
TransformerShape choose_shape(const RankCapacity& capacity, const ShapeFamily& family) {
  for (auto width = family.widths.rbegin(); width != family.widths.rend(); ++width) {
    const TransformerShape shape = family.member(*width);
    if (4.0 * (model_flops(shape, 1) / capacity.rate) > family.target_step) continue;
    const std::int64_t wanted = wanted_batch(shape, capacity.rate, family.target_step);
    if (choose_batch(shape, capacity, family) == wanted) return shape;
  }
  return family.member(family.widths.front());
}

constexpr int calibration_steps = 5;  // a median that one disturbed step does not move

/// Its steps of all ranks.
Seconds calibrate(RankGroup& group, const ShapeFamily& family, const StepSizes& sizes) {
  TrainingWork work = family_work(family, sizes, group.size(), {});
  work.warmup_steps = calibration_length - calibration_steps;
  work.steps = calibration_steps;
  work.calibration = true;
  const TrainingMeasured measured = group.train(work);
  if (!(measured.fastest_step > Seconds(0.0))) {
    throw ProbeFailure("the calibration of the training step took no time");
  }
  return measured.fastest_step;
}

/// FLOP/s of one rank while all of them train.
FlopPerSecond rate_of(const StepSizes& sizes) {
  return model_flops(sizes.shape, sizes.batch) / sizes.step;
}

void keep(std::vector<StepSeries>& series, Recorder& recorder) {
  for (StepSeries& one : series) {
    if (one.empty()) continue;
    Point point = one.point();
    recorder.add(point);
    recorder.add_timeline(point, one.take_timeline());
  }
}

void check_straggler(const RankGroup& group, const RankOptions& options) {
  if (!options.straggler) return;
  const int rank = options.straggler->rank.index;
  if (rank >= 0 && rank < group.size()) return;
  throw UserError(
      "straggler rank {}: this job has ranks 0 to {}; name one of them", rank, group.size() - 1);
}

/// Fewer steps, then fewer rounds, where a network makes steps long, so that all of it keeps about
/// the planned time.
Rounds paced(Rounds rounds, Seconds step, Seconds target) {
  // Times the planned step: shorter ones keep all rounds; presumed.
  constexpr double tolerated = 3.0;
  constexpr auto fewest = static_cast<double>(fewest_samples);
  const double share = tolerated * (target / std::max(step, target));
  if (share >= 1.0) return rounds;
  const double steps = share * rounds.steps;
  if (steps >= fewest) return {rounds.count, static_cast<int>(steps)};
  return {std::max(1, static_cast<int>(rounds.count * steps / fewest)),
          std::min(rounds.steps, static_cast<int>(fewest))};
}

/// Measured steps of `steps` a round, of strong scaling on `ranks` of `all`.
int strong_steps(const ShapeFamily& family, int steps, int ranks, int all) {
  return family.fewer_long_steps && 4 * ranks <= all ? steps / 2 : steps;
}

/// Strong at each count, then weak with twice the batch per rank; strong alone for one rank.
std::vector<StepSeries> scaling_series(const RankGroup& group,
                                       const Rounds& rounds,
                                       const StepSizes& sizes,
                                       const ShapeFamily& family,
                                       const RankOptions& options) {
  std::vector<StepSeries> series;
  const std::vector<int> counts = scaling_counts(group.size());
  TrainingWork next = family_work(family, sizes, 1, options);
  for (const int ranks : counts) {
    next.ranks = ranks;
    next.steps = strong_steps(family, rounds.steps, ranks, counts.back());
    next.global_batch = shared_batch(sizes.batch, counts);
    series.emplace_back(
        Setting{{Parameter::scaling, BatchScaling::strong}}, next, family.precision);
  }
  if (counts.size() == 1) return series;
  next.steps = rounds.steps;
  for (const int ranks : counts) {
    next.ranks = ranks;
    next.global_batch = 2 * sizes.batch * ranks;
    series.emplace_back(Setting{{Parameter::scaling, BatchScaling::weak}}, next, family.precision);
  }
  return series;
}

/// One training per series and round, then points and timelines; after an exception those of
/// complete rounds.
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
/// Runs until it fits.
void measure_series(RankGroup& group,
                    const PlanInputs& setting,
                    const ShapeFamily& family,
                    Recorder& recorder) {
  StepSizes sizes = choose_sizes(group, family, setting.asked, recorder);
  const Rounds rounds =
      paced(rounds_of(setting.suite, family, group.size() == 1), sizes.step, family.target_step);
  while (true) {
    std::vector<StepSeries> series = scaling_series(group, rounds, sizes, family, setting.asked);
    try {
      return measure_rounds(group, rounds.count, series, recorder);
    } catch (const OutOfMemory& failure) {
      const bool kept = std::ranges::any_of(series, [](const auto& one) { return !one.empty(); });
      if (kept || sizes.batch == 1) throw;
      recorder.warn({FindingId::batch_halved, failure.what()});
      sizes.batch /= 2;
    }
  }
}

Seconds estimate_series(const PlanInputs& setting, const ShapeFamily& family) {
  const Rounds rounds = rounds_of(setting.suite, family, setting.max_ranks == 1);
  const std::vector<int> counts = scaling_counts(setting.max_ranks);
  Seconds round;  // of each count, strong and (with several counts) weak
  for (const int ranks : counts) {
    const int strong = strong_steps(family, rounds.steps, ranks, counts.back()) + warmup_steps;
    round += strong * (static_cast<double>(counts.back()) / ranks) * family.target_step;
    if (counts.size() > 1) round += (rounds.steps + warmup_steps) * 2.0 * family.target_step;
  }
  const double trainings = static_cast<double>(counts.size()) * (counts.size() > 1 ? 2.0 : 1.0);
  return family.calibration + rounds.count * (round + trainings * family.setup);
}
}  // namespace

Rounds rounds_of(Suite suite, const ShapeFamily& family, bool one_count) {
  // GPUs drift over seconds: more and shorter rounds in turn, so that all settings see the same.
  // Counts of steps are presumed: fewer widen the intervals, more only take time.
  if (suite == Suite::standard) return family.drifts && one_count ? Rounds{4, 15} : Rounds{3, 20};
  return family.drifts && one_count ? Rounds{5, 6} : Rounds{2, 10};
}

TrainingWork family_work(const ShapeFamily& family,
                         const StepSizes& sizes,
                         int ranks,
                         const RankOptions& options) {
  TrainingWork work;
  work.shape = sizes.shape;
  work.ranks = ranks;
  work.global_batch = sizes.batch * ranks;
  work.warmup_steps = warmup_steps;
  work.bucket = family.bucket;
  work.straggler = options.straggler;
  return work;
}

StepSizes choose_sizes(RankGroup& group,
                       const ShapeFamily& family,
                       const RankOptions& options,
                       Recorder& recorder) {
  check_straggler(group, options);
  if (options.step_width > 0 && options.step_batch > 0)
    return {family.member(options.step_width), options.step_batch};
  recorder.progress(0.0, "sizing the training step");
  RankCapacity capacity{FlopPerSecond(0.0), group.available_memory_per_rank(), group.size()};
  StepSizes sizes{family.member(family.widths.front()), 1};
  sizes.step = calibrate(group, family, sizes);
  capacity.rate = rate_of(sizes);
  std::int64_t measured_width = 0;
  for (TransformerShape next = choose_shape(capacity, family); next.width > measured_width;
       next = choose_shape(capacity, family)) {
    StepSizes tried{next, choose_batch(next, capacity, family)};
    try {
      tried.step = calibrate(group, family, tried);
      capacity.rate = rate_of(tried);
      sizes = tried;
      measured_width = next.width;
    } catch (const OutOfMemory& failure) {
      if (next.width == family.widths.front() && tried.batch == 1) throw;
      recorder.warn({FindingId::step_made_smaller, failure.what()});
      // The estimate was too low: with 30 % less the next size down is tried, not the same.
      capacity.memory = 0.7 * family.memory(next, tried.batch);
    }
  }
  return {sizes.shape, choose_batch(sizes.shape, capacity, family), sizes.step};
}

Seconds estimate_training(const PlanInputs& setting) {
  return estimate_series(setting, host_family());
}

Seconds estimate_device_training(const PlanInputs& setting) {
  return estimate_series(setting, device_family());
}

void measure_training(RankGroup& group, const PlanInputs& setting, Recorder& recorder) {
  measure_series(group, setting, host_family(), recorder);
}

void measure_device_training(RankGroup& group, const PlanInputs& setting, Recorder& recorder) {
  measure_series(group, setting, device_family(), recorder);
}
}  // namespace scaleworth::probes
