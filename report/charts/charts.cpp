// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"

#include "report/charts/chart_grammar.h"

#include <set>

namespace scaleworth::report {
std::vector<Chart> make_charts(const model::Analysis& analysis) {
  std::vector<Chart> charts{steps_chart(analysis),
                            speedup_chart(analysis),
                            cost_chart(analysis),
                            roofline_chart(analysis)};
  if (!analysis.collectives.empty() || analysis.algorithms.empty()) {
    charts.push_back(collectives_chart(analysis));
  }
  if (!analysis.algorithms.empty()) charts.push_back(nccl_chart(analysis));
  std::set<std::string> models;
  for (const model::GpuResult& gpu : analysis.gpus) {
    if (gpu.formats.empty() || !models.insert(gpu.identity.name).second) continue;
    charts.push_back(waterfall_chart(gpu));
    charts.push_back(gpu_roofline_chart(gpu));
  }
  return charts;
}

Json stacked_row(const std::string& bar,
                 const std::string& part,
                 std::size_t order,
                 double value,
                 double share) {
  return {{"bar", bar},
          {"part", part},
          {"order", order},
          {"value", json_value(value)},
          {"share", json_value(share)}};
}

Json stacked_bars(StackedBars chart) {
  Json colour = colour_channel("part", chart.parts, chart.colours);
  colour["legend"] = {{"columns", 5}};
  const std::vector<std::string> bars = distinct(chart.rows, "bar");
  return chart_spec(chart.bar_height * static_cast<int>(bars.size()),
                    std::move(chart.rows),
                    {{"type", "bar"}, {"height", {{"band", 0.76}}}},
                    {{"y",
                      {{"field", "bar"},
                       {"type", "nominal"},
                       {"sort", bars},
                       {"title", nullptr},
                       {"axis", {{"labelLimit", 260}, {"ticks", false}, {"domain", false}}}}},
                     {"x", linear_channel("value", chart.length, {{"tickCount", 8}})},
                     {"color", colour},
                     {"order", {{"field", "order"}}},
                     {"tooltip",
                      {tooltip("bar", chart.bar),
                       tooltip("part", "part"),
                       tooltip("value", chart.length, ".3~f"),
                       tooltip("share", "of the whole", ".1%")}}});
}
}  // namespace scaleworth::report
