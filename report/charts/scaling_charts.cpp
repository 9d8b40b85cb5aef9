// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/decision/decision_report.h"
#include "report/words.h"
#include "src/model/cost.h"

#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace scaleworth::report {
namespace {
using namespace model;

const ScalingResult* strong_result(const Analysis& analysis) {
  return find_in(analysis.scaling, true, [](const auto& result) {
    return result.mode == BatchScaling::strong && !result.rows.empty();
  });
}

/// The interval collapses when absent.
Json point_of(const char* series, int ranks, const Number& value) {
  return {{"series", series},
          {"ranks", ranks},
          {"value", json_value(value.value)},
          {"low", json_value(value.low())},
          {"high", json_value(value.high())}};
}

/// What curves() of report/html/bundle/scaling.js draws.
struct Curves {
  std::string y;
  bool doubling = false;
  std::string x = "ranks";
  Json curve = Json::array();
  Json measured = Json::array();
  Json ideal = Json::array();
  Json marks = Json::array();

  int largest(int most) const {
    for (const Json& point : curve) most = std::max(most, point.at("ranks").get<int>());
    return most;
  }

  /// K / base from the first count to the last.
  void add_ideal(int first, int last, int base) {
    for (const int count : {first, last}) {
      ideal.push_back({{"ranks", count}, {"value", static_cast<double>(count) / base}});
    }
  }

  void add_law(const std::vector<CurvePoint>& law,
               const char* series,
               const std::function<Number(const CurvePoint&)>& value) {
    for (const CurvePoint& point : law) {
      curve.push_back(point_of(series, point.ranks, value(point)));
      curve.back()["extrapolated"] = point.extrapolated;
    }
  }

