// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"
#include "report/html/charts/grammar.h"

#include <algorithm>

namespace scaleworth::report {
namespace {

constexpr int height = 300;
constexpr std::size_t most_points = 2000;

Chart line_chart(const DecideView& view,
                 Chart chart,
                 const std::string& title,
                 double (*value)(const decide::DecisionRow&)) {
  std::vector<Json> rows;
  for (const decide::DecisionRow& row : view.decision.rows) {
    if (rows.size() < most_points) rows.push_back({{"count", row.count}, {"value", value(row)}});
  }
  chart.spec = chart_spec(height);
  chart.spec["data"] = inline_data(std::move(rows));
  chart.spec["mark"] = {{"type", "line"}, {"point", true}, {"color", css("series-1")}};
  chart.spec["encoding"] = {
      {"x", doubling_channel("count", "count")},
      {"y", linear_channel("value", title)},
      {"tooltip", {tooltip("count", "count"), tooltip("value", title, ".4g")}}};
  return chart;
}

}  // namespace

std::vector<Chart> decision_charts(const DecideView& view) {
  std::vector<Chart> charts;
  charts.push_back(line_chart(view,
                              {"speedup",
                               "counts",
                               "Speed-up against the count",
                               "Where the line bends, more ranks stop paying in time.",
                               nullptr,
                               ""},
                              "speed-up",
                              [](const decide::DecisionRow& row) { return row.speedup.value; }));
  Chart cost{"cost",
             "counts",
             "Cost of the same work against the count",
             "The lowest point is the cost-optimal count.",
             nullptr,
             ""};
  if (!view.decision.choice) {
    cost.missing = "No costs: give --price in USD per rank and hour.";
    charts.push_back(cost);
    return charts;
  }
  charts.push_back(line_chart(view, cost, "cost (USD)", [](const decide::DecisionRow& row) {
    return row.cost->value.value();
  }));
  return charts;
}

}  // namespace scaleworth::report
