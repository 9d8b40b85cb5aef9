// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/grammar.h"
#include "report/mfu/serving/serving_view.h"

namespace scaleworth::report {
namespace {

constexpr int height = 300;

Chart batch_chart(const ServingView& view,
                  Chart chart,
                  const std::string& title,
                  double (*value)(const inference::ServedBatch&)) {
  std::vector<Json> rows;
  for (const auto& one : view.answer.batches) {
    rows.push_back({{"batch", one.point.batch}, {"value", value(one)}});
  }
  chart.spec = chart_spec(height);
  chart.spec["data"] = inline_data(std::move(rows));
  chart.spec["mark"] = {{"type", "line"}, {"point", true}, {"color", css("series-1")}};
  chart.spec["encoding"] = {
      {"x", doubling_channel("batch", "batch")},
      {"y", linear_channel("value", title)},
      {"tooltip", {tooltip("batch", "batch"), tooltip("value", title, ".4g")}}};
  return chart;
}

}  // namespace

std::vector<Chart> serving_charts(const ServingView& view) {
  std::vector<Chart> charts;
  charts.push_back(
      batch_chart(view,
                  {"throughput",
                   "batches",
                   "Output tokens per second against the batch",
                   "Where the line bends, a larger batch mostly makes each request slower.",
                   nullptr,
                   ""},
                  "output tokens/s",
                  [](const inference::ServedBatch& one) { return one.point.output_tokens_per_s; }));
  Chart cost{"cost",
             "batches",
             "Cost of a million output tokens against the batch",
             "At full load; divide by the utilisation for the load there is.",
             nullptr,
             ""};
  if (!view.question.rate) {
    cost.missing = "No costs: give --price in USD per GPU and hour.";
    charts.push_back(cost);
    return charts;
  }
  charts.push_back(
      batch_chart(view, cost, "USD per million", [](const inference::ServedBatch& one) {
        return one.cost->per_million_output.value();
      }));
  return charts;
}

}  // namespace scaleworth::report
