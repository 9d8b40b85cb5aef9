// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/grammar.h"
#include "report/mfu/mfu_view.h"

#include <utility>

namespace scaleworth::report {

std::vector<Chart> mfu_charts(const MfuView& view) {
  constexpr int height = 260;
  Chart chart{"conventions-chart",
              "conventions",
              "The same run, read by each convention",
              "A bar is the utilisation that the convention prints, against the first peak.",
              nullptr,
              ""};
  std::vector<Json> rows;
  for (const model::ConventionRow& row : view.use.conventions) {
    rows.push_back({{"convention", model::words_of(row.convention).name},
                    {"percent", 100.0 * row.utilisation}});
  }
  chart.spec = chart_spec(height);
  chart.spec["data"] = inline_data(std::move(rows));
  chart.spec["mark"] = {{"type", "bar"}, {"color", css("series-1")}};
  chart.spec["encoding"] = {
      {"y",
       {{"field", "convention"}, {"type", "nominal"}, {"sort", nullptr}, {"title", "convention"}}},
      {"x", linear_channel("percent", "utilisation (%)")},
      {"tooltip",
       {tooltip("convention", "convention"), tooltip("percent", "utilisation (%)", ".2f")}}};
  return {chart};
}

}  // namespace scaleworth::report
