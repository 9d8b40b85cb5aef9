// SPDX-License-Identifier: Apache-2.0
#include "probes/training/step_probes.h"
#include "src/core/files/run_names.h"

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

StepSeries::StepSeries(std::string mode, TrainingWork work, std::string precision)
    : mode_(std::move(mode)), work_(std::move(work)), precision_(std::move(precision)) {}

std::string StepSeries::description() const {
  return mode_ + " scaling, " + counted(work_.ranks, "rank");
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
  point.parameters = {{fields::mode, mode_},
                      {fields::ranks, std::int64_t{work_.ranks}},
                      {fields::global_batch, work_.global_batch},
                      {fields::layers, shape.layers},
                      {fields::width, shape.width},
                      {fields::heads, shape.heads},
                      {fields::sequence, shape.sequence},
                      {fields::vocabulary, shape.vocabulary},
                      {fields::precision, precision_}};
  if (work_.straggler && work_.straggler->rank.index < work_.ranks) {
    point.parameters[fields::straggler_rank] = std::int64_t{work_.straggler->rank.index};
    point.parameters[fields::straggler_factor] = work_.straggler->factor;
  }
  point.amounts = {{fields::model_parameters, static_cast<double>(counts_.parameters)},
                   {fields::model_flops, counts_.model_flops.value()},
                   {fields::tokens, static_cast<double>(counts_.tokens)},
                   {fields::gradient_bytes, counts_.gradient.value()},
                   {fields::bucket_count, static_cast<double>(counts_.buckets.size())}};
  point.samples = {{fields::step_s, step_s_}, {fields::loss, loss_}};
  point.stop_reason = fmt::format("{} steps in {} rounds", step_s_.size(), rounds_);
  point.warnings = warnings_;
  return point;
}
}  // namespace scaleworth::probes
