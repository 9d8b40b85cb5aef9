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
  return mapped(
      slowest, [](const auto& step) { return std::chrono::duration<double>(step.second).count(); });
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
  for (Finding& warning : measured.warnings) {
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
  point.stop_reason = {{FindingId::steps_in_rounds, step_s_.size(), rounds_}};
  point.warnings = warnings_;
  return point;
}

}  // namespace scaleworth::probes
