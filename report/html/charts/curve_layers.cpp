// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/curve_layers.h"

#include "report/html/charts/grammar.h"

#include <algorithm>
#include <utility>

namespace scaleworth::report {
namespace {

constexpr const char* within_range = "within the measured counts";
constexpr const char* extrapolated_range = "extrapolated";

}  // namespace

Json with_interval(const Estimate<double>& value) {
  const auto interval = value.interval.value_or(Interval<double>{value.value, value.value});
  return {{"value", json_value(value.value)},
          {"low", json_value(interval.low)},
          {"high", json_value(interval.high)}};
}

std::vector<Json> curve_rows(const std::vector<model::CurvePoint>& curve,
                             const std::string& label,
                             const std::function<Json(const model::CurvePoint&)>& make_row) {
  std::vector<Json> rows;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto& point = curve[i];
    const bool last_measured =
        !point.extrapolated && i + 1 < curve.size() && curve[i + 1].extrapolated;
    for (const bool extrapolated : {false, true}) {
      if (point.extrapolated != extrapolated && !(extrapolated && last_measured)) continue;
      Json row = make_row(point);
      row.update({{"series", label},
                  {"ranks", point.ranks},
                  {"range", extrapolated ? extrapolated_range : within_range}});
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json curve_layers(const CurveLayers& parts) {
  const Json curve = inline_data(parts.curve);
  const Json measured = inline_data(parts.measured);
  const Json tips{tooltip("series", "series"),
                  tooltip("ranks", "ranks"),
                  tooltip("value", parts.what, parts.format),
                  tooltip("low", "low", parts.format),
                  tooltip("high", "high", parts.format)};
  Json dash{
      {"field", "range"},
      {"type", "nominal"},
      {"title", nullptr},
      {"scale", {{"domain", {within_range, extrapolated_range}}, {"range", {{1, 0}, {5, 4}}}}}};
  if (std::none_of(parts.curve.begin(), parts.curve.end(), [](const Json& row) {
        return row.at("range") == extrapolated_range;
      })) {
    dash["legend"] = nullptr;
  }
  const Json ends{{"y", end_of("low")}, {"y2", end_of("high")}};
  Json band_ends = ends;
  band_ends["detail"] = {{"field", "range"}};
  return {
      {{"data", curve}, {"mark", {{"type", "area"}, {"opacity", 0.16}}}, {"encoding", band_ends}},
      {{"data", curve},
       {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
       {"encoding", {{"strokeDash", dash}, {"tooltip", tips}}}},
      {{"data", measured}, {"mark", {{"type", "rule"}, {"strokeWidth", 2}}}, {"encoding", ends}},
      {{"data", measured},
       {"mark", {{"type", "point"}, {"filled", true}, {"size", 80}, {"opacity", 1}}},
       {"encoding", {{"tooltip", tips}}}}};
}

std::vector<std::string> series_names(const CurveLayers& parts) {
  std::vector<std::string> names;
  for (const auto* rows : {&parts.measured, &parts.curve}) {
    for (const Json& row : *rows) {
      const auto name = row.at("series").get<std::string>();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<int> doubled_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count <= most; count *= 2) {
    counts.push_back(count);
  }
  return counts;
}

}  // namespace scaleworth::report
