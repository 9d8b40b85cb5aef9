// SPDX-License-Identifier: Apache-2.0
#include "probes/training/step_probe.h"

#include "probes/training/shape_choice.h"
#include "probes/training/shape_counts.h"
#include "probes/training/step_series.h"
#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr int warmup_steps = 3;
constexpr int calibration_warmup = 2;
constexpr int calibration_steps = 5;

struct Rounds {
  int count = 2;
  int steps = 10;  // measured, per round and setting
};

Rounds rounds_of(Suite suite) {
  return suite == Suite::quick ? Rounds{2, 10} : Rounds{3, 20};
}

struct Sizes {
  TransformerShape shape;
  std::int64_t batch = 1;  // sequences per rank
};

// FLOP/s of one rank while all of them train.
FlopPerSecond calibrate(RankGroup& group, const Sizes& sizes) {
  TrainingWork work;
  work.shape = sizes.shape;
  work.ranks = group.size();
  work.global_batch = sizes.batch * group.size();
  work.warmup_steps = calibration_warmup;
  work.steps = calibration_steps;
  const TrainingMeasured measured = group.train(work);
  if (!(measured.fastest_step > Seconds(0.0))) {
    throw ProbeFailure("the calibration of the training step took no time");
  }
  return model_flops(sizes.shape, sizes.batch) / measured.fastest_step;
}

// Wider products are faster, so each member that is chosen is measured itself, until the next
// choice is no wider.
Sizes choose_sizes(RankGroup& group) {
  RankCapacity capacity{FlopPerSecond(0.0), group.available_memory_per_rank(), group.size()};
  Sizes sizes{family_member(family_widths().front()), 1};
  capacity.rate = calibrate(group, sizes);
  std::int64_t measured_width = 0;
  for (TransformerShape next = choose_shape(capacity); next.width > measured_width;
       next = choose_shape(capacity)) {
    sizes = {next, choose_batch(next, capacity)};
    measured_width = next.width;
    capacity.rate = calibrate(group, sizes);
  }
  return {sizes.shape, choose_batch(sizes.shape, capacity)};
}

std::vector<StepSeries> plan(RankGroup& group, const Setting& setting, const RankOptions& options) {
  const auto [shape, batch] = choose_sizes(group);
  std::vector<StepSeries> series;
  const std::vector<int> counts = scaling_counts(group.size());
  TrainingWork work;
  work.shape = shape;
  work.warmup_steps = warmup_steps;
  work.steps = rounds_of(setting.suite).steps;
  work.straggler = options.straggler;
  for (const int ranks : counts) {
    work.ranks = ranks;
    work.global_batch = batch * counts.back();
    series.emplace_back("strong", work);
  }
  if (counts.size() == 1) return series;
  for (const int ranks : counts) {
    work.ranks = ranks;
    work.global_batch = 2 * batch * ranks;
    series.emplace_back("weak", work);
  }
  return series;
}

void check_straggler(const RankGroup& group, const RankOptions& options) {
  if (!options.straggler) return;
  const int rank = options.straggler->rank.index;
  if (rank >= 0 && rank < group.size()) return;
  throw UserError(fmt::format(
      "straggler rank {}: this job has ranks 0 to {}; name one of them", rank, group.size() - 1));
}

// Even rounds go up the list, odd ones down, so that no setting always comes first.
StepSeries& in_turn(std::vector<StepSeries>& series, int round, std::size_t turn) {
  return series[round % 2 == 0 ? turn : series.size() - 1 - turn];
}

void run_rounds(RankGroup& group, int rounds, std::vector<StepSeries>& series, Recorder& recorder) {
  const double total = rounds * static_cast<double>(series.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < series.size(); ++turn) {
      StepSeries& next = in_turn(series, round, turn);
      recorder.progress(
          (round * static_cast<double>(series.size()) + static_cast<double>(turn)) / total,
          next.description());
      next.append(group.train(next.work()));
    }
  }
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

Seconds estimate_training(const Setting& setting) {
  const Rounds rounds = rounds_of(setting.suite);
  const std::vector<int> counts = scaling_counts(setting.max_ranks);
  Seconds step_of_each;
  for (const int ranks : counts) {
    step_of_each += target_step * (static_cast<double>(counts.back()) / ranks);  // strong
    if (counts.size() > 1) step_of_each += 2.0 * target_step;                    // weak
  }
  const double modes = counts.size() > 1 ? 2.0 : 1.0;
  // Memory is allocated, touched and filled with weights once per training.
  const Seconds setup(0.03 * rounds.count * modes * static_cast<double>(counts.size()));
  // A short first size, then one or two of full length.
  const Seconds calibration = 1.5 * (calibration_steps + calibration_warmup) * target_step;
  return rounds.count * (rounds.steps + warmup_steps) * step_of_each + setup + calibration;
}

void measure_training(RankGroup& group,
                      const Setting& setting,
                      const RankOptions& options,
                      Recorder& recorder) {
  check_straggler(group, options);
  recorder.progress(0.0, "sizing the training step");
  std::vector<StepSeries> series = plan(group, setting, options);
  try {
    run_rounds(group, rounds_of(setting.suite).count, series, recorder);
  } catch (...) {
    keep(series, recorder);
    throw;
  }
  keep(series, recorder);
}

}  // namespace scaleworth::probes
