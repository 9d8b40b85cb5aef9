// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {
// As frameworks choose them: large enough for the links, small enough to overlap.
constexpr Bytes bucket{32.0 * 1024.0 * 1024.0};
// Memory, weights, the products' plans.
constexpr Seconds setup_of_training{0.6};
// From the narrowest member to the widest that fits.
constexpr double calibrations = 2.5;

struct Variant {
  const char* name;
  bool graphs;
  bool trace;
};
// Each is compared with the first.
constexpr Variant variants[] = {
    {"launched", false, false}, {"graphs", true, false}, {"traced", false, true}};

TrainingWork device_work(const RankOptions& options) {
  TrainingWork work;
  work.bucket = bucket;
  work.straggler = options.straggler;
  return work;
}

Seconds calibration_time() {
  return calibrations * (calibration_length * device_family().target_step + setup_of_training);
}

// Runs until it fits; gives the sizes that did.
void measure_shrinking(RankGroup& group,
                       const Setting& setting,
                       const TrainingWork& work,
                       StepSizes sizes,
                       Recorder& recorder) {
  while (true) {
    std::vector<StepSeries> series = scaling_series(group, setting.suite, sizes, work, "bf16");
    try {
      return measure_rounds(group, rounds_of(setting.suite).count, series, recorder);
    } catch (const OutOfMemory& failure) {
      const bool kept = std::any_of(
          series.begin(), series.end(), [](const StepSeries& one) { return !one.empty(); });
      if (kept || sizes.batch == 1) throw;
      recorder.warn(fmt::format("the batch is halved: {}", failure.what()));
      sizes.batch /= 2;
    }
  }
}

struct VariantSeries {
  Variant variant;
  StepSeries series;
  std::string missing;  // why it could not be had
};

void run_variant(RankGroup& group, VariantSeries& one, Recorder& recorder) {
  if (!one.missing.empty()) return;
  TrainingMeasured measured = group.train(one.series.work());
  one.missing = one.variant.graphs ? measured.graphs_missing : measured.trace_missing;
  if (measured.dropped_records > 0) {
    recorder.lose("dropped_trace_records", static_cast<double>(measured.dropped_records));
  }
  if (one.missing.empty()) one.series.append(std::move(measured));
}

void keep_variant(VariantSeries& one, Recorder& recorder) {
  if (!one.missing.empty()) {
    recorder.warn(fmt::format("no steps {}: {}", one.variant.name, one.missing));
  }
  if (one.series.empty()) return;
  Point point = one.series.point();
  point.parameters[fields::variant] = std::string(one.variant.name);
  recorder.add(point);
  if (one.variant.trace) recorder.add_timeline(point, one.series.take_timeline());
}
}  // namespace

Seconds estimate_device_training(const Setting& setting) {
  const Rounds rounds = rounds_of(setting.suite);
  const std::vector<int> counts = scaling_counts(setting.max_ranks);
  const Seconds step_of_each = step_of_each_count(counts, device_family().target_step);
  const double trainings = static_cast<double>(counts.size()) * (counts.size() > 1 ? 2.0 : 1.0);
  return calibration_time() + rounds.count * ((rounds.steps + warmup_steps) * step_of_each +
                                              trainings * setup_of_training);
}

void measure_device_training(RankGroup& group,
                             const Setting& setting,
                             const RankOptions& options,
                             Recorder& recorder) {
  check_straggler(group, options);
  recorder.progress(0.0, "sizing the training step");
  const TrainingWork work = device_work(options);
  const StepSizes sizes = choose_sizes(group, device_family(), work, recorder);
  measure_shrinking(group, setting, work, sizes, recorder);
}

Seconds estimate_step_variants(const Setting& setting) {
  const Rounds rounds = rounds_of(setting.suite);
  const double trainings = static_cast<double>(std::size(variants)) * rounds.count;
  const Seconds training =
      (rounds.steps + warmup_steps) * device_family().target_step + setup_of_training;
  return calibration_time() + trainings * training;
}

void measure_step_variants(RankGroup& group,
                           const Setting& setting,
                           const RankOptions& options,
                           Recorder& recorder) {
  check_straggler(group, options);
  recorder.progress(0.0, "sizing the training step");
  TrainingWork work = device_work(options);
  const StepSizes sizes = choose_sizes(group, device_family(), work, recorder);
  const Rounds rounds = rounds_of(setting.suite);
  work.shape = sizes.shape;
  work.ranks = group.size();
  work.global_batch = sizes.batch * group.size();
  work.warmup_steps = warmup_steps;
  work.steps = rounds.steps;
  std::vector<VariantSeries> series;
  for (const Variant& variant : variants) {
    work.graphs = variant.graphs;
    work.trace = variant.trace;
    // A mode of its own: the ledger of a traced step is not that of strong scaling.
    series.push_back({variant, StepSeries(variant.name, work, "bf16"), {}});
  }
  in_turns(rounds.count, series.size(), [&](int round, std::size_t index) {
    recorder.progress(static_cast<double>(round) / rounds.count,
                      fmt::format("steps {}", series[index].variant.name));
    run_variant(group, series[index], recorder);
  });
  for (VariantSeries& one : series) keep_variant(one, recorder);
}
}  // namespace scaleworth::probes
