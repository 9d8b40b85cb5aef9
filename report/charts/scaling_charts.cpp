// SPDX-License-Identifier: Apache-2.0
#include "report/charts/chart_grammar.h"
#include "report/decision/decision_report.h"
#include "report/names.h"
#include "src/model/cost.h"

#include <bit>
#include <cmath>
#include <map>

namespace scaleworth::report {
namespace {
using namespace model;

const ScalingResult* strong_result(const Analysis& analysis) {
  return find_in(analysis.scaling, true, [](const auto& result) {
    return result.mode == "strong" && !result.rows.empty();
  });
}

int largest_drawn(int most, const CurveLayers& layers) {
  for (const Json& point : layers.curve) most = std::max(most, point.at("ranks").get<int>());
  return most;
}

const Json speedup_axis{{"format", ".3~g"}, {"tickCount", 7}};
const Json cost_axis{{"format", ".3~g"}};

void add_laws(CurveLayers& parts,
              const ScalingResult& result,
              const std::function<Number(const CurvePoint&)>& value) {
  for (const ScalingLaw& law : result.laws) {
    const char* label = law.prediction ? "predicted from measured parts" : "fitted law";
    add_curve(parts.curve, law.curve, label, value, {{"law", law.name}});
  }
}

/// Counts with more ranks are drawn as one bar, the mean.
constexpr int most_single_bars = 8;

const std::map<std::string, std::string> part_colours{{"compute", "series-1"},
                                                      {"optimizer", "series-6"},
                                                      {"host", "series-5"},
                                                      {"progress", "series-4"},
                                                      {"exposed transfer", "series-2"},
                                                      {"exposed wait", "series-3"},
                                                      {"unattributed", "series-7"}};

void add_bar(std::vector<Json>& rows, const std::string& bar, const std::vector<StepShare>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows.push_back(
        stacked_row(bar, words(parts[i].part), i, as_milliseconds(parts[i].time), parts[i].share));
  }
}

std::vector<Json> bar_rows(const std::vector<ScalingResult>& scaling) {
  std::vector<Json> rows;
  for (const ScalingResult& result : scaling) {
    for (const ScalingRow& row : result.rows) {
      const std::string setting = result.mode + ", " + ranks_phrase(row.ranks);
      if (row.per_rank.empty() || row.ranks > most_single_bars) {
        add_bar(rows, row.ranks == 1 ? setting : setting + ", mean", row.shares);
        continue;
      }
      for (const auto& rank : row.per_rank) {
        const bool alone = row.per_rank.size() == 1;
        add_bar(rows, alone ? setting : fmt::format("{}, rank {}", setting, rank.rank), rank.parts);
      }
    }
  }
  return rows;
}

/// What the step at the largest count is made of, in one sentence.
std::string steps_title(const ScalingRow& row) {
  const StepShare* compute = nullptr;
  const StepShare* largest_other = nullptr;
  for (const auto& share : row.shares) {
    if (share.part == "compute") {
      compute = &share;
    } else if (!largest_other || share.share > largest_other->share) {
      largest_other = &share;
    }
  }
  if (!compute || !largest_other) return "Where each rank's step goes";
  return fmt::format("At {} {} of the step is compute; {} takes {}",
                     ranks_phrase(row.ranks),
                     format_quantity(number(compute->share), Unit::percent),
                     words(largest_other->part),
                     format_quantity(number(largest_other->share), Unit::percent));
}

constexpr int height = 340;
/// A page of longer tables has every so many of their rows.
constexpr std::size_t most_points = 1000;
constexpr const char* measured = "measured";
constexpr const char* ideal = "ideal";
constexpr const char* fitted_law = "fitted law";
constexpr const char* given = "given coefficients";
constexpr const char* within = "within the measured counts";

/// The law's points as far as the rows reach twice: what lies beyond says little.
std::vector<CurvePoint> drawn_curve(const Decision& decision) {
  std::vector<CurvePoint> points;
  if (!decision.law) return points;
  const int first = decision.rows.front().count;
  const int last = 2 * decision.rows.back().count;
  for (const CurvePoint& point : decision.law->curve) {
    if (point.ranks >= first && point.ranks <= last) points.push_back(point);
  }
  return points;
}

/// Measured rows are dots; those of coefficients are the line.
void add_rows(CurveLayers& layers,
              const Decision& decision,
              const std::function<Number(const DecisionRow&)>& value) {
  const std::size_t every = (decision.rows.size() + most_points - 1) / most_points;
  for (std::size_t i = 0; i < decision.rows.size(); ++i) {
    if (i % every != 0 && i + 1 != decision.rows.size()) continue;
    const DecisionRow& row = decision.rows[i];
    Json point = with_interval(
        value(row), {{"ranks", row.count}, {"series", decision.coefficients ? given : measured}});
    if (decision.coefficients) point["range"] = within;
    (decision.coefficients ? layers.curve : layers.measured).push_back(std::move(point));
  }
}

/// What the verdict says of a count: "4: taken, cheapest".
std::map<int, std::string> marked_counts(const Decision& decision) {
  std::map<int, std::string> names;
  const auto name = [&](std::optional<int> count, const char* what) {
    if (!count) return;
    std::string& text = names[*count];
    text += text.empty() ? fmt::format("{}: {}", *count, what) : fmt::format(", {}", what);
  };
  name(decision.rubric.chosen, "taken");
  name(decision.named.cheapest, "cheapest");
  name(decision.named.balanced, "balanced");
  name(decision.named.fastest, "fastest");
  return names;
}

Json mark_layer(std::vector<Json> rows, Json mark, Json more) {
  Json encoding{{"y", {{"value", 0}}}, {"color", {{"value", css("muted")}}}};
  encoding.update(more);
  return layer(inline_data(std::move(rows)), mark, encoding);
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
  const int last = largest_drawn(decision.rows.back().count, layers);
  Json x = rank_channel(last);
  x["title"] = decision.axis == Axis::load ? "load" : "count";
  const std::vector<std::string> names = series_names(layers);
  const auto colours = mapped(names, [](const std::string& name) {
    return css(name == measured ? "ink" : name == ideal ? "muted" : "series-1");
  });
  return layered_spec(height,
                      x,
                      y,
                      colour_channel("series", names, colours),
                      {curve_layers(layers), marks_layers(decision, last)});
}

/// The straight line of K times the baseline's speed.
void add_ideal(CurveLayers& layers, const Decision& decision) {
  const auto base = std::ranges::find(decision.rows, 1.0, &DecisionRow::count_ratio);
  if (base == decision.rows.end()) return;
  for (const int count :
       {decision.rows.front().count, largest_drawn(decision.rows.back().count, layers)}) {
    layers.curve.push_back(with_interval(number(static_cast<double>(count) / base->count),
                                         {{"ranks", count}, {"series", ideal}, {"range", within}}));
  }
}

Chart speeds_chart(const DecideView& view) {
  const Decision& decision = view.decision;
  Chart chart{"speedup", "counts", "Speed-up against the count"};
  const DecisionRow& last = decision.rows.back();
  if (decision.axis != Axis::load) {
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
  add_curve(layers.curve, drawn_curve(decision), fitted_law, [&](const CurvePoint& at) {
    return transform_decreasing(at.step, [&](Seconds time) { return baseline / time; });
  });
  if (decision.axis != Axis::load) add_ideal(layers, decision);
  chart.spec = layered(view, layers, doubling_channel("value", "speed-up", speedup_axis));
  chart.how_to_read =
      "Count (right) against speed-up of the same work (up), both doubling per step; ideal is the "
      "straight grey line. Dots: the table's rows, with 95 % intervals where repeats give them; "
      "line and band: the fitted law, dashed where extrapolated. Where it bends away from ideal, "
      "more ranks pay less.";
  return chart;
}

Chart money_chart(const DecideView& view) {
  const Decision& decision = view.decision;
  const std::string& currency = view.options.currency;
  Chart chart{"cost", "counts", "Cost of the same work against the count"};
  if (!decision.choice)
    return chart.without(fmt::format("No costs: give --price in {} per rank and hour.", currency));
  const double scale = million_work_scale(decision).value_or(1.0);
  const std::string title = fmt::format(
      "{} ({})", scale == 1.0 ? "cost" : "cost per " + million_work(decision), currency);
  CurveLayers layers{{}, {}, title, ".4~g"};
  add_rows(layers, decision, [&](const DecisionRow& row) {
    return number(transform(*row.cost, [&](Dollars cost) { return cost * scale; }));
  });
  if (decision.request.bill) {
    add_curve(layers.curve, drawn_curve(decision), fitted_law, [&](const CurvePoint& at) {
      return transform(at.step, [&](Seconds time) {
        return scale * bill_lines(*decision.request.bill, at.ranks, time).total().value();
      });
    });
  }
  chart.spec = layered(view, layers, linear_channel("value", title, cost_axis));
  chart.how_to_read =
      "Count (right, doubling per step) against the bill of the same work (up). Where the curve is "
      "flat more ranks are free speed; where it rises, each is paid for with efficiency.";
  return chart;
}

/// Rows with parts, as many as a page can show: the doublings of a longer table.
std::vector<const DecisionRow*> barred_rows(const Decision& decision) {
  constexpr std::size_t most_bars = 24;
  std::vector<const DecisionRow*> rows;
  for (std::size_t i = 0; i < decision.rows.size(); ++i) {
    const bool kept = decision.rows.size() <= most_bars || std::has_single_bit(i + 1) ||
                      i + 1 == decision.rows.size();
    const bool parted =
        std::ranges::any_of(decision.rows[i].parts_s, &std::optional<double>::has_value);
    if (kept && parted) rows.push_back(&decision.rows[i]);
  }
  return rows;
}

/// A bar per count, the time of all ranks together by part, so that ideal scaling has equal bars.
Chart parts_chart(const DecideView& view) {
  Chart chart{"parts-chart", "counts", "What the ranks' time is spent on"};
  const auto rows = barred_rows(view.decision);
  if (rows.empty())
    return chart.without("No parts: add compute_s, comm_s and idle_s to the table.");
  double longest = 0.0;
  for (const DecisionRow* row : rows) {
    longest = std::max(longest, row->count * row->same_work.value.value());
  }
  const Scale scale = scale_for(Unit::seconds, longest);
  StackedBars bars;
  for (const GroupInfo& group : part_groups) {
    const std::size_t i = index_of(group.id);
    const auto has_part = [i](const DecisionRow* row) { return row->parts_s[i].has_value(); };
    if (std::ranges::none_of(rows, has_part)) continue;
    bars.parts.emplace_back(group.name);
    bars.colours.push_back(series_colours[i % series_colours.size()]);
  }
  for (const DecisionRow* row : rows) {
    const std::string bar = fmt::format("{}", row->count);
    const double growth = row->time.value / row->same_work.value;
    for (std::size_t place = 0; place < part_groups.size(); ++place) {
      const std::size_t i = index_of(part_groups[place].id);
      if (!row->parts_s[i]) continue;
      const double part = *row->parts_s[i];
      bars.rows.push_back(stacked_row(bar,
                                      part_groups[place].name,
                                      place,
                                      row->count * part / growth * scale.factor,
                                      part / row->time.value.value()));
    }
  }
  bars.length = fmt::format("time of all ranks for the same work (rank-{})", scale.symbol);
  bars.bar = "count";
  chart.spec = stacked_bars(std::move(bars));
  const DecisionRow& last = *rows.back();
  if (rows.size() > 1) {
    chart.title = fmt::format("At {} the same work takes {:.2f} times the rank time of {}",
                              last.count,
                              rows.front()->efficiency.value / last.efficiency.value,
                              rows.front()->count);
  }
  chart.how_to_read =
      "One bar per count; its length is the time of all ranks together for the same work, which is "
      "what ranks are paid for. Ideal scaling keeps it as long as the first; what it grows by is "
      "the price of the count, and the colours say what for.";
  return chart;
}
}  // namespace

Chart speedup_chart(const Analysis& analysis) {
  Chart chart{"speedup", "decide", "Speed-up by rank count"};
  const ScalingResult* strong = strong_result(analysis);
  if (!strong)
    return chart.without("No scaling curve: strong scaling was not measured in this run.");
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
  const int first = strong->rows.front().ranks;
  const Seconds base = strong->rows.front().step.value;
  CurveLayers parts{{}, {}, "speed-up", ".3~g"};
  add_laws(parts, *strong, [base](const auto& point) {
    return transform_decreasing(point.step, [base](Seconds time) { return base / time; });
  });
  for (const auto& row : strong->rows) {
    parts.measured.push_back(with_interval(row.speedup.value_or(number(base / row.step.value)),
                                           {{"series", "measured"}, {"ranks", row.ranks}}));
  }
  const int most = largest_drawn(last.ranks, parts);
  const std::vector<Json> ideal{
      {{"series", "ideal"}, {"ranks", first}, {"value", 1.0}},
      {{"series", "ideal"}, {"ranks", most}, {"value", static_cast<double>(most) / first}}};
  auto names = series_names(parts);
  names.insert(names.begin() + 1, "ideal");
  const std::vector<std::string> colours{
      css("ink"), css("muted"), css("series-1"), css("series-2")};
  const Json ideal_line{{"data", inline_data(ideal)}, {"mark", line_mark(1.5, {2, 3})}};
  chart.spec = layered_spec(
      380,
      rank_channel(most),
      doubling_channel("value", fmt::format("speed-up over {}", ranks_phrase(first)), speedup_axis),
      colour_channel("series", names, colours),
      {Json::array({ideal_line}), curve_layers(parts)});
  return chart;
}

Chart cost_chart(const Analysis& analysis) {
  Chart chart{"cost", "decide", "Cost per token by rank count"};
  const ScalingResult* strong = strong_result(analysis);
  if (!analysis.assumptions.price_per_rank)
    return chart.without(
        "No cost curve: no price was given. Write the report again with --price "
        "USD_PER_RANK_HOUR.");
  if (!strong) return chart.without("No cost curve: strong scaling was not measured in this run.");
  const auto law = std::ranges::find_if(
      strong->laws, [](const ScalingLaw& one) { return one.cost_optimal.has_value(); });
  if (law != strong->laws.end()) {
    chart.title = "A token is cheapest at " + ranks_phrase(*law->cost_optimal);
  }
  chart.how_to_read =
      "Rank count (right, doubling) against the cost of a million tokens (up) at the given price. "
      "Flat: more ranks are free speed; rising: each further rank is paid for with efficiency. "
      "Dashed: extrapolated.";
  CurveLayers parts{{}, {}, "USD per million tokens", ".4~g"};
  add_laws(parts, *strong, [](const auto& point) {
    const auto& cost = point.cost_per_million_tokens;
    return cost ? in_proportion(cost->value(), point.step) : number(std::nan(""));
  });
  for (const auto& row : strong->rows) {
    if (!row.cost_per_million_tokens) continue;
    parts.measured.push_back(
        with_interval(in_proportion(row.cost_per_million_tokens->value(), row.step),
                      {{"series", "measured"}, {"ranks", row.ranks}}));
  }
  const std::vector<std::string> colours{css("ink"), css("series-1"), css("series-2")};
  chart.spec = layered_spec(320,
                            rank_channel(largest_drawn(strong->rows.back().ranks, parts)),
                            linear_channel("value", "cost per million tokens (USD)", cost_axis),
                            colour_channel("series", series_names(parts), colours),
                            {curve_layers(parts)});
  return chart;
}

Chart steps_chart(const Analysis& analysis) {
  Chart chart{"steps", "training", "Where each rank's step goes"};
  auto rows = bar_rows(analysis.scaling);
  if (rows.empty())
    return chart.without("No step bars: no training step was attributed in this run.");
  for (const ScalingResult& result : analysis.scaling) {
    if (result.mode == "strong" && !result.rows.empty()) {
      chart.title = steps_title(result.rows.back());
    }
  }
  chart.how_to_read =
      "One bar per rank; its length is the step, its colours are the parts of the ledger. Strong "
      "scaling: bars should halve when ranks double; weak: they should stay as long. Exposed "
      "transfer and wait are what communication adds; unequal bars of one count show a straggler.";
  StackedBars bars;
  bars.parts = distinct(rows, "part");
  for (const std::string& part : bars.parts) {
    const auto known = part_colours.find(part);
    bars.colours.push_back(css(known == part_colours.end() ? "muted" : known->second));
  }
  bars.rows = std::move(rows);
  bars.length = "time of one step (ms)";
  bars.bar = "setting";
  chart.spec = stacked_bars(std::move(bars));
  return chart;
}

std::vector<Chart> decision_charts(const DecideView& view) {
  std::vector<Chart> charts{speeds_chart(view), money_chart(view)};
  if (!view.decision.coefficients) charts.push_back(parts_chart(view));
  return charts;
}
}  // namespace scaleworth::report
