// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"
#include "src/core/probe_names.h"

#include <algorithm>
#include <utility>

namespace scaleworth::probes {
namespace {
struct Variant {
  StepVariant id;
  bool graphs;
  bool trace;
};
// Each is compared with the first.
constexpr Variant variants[] = {{StepVariant::launched, false, false},
                                {StepVariant::graphs, true, false},
                                {StepVariant::traced, false, true}};

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
    recorder.warn(fmt::format("no steps {}: {}", word_of(one.variant.id), one.missing));
  }
  if (one.series.empty()) return;
  const Point point = one.series.point();
  recorder.add(point);
  if (one.variant.trace) recorder.add_timeline(point, one.series.take_timeline());
}
}  // namespace

Seconds estimate_step_variants(const PlanInputs& setting) {
  const Rounds rounds = rounds_of(setting.suite, device_family(), true);
  const double trainings = static_cast<double>(std::size(variants)) * rounds.count;
  const Seconds training =
      (rounds.steps + warmup_steps) * device_family().target_step + device_family().setup;
  return device_family().calibration + trainings * training;
}

void measure_step_variants(RankGroup& group,
                           const PlanInputs& setting,
                           const RankOptions& options,
                           Recorder& recorder) {
  const StepSizes sizes = choose_sizes(group, device_family(), options, recorder);
  TrainingWork work = family_work(device_family(), sizes, group.size(), options);
  const Rounds rounds = rounds_of(setting.suite, device_family(), true);
  work.steps = rounds.steps;
  std::vector<VariantSeries> series;
  for (const Variant& variant : variants) {
    work.graphs = variant.graphs;
    work.trace = variant.trace;
    // Not that of strong scaling: the ledger of a traced step is one of its own.
    const Setting of_variant{{Parameter::step_variant, variant.id}};
    series.push_back({variant, StepSeries(of_variant, work, NumberFormat::bf16), {}});
  }
  in_turns(rounds.count, series.size(), [&](int round, std::size_t index) {
    recorder.progress(static_cast<double>(round) / rounds.count,
                      fmt::format("steps {}", word_of(series[index].variant.id)));
    run_variant(group, series[index], recorder);
  });
  for (VariantSeries& one : series) keep_variant(one, recorder);
}
}  // namespace scaleworth::probes
