// SPDX-License-Identifier: Apache-2.0
#include "report/charts/chart_grammar.h"

#include <cmath>

namespace scaleworth::report {
namespace {
constexpr const char* within_range = "within the measured counts";
constexpr const char* extrapolated_range = "extrapolated";
}  // namespace

const std::vector<std::string> series_colours{css("series-1"),
                                              css("series-2"),
                                              css("series-3"),
                                              css("series-4"),
                                              css("series-5"),
                                              css("series-6")};

std::string css(const std::string& name) {
  return "var(--" + name + ")";
}

Json chart_spec(int height) {
  return {{"width", "container"},
          {"height", height},
          {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}}};
}

Json chart_spec(int height, std::vector<Json> rows, const Json& mark, const Json& encoding) {
  Json spec = chart_spec(height);
  spec["data"] = inline_data(std::move(rows));
  spec["mark"] = mark;
  spec["encoding"] = encoding;
  return spec;
}

Json layered_spec(
    int height, const Json& x, const Json& y, const Json& colour, const std::vector<Json>& parts) {
  Json spec = chart_spec(height);
  spec["encoding"] = {{"x", x}, {"y", y}, {"color", colour}};
  Json& layers = spec["layer"] = Json::array();
  for (const Json& part : parts) layers.insert(layers.end(), part.begin(), part.end());
  return spec;
}

Json inline_data(std::vector<Json> rows) {
  std::erase_if(rows, [](const Json& row) {
    return std::any_of(row.begin(), row.end(), [](const Json& value) { return value.is_null(); });
  });
  return {{"values", std::move(rows)}};
}

Json linear_channel(const std::string& field, const std::string& title, const Json& axis) {
  Json result{{"field", field}, {"type", "quantitative"}, {"title", title}};
  if (!axis.is_null()) result["axis"] = axis;
  return result;
}

Json log_channel(const std::string& field, const std::string& title, double low, double high) {
  constexpr double few_decades = 3.0;
  Json result = linear_channel(field, title);
  if (!(low > 0.0) || !(high > low) || !std::isfinite(high)) {
    result["scale"] = {{"type", "log"}};
    return result;
  }
  std::vector<double> ticks;
  const bool dense = std::log10(high / low) < few_decades;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); power += 1.0) {
    for (const double multiple : {1.0, 3.0}) {
      const double tick = multiple * std::pow(10.0, power);
      if (tick >= low && tick <= high && (multiple == 1.0 || dense)) ticks.push_back(tick);
    }
  }
  result["scale"] = {{"type", "log"}, {"domain", {low, high}}, {"nice", false}};
  result["axis"] = {{"values", ticks}, {"format", ",.3~r"}};
  return result;
}

Json doubling_channel(const std::string& field, const std::string& title, const Json& axis) {
  Json result = linear_channel(field, title);
  result["scale"] = {{"type", "log"}, {"base", 2}, {"nice", false}};
  if (!axis.is_null()) result["axis"] = axis;
  return result;
}

Range range_of(const std::vector<Json>& rows, const std::string& field) {
  std::vector<double> numbers;
  for (const Json& row : rows) {
    const Json& value = row.at(field);
    if (value.is_number() && value.get<double>() > 0.0) numbers.push_back(value.get<double>());
  }
  if (numbers.empty()) return {};
  const auto [low, high] = std::ranges::minmax(numbers);
  return {low, high};
}

Json rank_channel(int most) {
  std::vector<int> counts;
  for (int count = 1; count <= most; count *= 2) counts.push_back(count);
  return doubling_channel("ranks", "ranks", {{"values", counts}, {"format", "d"}});
}

Json size_channel(double largest) {
  std::vector<double> values;
  for (double size = 8.0; size <= largest; size *= 32.0) values.push_back(size);
  return doubling_channel("bytes",
                          "message",
                          {{"values", values},
                           {"labelExpr",
                            "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : datum.value "
                            ">= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"}});
}

