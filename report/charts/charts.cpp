// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"

#include <set>

namespace scaleworth::report {
std::vector<Chart> make_charts(const model::Analysis& analysis) {
  std::vector<Chart> charts = scaling_charts(analysis);
  charts.push_back(roofline_chart(analysis));
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
                 const std::string& link,
                 const std::string& part,
                 double value,
                 double share) {
  return {{"bar", bar},
          {"link", link},
          {"part", part},
          {"value", json_value(value)},
          {"share", json_value(share)}};
}

Json stacked_bars(std::vector<Json> rows, const std::string& length, const char* bar) {
  return {{"kind", "stacked"}, {"rows", std::move(rows)}, {"length", length}, {"bar", bar}};
}

Json plain_bars(std::vector<Json> rows, const char* bar, const std::string& value) {
  return {{"kind", "bars"}, {"rows", std::move(rows)}, {"bar", bar}, {"value", value}};
}

Json line_data(std::vector<Json> rows, const char* x, const std::string& y) {
  return {{"kind", "lines"}, {"rows", std::move(rows)}, {"x", x}, {"y", y}, {"log", false}};
}
}  // namespace scaleworth::report
