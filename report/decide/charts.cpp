// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"
#include "report/html/charts/curve_layers.h"
#include "report/html/charts/grammar.h"
#include "src/model/cost/bill.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr int height = 340;
/// A page of longer tables has every so many of their rows.
constexpr std::size_t most_points = 1000;
constexpr const char* measured = "measured";
constexpr const char* ideal = "ideal";
constexpr const char* fitted = "fitted law";
constexpr const char* given = "given coefficients";
constexpr const char* within = "within the measured counts";

using decide::Decision;
using decide::DecisionRow;

std::vector<const DecisionRow*> drawn_rows(const Decision& decision) {
  const std::size_t every = (decision.rows.size() + most_points - 1) / most_points;
  std::vector<const DecisionRow*> drawn;
  for (std::size_t i = 0; i < decision.rows.size(); ++i) {
    if (i % every == 0 || i + 1 == decision.rows.size()) drawn.push_back(&decision.rows[i]);
  }
  return drawn;
}

/// The law's points as far as the rows reach twice: what lies beyond says little.
std::vector<model::CurvePoint> drawn_curve(const Decision& decision) {
  std::vector<model::CurvePoint> points;
  if (!decision.law) return points;
  const int first = decision.rows.front().count;
  const int last = 2 * decision.rows.back().count;
  for (const model::CurvePoint& point : decision.law->curve) {
    if (point.ranks >= first && point.ranks <= last) points.push_back(point);
  }
  return points;
}

/// Measured rows are dots; those of coefficients are the line.
void add_rows(CurveLayers& layers,
              const Decision& decision,
              const std::function<Number(const DecisionRow&)>& value) {
  for (const DecisionRow* row : drawn_rows(decision)) {
    Json point = with_interval(value(*row));
    point["ranks"] = row->count;
    point["series"] = decision.coefficients ? given : measured;
    if (decision.coefficients) point["range"] = within;
    (decision.coefficients ? layers.curve : layers.measured).push_back(std::move(point));
  }
}

int largest_drawn(const Decision& decision, const CurveLayers& layers) {
  int most = decision.rows.back().count;
  for (const Json& point : layers.curve) most = std::max(most, point.at("ranks").get<int>());
  return most;
}

/// What the verdict says of a count: "4: taken, cheapest".
std::map<int, std::string> marked_counts(const Decision& decision) {
  std::map<int, std::string> names;
  const auto name = [&](std::optional<int> count, const char* what) {
    if (!count) return;
    std::string& text = names[*count];
    text += text.empty() ? fmt::format("{}: {}", *count, what) : fmt::format(", {}", what);
  };
  name(decision.rubric.chosen, decision.cause ? "taken" : "by the figures alone");
  if (decision.choice) name(decision.choice->cheapest, "cheapest");
  name(decision.fastest, "fastest");
  return names;
}

Json mark_layer(std::vector<Json> rows, Json mark, Json more) {
  Json encoding{{"y", {{"value", 0}}}, {"color", {{"value", css("muted")}}}};
  encoding.update(more);
  return {{"data", inline_data(std::move(rows))}, {"mark", mark}, {"encoding", encoding}};
}

/// Lines at the counts that the verdict names, with words on their right; at the last count, where
/// the picture ends, on their left.
Json marks_layers(const Decision& decision, int last) {
  std::vector<Json> inner;
  std::vector<Json> edge;
  for (const auto& [count, text] : marked_counts(decision)) {
    (count < last ? inner : edge).push_back({{"ranks", count}, {"mark", text}});
  }
  std::vector<Json> all = inner;
  all.insert(all.end(), edge.begin(), edge.end());
  const auto words = [](const char* baseline, int offset) {
    return Json{{"type", "text"},
                {"angle", 270},
                {"align", "right"},
                {"baseline", baseline},
                {"dx", -6},
                {"dy", offset}};
  };
  const Json text{{"text", end_of("mark")}};
  return {mark_layer(std::move(all),
                     {{"type", "rule"}, {"strokeDash", {4, 4}}},
                     {{"y2", {{"value", height}}}}),
          mark_layer(std::move(inner), words("top", 4), text),
          mark_layer(std::move(edge), words("bottom", -4), text)};
}