Json colour_channel(const std::string& field,
                    const std::vector<std::string>& names,
                    const std::vector<std::string>& colours) {
  std::vector<std::string> range;
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(colours[i % colours.size()]);
  return {{"field", field},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", names}, {"range", range}}}};
}

Json tooltip(const std::string& field, const std::string& title, const std::string& format) {
  Json result{{"field", field}, {"title", title}};
  if (!format.empty()) {
    result["type"] = "quantitative";
    result["format"] = format;
  }
  return result;
}

Json end_of(const std::string& field) {
  return {{"field", field}};
}

Json line_mark(const Json& width, const std::vector<int>& dash) {
  Json mark{{"type", "line"}, {"strokeWidth", width}};
  if (!dash.empty()) mark["strokeDash"] = dash;
  return mark;
}

Json dot_mark(int size) {
  return {{"type", "point"}, {"filled", true}, {"size", size}, {"opacity", 1}};
}

Json interval_ends() {
  return {{"y", end_of("low")}, {"y2", end_of("high")}};
}

Json layer(const Json& data, const Json& mark, const Json& encoding) {
  return {{"data", data}, {"mark", mark}, {"encoding", encoding}};
}

Json layer_where(const std::string& test, const Json& mark, const Json& encoding) {
  Json result{{"transform", Json::array({{{"filter", test}}})}, {"mark", mark}};
  if (!encoding.is_null()) result["encoding"] = encoding;
  return result;
}

Json facets(const Json& data,
            const std::vector<std::string>& collectives,
            const Grid& grid,
            const Json& encoding,
            const Json& layers) {
  Json spec{{"data", data}};
  spec["facet"] = {
      {"field", "collective"}, {"type", "nominal"}, {"title", nullptr}, {"sort", collectives}};
  spec["columns"] = grid.columns;
  spec["spec"] = {
      {"width", grid.width}, {"height", grid.height}, {"encoding", encoding}, {"layer", layers}};
  return spec;
}

std::vector<std::string> distinct(const std::vector<Json>& rows, const char* field) {
  std::vector<std::string> values;
  for (const Json& row : rows) {
    auto value = row.at(field).get<std::string>();
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return values;
}

Json with_interval(const Estimate<double>& value, const Json& more) {
  Json row{{"value", json_value(value.value)},
           {"low", json_value(value.low())},
           {"high", json_value(value.high())}};
  row.update(more);
  return row;
}

void add_curve(std::vector<Json>& rows,
               const std::vector<model::CurvePoint>& curve,
               const std::string& label,
               const std::function<Estimate<double>(const model::CurvePoint&)>& value,
               const Json& more) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto& point = curve[i];
    const bool last_measured =
        !point.extrapolated && i + 1 < curve.size() && curve[i + 1].extrapolated;
    for (const bool extrapolated : {false, true}) {
      if (point.extrapolated != extrapolated && !(extrapolated && last_measured)) continue;
      rows.push_back(with_interval(value(point),
                                   {{"series", label},
                                    {"ranks", point.ranks},
                                    {"range", extrapolated ? extrapolated_range : within_range}}));
      rows.back().update(more);
    }
  }
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
  const auto extrapolated = [](const Json& row) { return row.at("range") == extrapolated_range; };
  if (std::ranges::none_of(parts.curve, extrapolated)) dash["legend"] = nullptr;
  Json band_ends = interval_ends();
  band_ends["detail"] = {{"field", "range"}};
  return {layer(curve, {{"type", "area"}, {"opacity", 0.16}}, band_ends),
          layer(curve, line_mark(2), {{"strokeDash", dash}, {"tooltip", tips}}),
          layer(measured, {{"type", "rule"}, {"strokeWidth", 2}}, interval_ends()),
          layer(measured, dot_mark(80), {{"tooltip", tips}})};
}

std::vector<std::string> series_names(const CurveLayers& parts) {
  std::vector<Json> rows = parts.measured;
  rows.insert(rows.end(), parts.curve.begin(), parts.curve.end());
  return distinct(rows, "series");
}
}  // namespace scaleworth::report