  Json data() const {
    return {{"kind", "curves"},
            {"x", x},
            {"y", y},
            {"doubling", doubling},
            {"curve", curve},
            {"measured", measured},
            {"ideal", ideal},
            {"marks", marks}};
  }
};

/// Counts with more ranks are drawn as one bar, the mean.
constexpr int most_single_bars = 8;

void add_bar(std::vector<Json>& rows, const std::string& bar, int ranks, const MeanLedger& ledger) {
  for (const Part part : probe_parts) {
    rows.push_back(stacked_row(bar,
                               fmt::format("{} ranks", ranks),
                               word_of(part),
                               as_milliseconds(Seconds(ledger.part(part).mean)),
                               ledger.share(part)));
  }
}

std::vector<Json> bar_rows(const std::vector<ScalingResult>& scaling) {
  std::vector<Json> rows;
  for (const ScalingResult& result : scaling) {
    for (const DecisionRow& row : result.rows) {
      if (!row.trained.ledger) continue;
      const auto& [ranks, mean, only_excluded] = *row.trained.ledger;
      const std::string setting =
          fmt::format("{}, {}", word_of(result.mode), counted(row.count, "rank"));
      if (ranks.empty() || row.count > most_single_bars) {
        add_bar(rows, row.count == 1 ? setting : setting + ", mean", row.count, mean);
        continue;
      }
      for (const MeanLedger& rank : ranks) {
        const bool alone = ranks.size() == 1;
        add_bar(rows,
                alone ? setting : fmt::format("{}, rank {}", setting, rank.rank->index),
                row.count,
                rank);
      }
    }
  }
  return rows;
}

/// What the step at the largest count is made of, in one sentence.
std::string steps_title(const DecisionRow& row) {
  if (!row.trained.ledger) return "Where each rank's step goes";
  const MeanLedger& mean = row.trained.ledger->mean;
  const auto share = [&](Part part) { return part == Part::compute ? -1.0 : mean.share(part); };
  const Part largest_other = std::ranges::max(probe_parts, {}, share);
  return fmt::format("At {} {} of the step is compute; {} takes {}",
                     counted(row.count, "rank"),
                     format_quantity(mean.share(Part::compute), Unit::percent),
                     word_of(largest_other),
                     format_quantity(mean.share(largest_other), Unit::percent));
}

/// A page of longer tables has every so many of their rows.
constexpr std::size_t most_points = 1000;
constexpr const char* measured = "measured";
constexpr const char* given = "given coefficients";

/// The laws' curves: of a fit as far as the rows reach twice, for what lies beyond says little.
void add_laws(Curves& curves,
              const Decision& decision,
              const std::vector<ScalingLaw>& laws,
              const std::function<Number(const CurvePoint&)>& value) {
  const int first = decision.rows.front().count;
  const int last = 2 * decision.rows.back().count;
  for (const ScalingLaw& law : laws) {
    std::vector<CurvePoint> points = law.curve;
    std::erase_if(points, [&](const CurvePoint& point) {
      return !law.prediction && (point.ranks < first || point.ranks > last);
    });
    curves.add_law(points, law.prediction ? "predicted from measured parts" : "fitted law", value);
  }
}

/// Measured rows are dots; those of coefficients are the line.
void add_rows(Curves& curves,
              const Decision& decision,
              const std::function<Number(const DecisionRow&)>& value) {
  const std::size_t every = (decision.rows.size() + most_points - 1) / most_points;
  for (std::size_t i = 0; i < decision.rows.size(); ++i) {
    if (i % every != 0 && i + 1 != decision.rows.size()) continue;
    const DecisionRow& row = decision.rows[i];
    (decision.coefficients ? curves.curve : curves.measured)
        .push_back(point_of(decision.coefficients ? given : measured, row.count, value(row)));
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

/// With the counts that the verdict names.
Json marked(const DecideView& view, Curves curves) {
  curves.x = view.decision.axis == Axis::load ? "load" : "count";
  for (const auto& [count, text] : marked_counts(view.decision)) {
    curves.marks.push_back({{"ranks", count}, {"mark", text}});
  }
  return curves.data();
}

Chart speeds_chart(const DecideView& view, const std::vector<ScalingLaw>& laws) {
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
  Curves curves{"speed-up", true};
  add_rows(curves, decision, [](const DecisionRow& row) { return Number(row.speedup); });
  const Seconds baseline =
      decision.rows.front().same_work.value * decision.rows.front().speedup.value;
  add_laws(curves, decision, laws, [&](const CurvePoint& at) {
    return transform_decreasing(at.step, [&](Seconds time) { return baseline / time; });
  });
  const auto base = std::ranges::find(decision.rows, 1.0, &DecisionRow::count_ratio);
  if (decision.axis != Axis::load && base != decision.rows.end()) {
    curves.add_ideal(decision.rows.front().count, curves.largest(last.count), base->count);
  }
  chart.data = marked(view, std::move(curves));
  chart.how_to_read = reading_note("chart speedup");
  return chart;
}

Chart money_chart(const DecideView& view, const std::vector<ScalingLaw>& laws) {
  const Decision& decision = view.decision;
  const std::string& currency = view.options.currency;
  Chart chart{"cost", "counts", "Cost of the same work against the count"};
  if (!decision.choice)
    return chart.without(
        fmt::format("No costs: what is needed is a price in {} per rank and hour.", currency));
  const double scale = million_work_scale(decision).value_or(1.0);
  Curves curves{fmt::format(
      "{} ({})", scale == 1.0 ? "cost" : "cost per " + million_work(decision), currency)};
  add_rows(curves, decision, [&](const DecisionRow& row) {
    return number(transform(*row.cost, [&](Dollars cost) { return cost * scale; }));
  });
  add_laws(curves, decision, laws, [&](const CurvePoint& at) {
    return transform(at.step, [&](Seconds time) {
      return scale * bill_lines(*decision.request.metrics.prices, at.ranks, time).total().value();
    });
  });
  chart.data = marked(view, std::move(curves));
  chart.how_to_read = reading_note("chart cost");
  return chart;
}

/// What the work costs against how long it takes, a point per count. Without a price cost is the
/// time of all ranks together.
Chart tradeoff_chart(const DecideView& view) {
  const Decision& decision = view.decision;
  Chart chart{"tradeoff", "counts", "Cost against time"};
  if (decision.axis == Axis::load) return chart.without("No picture: a load has no cost.");
  const bool priced = decision.choice.has_value();
  const double million = million_work_scale(decision).value_or(1.0);
  const auto time_of = [](const DecisionRow& row) { return row.same_work.value.value(); };
  const double longest = time_of(std::ranges::max(decision.shown, {}, time_of));
  const Scale scale = scale_for(Unit::seconds, longest);
  const auto names = marked_counts(decision);
  Json rows = Json::array();
  for (const DecisionRow& row : decision.shown) {
    const double time = time_of(row) * scale.factor;
    const std::string* name = value_at(names, row.count);
    rows.push_back(
        {{"count", row.count},
         {"name", name ? *name : fmt::format("{}", row.count)},
         {"time", json_value(time)},
         {"cost", json_value(priced ? row.cost->value.value() * million : row.count * time)},
         {"taken", row.count == decision.rubric.chosen}});
  }
  chart.data = {
      {"kind", "tradeoff"},
      {"x", fmt::format("time of the same work ({})", scale.symbol)},
      {"y",
       priced ? fmt::format("{} ({})",
                            million == 1.0 ? "cost" : "cost per " + million_work(decision),
                            view.options.currency)
              : fmt::format("time of all ranks (rank-{})", scale.symbol)},
      {"rows", std::move(rows)}};
  chart.how_to_read = reading_note("chart tradeoff");
  chart.leads = true;
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
  std::vector<Json> bars;
  for (const DecisionRow* row : rows) {
    const std::string bar = fmt::format("{}", row->count);
    const double growth = row->time.value / row->same_work.value;
    for (const GroupInfo& group : part_groups) {
      const auto& part = row->parts_s[index_of(group.id)];
      if (!part) continue;
      bars.push_back(stacked_row(bar,
                                 bar + " ranks",
                                 group.name,
                                 row->count * *part / growth * scale.factor,
                                 *part / row->time.value.value()));
    }
  }
  chart.data =
      stacked_bars(std::move(bars),
                   fmt::format("time of all ranks for the same work (rank-{})", scale.symbol),
                   "count");
  const DecisionRow& last = *rows.back();
  if (rows.size() > 1) {
    chart.title = fmt::format("At {} the same work takes {:.2f} times the rank time of {}",
                              last.count,
                              rows.front()->efficiency.value / last.efficiency.value,
                              rows.front()->count);
  }
  chart.how_to_read = reading_note("chart parts");
  return chart;
}

Chart steps_chart(const Analysis& analysis) {
  Chart chart{"steps", "training", "Where each rank's step goes"};
  auto rows = bar_rows(analysis.scaling);
  if (rows.empty())
    return chart.without("No step bars: no training step was attributed in this run.");
  for (const ScalingResult& result : analysis.scaling) {
    if (result.mode == BatchScaling::strong && !result.rows.empty()) {
      chart.title = steps_title(result.rows.back());
    }
  }
  chart.how_to_read = reading_note("chart steps");
  chart.data = stacked_bars(std::move(rows), "time of one step (ms)", "setting");
  return chart;
}

}  // namespace

std::vector<Chart> scaling_charts(const Analysis& analysis) {
  std::vector<Chart> charts{steps_chart(analysis)};
  const ScalingResult* strong = strong_result(analysis);
  if (!strong || !strong->decision) {
    charts.push_back(Chart{"speedup", "decide", "Speed-up against the count"}.without(
        "No scaling curve: strong scaling was not measured in this run."));
    return charts;
  }
  const RenderOptions options;
  const DecideView view{*strong->decision, options};
  for (Chart chart : {speeds_chart(view, strong->laws), money_chart(view, strong->laws)}) {
    chart.section = "decide";
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> decision_charts(const DecideView& view) {
  std::vector<ScalingLaw> laws;
  if (view.decision.law) laws.push_back(*view.decision.law);
  std::vector<Chart> charts{
      tradeoff_chart(view), speeds_chart(view, laws), money_chart(view, laws)};
  if (!view.decision.coefficients) charts.push_back(parts_chart(view));
  return charts;
}

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
