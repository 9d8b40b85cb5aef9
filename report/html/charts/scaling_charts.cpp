// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/charts.h"
#include "report/html/charts/curve_layers.h"
#include "report/html/charts/grammar.h"
#include "report/names.h"
#include "report/quantity.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::ScalingLaw;
using model::ScalingResult;

const ScalingResult* strong_result(const model::Analysis& analysis) {
  const auto found =
      std::find_if(analysis.scaling.begin(), analysis.scaling.end(), [](const auto& result) {
        return result.mode == "strong" && !result.rows.empty();
      });
  return found == analysis.scaling.end() ? nullptr : &*found;
}

int largest_count(const ScalingResult& result) {
  int most = result.rows.back().ranks;
  for (const ScalingLaw& law : result.laws) {
    for (const auto& point : law.curve) {
      most = std::max(most, point.ranks);
    }
  }
  return most;
}

std::string law_label(const ScalingLaw& law) {
  return law.prediction ? "predicted from measured parts" : "fitted law";
}

template <class MakeRow>
std::vector<Json> rows_of_laws(const ScalingResult& result, MakeRow make_row) {
  std::vector<Json> rows;
  for (const ScalingLaw& law : result.laws) {
    for (Json& row : curve_rows(law.curve, law_label(law), make_row)) {
      row["law"] = law.name;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json speedup_spec(const ScalingResult& strong) {
  const int first = strong.rows.front().ranks;
  const Seconds base = strong.rows.front().step.value;
  CurveLayers parts{{}, {}, "speed-up", ".3~g"};
  parts.curve = rows_of_laws(strong, [base](const auto& point) {
    return with_interval(
        transform_decreasing(point.step, [base](Seconds time) { return base / time; }));
  });
  for (const auto& row : strong.rows) {
    Json point = with_interval(row.speedup.value_or(Number{base / row.step.value, {}, 0}));
    point.update({{"series", "measured"}, {"ranks", row.ranks}});
    parts.measured.push_back(std::move(point));
  }
  const int most = largest_count(strong);
  const std::vector<Json> ideal{
      {{"series", "ideal"}, {"ranks", first}, {"value", 1.0}},
      {{"series", "ideal"}, {"ranks", most}, {"value", static_cast<double>(most) / first}}};
  auto names = series_names(parts);
  names.insert(names.begin() + 1, "ideal");
  std::vector<std::string> colours{css("ink"), css("muted"), css("series-1"), css("series-2")};
  Json y = doubling_channel("value", fmt::format("speed-up over {}", ranks_phrase(first)));
  y["axis"] = {{"format", ".3~g"}, {"tickCount", 7}};
  Json spec = chart_spec(380);
  spec["encoding"] = {{"x", rank_channel(doubled_counts(most))},
                      {"y", y},
                      {"color", colour_channel("series", "", names, colours)}};
  Json layers{{{"data", inline_data(ideal)},
               {"mark", {{"type", "line"}, {"strokeWidth", 1.5}, {"strokeDash", {2, 3}}}}}};
  const Json more = curve_layers(parts);
  layers.insert(layers.end(), more.begin(), more.end());
  spec["layer"] = layers;
  return spec;
}

Json cost_spec(const ScalingResult& strong) {
  CurveLayers parts{{}, {}, "USD per million tokens", ".4~g"};
  parts.curve = rows_of_laws(strong, [](const auto& point) {
    const auto& cost = point.cost_per_million_tokens;
    return cost ? with_interval(in_proportion(cost->value(), point.step))
                : Json{{"value", nullptr}};
  });
  for (const auto& row : strong.rows) {
    if (row.cost_per_million_tokens) {
      Json point = with_interval(in_proportion(row.cost_per_million_tokens->value(), row.step));
      point.update({{"series", "measured"}, {"ranks", row.ranks}});
      parts.measured.push_back(std::move(point));
    }
  }
  Json spec = chart_spec(320);
  Json y = linear_channel("value", "cost per million tokens (USD)");
  y["axis"] = {{"format", ".3~g"}};
  spec["encoding"] = {
      {"x", rank_channel(doubled_counts(largest_count(strong)))},
      {"y", y},
      {"color",
       colour_channel(
           "series", "", series_names(parts), {css("ink"), css("series-1"), css("series-2")})}};
  spec["layer"] = curve_layers(parts);
  return spec;
}

std::string cost_title(const ScalingResult& strong) {
  for (const ScalingLaw& law : strong.laws) {
    if (law.cost_optimal) {
      return fmt::format("A token is cheapest at {}", ranks_phrase(*law.cost_optimal));
    }
  }
  return "Cost per token by rank count";
}

}  // namespace

Chart speedup_chart(const model::Analysis& analysis) {
  Chart chart{"speedup", "decide", "Speed-up by rank count", "", nullptr, ""};
  const ScalingResult* strong = strong_result(analysis);
  if (!strong) {
    chart.missing = "No scaling curve: strong scaling was not measured in this run.";
    return chart;
  }
  const auto& last = strong->rows.back();
  if (last.speedup) {
    chart.title = fmt::format("{} give a speed-up of {}, where {} would be ideal",
                              ranks_phrase(last.ranks),
                              format_quantity(*last.speedup, Unit::plain),
                              static_cast<double>(last.ranks) / strong->rows.front().ranks);
  }
  chart.how_to_read =
      "Rank count (right) against speed-up of the same work (up), both doubling per step. Dots: "
      "measured, with 95 % intervals; dotted: ideal; line and band: law or prediction with its "
      "95 % band, dashed where extrapolated. Where the line bends away from ideal, more ranks pay "
      "less.";
  chart.spec = speedup_spec(*strong);
  return chart;
}

Chart cost_chart(const model::Analysis& analysis, const RenderOptions& options) {
  Chart chart{"cost", "decide", "Cost per token by rank count", "", nullptr, ""};
  const ScalingResult* strong = strong_result(analysis);
  if (!options.assumptions.price_per_rank) {
    chart.missing =
        "No cost curve: no price was given. Write the report again with --price USD_PER_RANK_HOUR.";
    return chart;
  }
  if (!strong) {
    chart.missing = "No cost curve: strong scaling was not measured in this run.";
    return chart;
  }
  chart.title = cost_title(*strong);
  chart.how_to_read =
      "Rank count (right, doubling) against the cost of a million tokens (up) at the given price. "
      "Flat: more ranks are free speed; rising: each further rank is paid for with efficiency. "
      "Dashed: extrapolated.";
  chart.spec = cost_spec(*strong);
  return chart;
}

}  // namespace scaleworth::report
