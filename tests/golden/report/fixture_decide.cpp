// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/report/fixture.h"
#include "tests/unit/model/decision/tables.h"

#include <array>
#include <optional>
#include <vector>

namespace scaleworth::report::fixture {
model::Decision curve_decision() {
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(2.10, 9.0);
  request.shown_counts = {1, 2, 4, 8, 16, 24, 32, 48, 64};
  request.rubric.deadline = Seconds(0.15 * 3600.0);
  request.spot =
      model::SpotTerms{dollars_per_hour(0.63), {0.05, Seconds(120), Seconds(600), Seconds(0)}};
  return model::decide_curve(model::example::published_curve, 64, request);
}

model::Decision breakdown_decision() {
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(3.20);
  request.regimes = {{"on-demand", model::PricePart{1.0, {}}},
                     {"spot", model::PricePart{0.30, {}, true}},
                     {"owned", model::PricePart{0.60, {}}}};
  return model::decide_table(model::example::breakdown_table(), request);
}

model::Decision rubric_decision() {
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(1.0);
  request.metrics.work = 1.2e6;
  request.rubric.efficiency_threshold = 0.70;
  request.rubric.quality_tolerance = 0.005;
  return model::decide_table(model::assemble(model::example::strong_observations()), request);
}

model::Decision steps_decision() {
  std::vector<model::TableRow> steps;
  const std::array<double, 4> compute{0.0400, 0.0204, 0.0104, 0.0054};
  const std::array<double, 4> communication{0.0, 0.0012, 0.0021, 0.0034};
  for (std::size_t i = 0; i < compute.size(); ++i) {
    model::TableRow step;
    step.count = 1 << i;
    step.parts_s = {compute[i], communication[i], 0.0, std::nullopt};
    step.work = 8192.0;
    steps.push_back(step);
  }
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(2.0);
  return model::decide_table(model::assemble(steps, {model::TimeBasis::step}), request);
}

model::Decision priced_decision(double price, double value_of_time, double deadline_hours) {
  // Hours of six repeats each, so that costs have intervals and the deadline a margin.
  const std::array<std::array<double, 6>, 5> hours{{{8.01, 8.05, 7.96, 8.02, 8.00, 8.11},
                                                    {4.22, 4.19, 4.24, 4.21, 4.20, 4.27},
                                                    {2.31, 2.28, 2.33, 2.30, 2.35, 2.31},
                                                    {1.42, 1.46, 1.40, 1.41, 1.43, 1.42},
                                                    {1.05, 1.07, 1.04, 1.05, 1.06, 1.09}}};
  std::vector<model::TableRow> runs;
  for (std::size_t i = 0; i < hours.size(); ++i) {
    for (const double& time : hours[i]) {
      model::TableRow run;
      run.count = 1 << i;
      run.repeat = static_cast<int>(&time - hours[i].data());
      run.time_s = 3600.0 * time;
      runs.push_back(run);
    }
  }
  model::DecisionRequest request;
  request.metrics.prices = model::Prices{.per_rank = dollars_per_hour(price),
                                         .value_of_time = dollars_per_hour(value_of_time)};
  if (deadline_hours > 0.0) request.rubric.deadline = Seconds(3600.0 * deadline_hours);
  return model::decide_table(model::assemble(runs), request);
}

RenderOptions table_options(const std::string& input, Format format) {
  RenderOptions options;
  options.input = input;
  options.format = format;
  return options;
}

}  // namespace scaleworth::report::fixture