Json layered(const DecideView& view, const CurveLayers& layers, const Json& y) {
  const Decision& decision = view.decision;
  const int last = largest_drawn(decision, layers);
  Json x = rank_channel(doubled_counts(last));
  x["title"] = decision.axis == decide::Axis::load ? "load" : "count";
  const std::vector<std::string> names = series_names(layers);
  std::vector<std::string> colours;
  for (const std::string& name : names) {
    colours.push_back(css(name == measured ? "ink" : name == ideal ? "muted" : "series-1"));
  }
  Json spec = chart_spec(height);
  spec["encoding"] = {{"x", x}, {"y", y}, {"color", colour_channel("series", "", names, colours)}};
  Json stack = curve_layers(layers);
  for (const Json& layer : marks_layers(decision, last)) stack.push_back(layer);
  spec["layer"] = std::move(stack);
  return spec;
}

/// The straight line of K times the baseline's speed.
void add_ideal(CurveLayers& layers, const Decision& decision) {
  const auto base = std::find_if(decision.rows.begin(), decision.rows.end(), [](const auto& row) {
    return row.count_ratio == 1.0;
  });
  if (base == decision.rows.end()) return;
  for (const int count : {decision.rows.front().count, largest_drawn(decision, layers)}) {
    Json point = with_interval(number(static_cast<double>(count) / base->count));
    point.update({{"ranks", count}, {"series", ideal}, {"range", within}});
    layers.curve.push_back(std::move(point));
  }
}

Chart speeds_chart(const DecideView& view) {
  const Decision& decision = view.decision;
  Chart chart{"speedup", "counts", "Speed-up against the count", "", nullptr, ""};
  const DecisionRow& last = decision.rows.back();
  if (decision.axis != decide::Axis::load) {
    chart.title =
        fmt::format("{} are {:.3g} times as fast as the baseline, where {:.3g} would be ideal",
                    last.count,
                    last.speedup.value,
                    last.count_ratio);
  }
  CurveLayers layers{{}, {}, "speed-up", ".4~g"};
  add_rows(layers, decision, [](const DecisionRow& row) { return Number(row.speedup); });
  const Seconds baseline =
      decision.rows.front().same_work.value * decision.rows.front().speedup.value;
  for (Json& point : curve_rows(drawn_curve(decision), fitted, [&](const model::CurvePoint& at) {
         return with_interval(
             transform_decreasing(at.step, [&](Seconds time) { return baseline / time; }));
       })) {
    layers.curve.push_back(std::move(point));
  }
  if (decision.axis != decide::Axis::load) add_ideal(layers, decision);
  Json y = doubling_channel("value", "speed-up");
  y["axis"] = {{"format", ".3~g"}, {"tickCount", 7}};
  chart.spec = layered(view, layers, y);
  chart.how_to_read =
      "Count (right) against speed-up of the same work (up), both doubling per step; ideal is the "
      "straight grey line. Dots: the table's rows, with 95 % intervals where repeats give them; "
      "line and band: the fitted law, dashed where extrapolated. Where it bends away from ideal, "
      "more ranks pay less.";
  return chart;
}

Chart money_chart(const DecideView& view) {
  const Decision& decision = view.decision;
  Chart chart{"cost", "counts", "Cost of the same work against the count", "", nullptr, ""};
  if (!decision.choice) {
    chart.missing = "No costs: give --price in USD per rank and hour.";
    return chart;
  }
  const double scale = million_work_scale(decision).value_or(1.0);
  const std::string title = scale == 1.0 ? "cost (USD)" : "cost of 10^6 work (USD)";
  CurveLayers layers{{}, {}, title, ".4~g"};
  add_rows(layers, decision, [&](const DecisionRow& row) {
    return number(transform(*row.cost, [&](Dollars cost) { return cost * scale; }));
  });
  if (decision.bill) {
    for (Json& point : curve_rows(drawn_curve(decision), fitted, [&](const model::CurvePoint& at) {
           return with_interval(transform(at.step, [&](Seconds time) {
             return scale * model::bill_lines(*decision.bill, at.ranks, time).total().value();
           }));
         })) {
      layers.curve.push_back(std::move(point));
    }
  }
  Json y = linear_channel("value", title);
  y["axis"] = {{"format", ".3~g"}};
  chart.spec = layered(view, layers, y);
  chart.how_to_read =
      "Count (right, doubling per step) against the bill of the same work (up). Where the curve is "
      "flat more ranks are free speed; where it rises, each is paid for with efficiency.";
  return chart;
}

}  // namespace

std::vector<Chart> decision_charts(const DecideView& view) {
  std::vector<Chart> charts{speeds_chart(view), money_chart(view)};
  if (!view.decision.coefficients) charts.push_back(parts_chart(view));
  return charts;
}

}  // namespace scaleworth::report
