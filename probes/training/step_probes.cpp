// SPDX-License-Identifier: Apache-2.0
#include "probes/training/step_probes.h"

#include "probes/training/shape.h"
#include "src/core/error.h"
#include "src/core/run.h"

#include <algorithm>
#include <map>
#include <utility>

namespace scaleworth::probes {
std::vector<double> slowest_steps(const Timeline& timeline) {
  std::map<std::int32_t, std::chrono::nanoseconds> slowest;
  for (const Span& span : timeline.spans) {
    if (span.activity != Activity::step) continue;
    auto& time = slowest[span.step];
    time = std::max(time, span.end - span.start);
  }
  std::vector<double> seconds;
  for (const auto& [step, time] : slowest) {
    seconds.push_back(std::chrono::duration<double>(time).count());
  }
  return seconds;
}

StepSeries::StepSeries(Setting setting, TrainingWork work, NumberFormat precision)
    : setting_(std::move(setting)), work_(std::move(work)), precision_(precision) {}

std::string StepSeries::description() const {
  return setting_.text(Parameter::scaling) + " scaling, " + counted(work_.ranks, "rank");
}

void StepSeries::append(TrainingMeasured measured) {
  const std::vector<double> steps = slowest_steps(measured.timeline);
  if (steps.empty()) return;  // not rank 0
  const auto offset = static_cast<std::int32_t>(step_s_.size());
  step_s_.insert(step_s_.end(), steps.begin(), steps.end());
  const auto measured_steps = static_cast<std::ptrdiff_t>(steps.size());
  loss_.insert(loss_.end(), measured.loss.end() - measured_steps, measured.loss.end());
  for (std::string& warning : measured.warnings) {
    if (std::ranges::count(warnings_, warning) == 0) warnings_.push_back(std::move(warning));
  }
  timeline_.ranks = measured.timeline.ranks;
  timeline_.clock_method = measured.timeline.clock_method;
  timeline_.progress_inside_calls_only = measured.timeline.progress_inside_calls_only;
  timeline_.clock_error = std::max(timeline_.clock_error, measured.timeline.clock_error);
  for (Span& span : measured.timeline.spans) {
    span.step += offset;
    timeline_.spans.push_back(std::move(span));
  }
  measured.timeline = {};
  counts_ = std::move(measured);
  ++rounds_;
}

Point StepSeries::point() const {
  Point point;
  const TransformerShape& shape = work_.shape;
  point.setting = {{Parameter::ranks, std::int64_t{work_.ranks}},
                   {Parameter::global_batch_sequences, work_.global_batch},
                   {Parameter::layers, shape.layers},
                   {Parameter::width, shape.width},
                   {Parameter::heads, shape.heads},
                   {Parameter::sequence, shape.sequence},
                   {Parameter::vocabulary, shape.vocabulary},
                   {Parameter::precision, precision_}};
  point.setting.set(setting_);
  if (work_.straggler && work_.straggler->rank.index < work_.ranks) {
    point.setting.set(Parameter::straggler_rank, std::int64_t{work_.straggler->rank.index});
    point.setting.set(Parameter::straggler_per_mille,
                      static_cast<std::int64_t>(std::llround(1000.0 * work_.straggler->factor)));
  }
  point.amounts = {{Metric::model_parameters, static_cast<double>(counts_.parameters)},
                   {Metric::model_flops, counts_.model_flops.value()},
                   {Metric::tokens, static_cast<double>(counts_.tokens)},
                   {Metric::gradient_bytes, counts_.gradient.value()},
                   {Metric::bucket_count, static_cast<double>(counts_.buckets.size())}};
  point.samples = {{Metric::step_s, step_s_}, {Metric::loss, loss_}};
  point.stop_reason = fmt::format("{} steps in {} rounds", step_s_.size(), rounds_);
  point.warnings = warnings_;
  return point;
}

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

void measure_step_variants(RankGroup& group, const PlanInputs& setting, Recorder& recorder) {
  const StepSizes sizes = choose_sizes(group, device_family(), setting.asked, recorder);
  TrainingWork work = family_work(device_family(), sizes, group.size(), setting.asked);
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
