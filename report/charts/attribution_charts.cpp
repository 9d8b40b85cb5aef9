// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/charts/chart_grammar.h"

#include <array>
#include <map>
#include <numeric>

namespace scaleworth::report {
namespace {
/// More ranks than this: the longest bars, the largest entries.
constexpr std::size_t most_bars = 32;
constexpr std::size_t most_cells = 64;
/// Points of the timeline; beyond this the ranks are shown by their extremes.
constexpr std::size_t most_lines = 16;

constexpr std::array part_colours{"series-1",
                                  "series-2",
                                  "series-3",
                                  "yes",
                                  "unknown",
                                  "series-4",
                                  "series-5",
                                  "series-6",
                                  "axis",
                                  "muted",
                                  "series-7"};

Json rank_axis(const std::string& field, const std::string& title) {
  return {{"field", field}, {"type", "nominal"}, {"sort", "ascending"}, {"title", title}};
}

/// Ranks to draw: all, or those with the least and the most waiting when there are too many.
std::vector<const AveragedLedger*> drawn_ranks(const AveragedJob& job) {
  auto ranks = mapped(job.ranks, [](const AveragedLedger& rank) { return &rank; });
  if (ranks.size() <= most_bars) return ranks;
  std::ranges::stable_sort(
      ranks, {}, [](const auto* rank) { return rank->part(Part::exposed_wait).mean; });
  // Both ends matter: who never waits is waited for.
  ranks.erase(ranks.begin() + most_bars / 2, ranks.end() - most_bars / 2);
  return ranks;
}

Chart ledger_chart(const AttributionView& view) {
  Chart chart{"ledger", "ledger", "Where each rank's average step goes"};
  if (!view.averages) return chart.without("No bars: no step was found.");
  StackedBars bars;
  for (const AveragedLedger* rank : drawn_ranks(*view.averages)) {
    const std::string bar = fmt::format("rank {}", rank->rank->index);
    for (std::size_t i = 0; i < recording_parts.size(); ++i) {
      const Part part = recording_parts[i];
      if (!rank->known(part)) continue;
      bars.rows.push_back(
          stacked_row(bar, part_name(part), i, rank->part(part).mean * 1e3, rank->share(part)));
    }
  }
  for (const Part part : recording_parts) bars.parts.emplace_back(part_name(part));
  for (const char* colour : part_colours) bars.colours.push_back(css(colour));
  bars.length = "time of one step (ms)";
  bars.bar = "rank";
  bars.bar_height = 28;
  chart.spec = stacked_bars(std::move(bars));
  chart.how_to_read =
      "One bar per rank, its length the step, its colours the parts. The rank with the least "
      "exposed wait is the one that the others wait for.";
  if (view.averages->ranks.size() > most_bars) {
    chart.how_to_read += fmt::format(
        " Of {} ranks only the {} with the least and the {} with the most waiting are drawn.",
        view.averages->ranks.size(),
        most_bars / 2,
        most_bars / 2);
  }
  return chart;
}

/// The ranks of a large matrix that take part in most of the waiting, in order.
std::vector<std::size_t> drawn_cells(const StragglerReport& report) {
  const std::size_t ranks = report.exposed.size();
  std::vector<std::int64_t> weights(ranks);
  for (const auto& row : report.exposed) {
    for (std::size_t j = 0; j < row.size(); ++j) weights[j] += row[j].count();
  }
  std::vector<std::size_t> order(ranks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (ranks > most_cells) {
    std::ranges::stable_sort(order, std::greater{}, [&](auto rank) { return weights[rank]; });
    order.resize(most_cells);
    std::sort(order.begin(), order.end());
  }
  return order;
}

Chart matrix_chart(const AttributionView& view) {
  const auto& report = view.attribution.stragglers;
  Chart chart{"waits", "stragglers", "Who waits for whom"};
  const auto ranks = drawn_cells(report);
  std::vector<Json> rows;
  bool any = false;
  for (const std::size_t i : ranks) {
    for (const std::size_t j : ranks) {
      const double time = in_seconds(report.exposed[i][j]) * 1e3;
      any = any || time > 0.0;
      rows.push_back({{"waits", rank_at(view.attribution, i).index},
                      {"for", rank_at(view.attribution, j).index},
                      {"time", time}});
    }
  }
  if (!any) return chart.without("No picture: no exposed waiting is charged to a rank.");
  Json y = rank_axis("waits", "rank that waits");
  Json x = rank_axis("for", "rank that is waited for");
  x["axis"] = {{"labelAngle", 0}};
  // Colours are names of CSS variables, between which nothing can be interpolated.
  chart.spec = chart_spec(static_cast<int>(std::clamp<std::size_t>(28 * ranks.size(), 120, 640)),
                          std::move(rows),
                          {{"type", "rect"}, {"fill", css("series-3")}},
                          {{"y", y},
                           {"x", x},
                           {"opacity",
                            {{"field", "time"},
                             {"type", "quantitative"},
                             {"title", "exposed wait (ms)"},
                             {"scale", {{"range", {0.0, 1.0}}}},
                             {"legend", nullptr}}},
                           {"tooltip",
                            {tooltip("waits", "rank"),
                             tooltip("for", "waits for"),
                             tooltip("time", "exposed wait (ms)", ".4~g")}}});
  chart.how_to_read =
      "Row: who waits; column: for whom; over the steps that count. A full column is a straggler, "
      "a full row a victim.";
  return chart;
}

Chart timeline_chart(const AttributionView& view) {
  Chart chart{"steps", "ledger", "Length of every step"};
  std::map<std::int32_t, std::map<int, double>> lengths;  // by step and rank
  for (const auto& ledger : view.attribution.ledger) {
    const double length = in_seconds(ledger.end - ledger.start) * 1e3;
    lengths[ledger.step][ledger.rank.index] = length;
  }
  if (lengths.size() < 2) return chart.without("No picture: it takes two steps.");
  const bool lines = view.averages && view.averages->ranks.size() <= most_lines;
  std::vector<Json> rows;
  for (const auto& [step, by_rank] : lengths) {
    const auto add = [&, step = step](const std::string& rank, double length) {
      rows.push_back({{"step", step}, {"rank", rank}, {"time", length}});
    };
    if (lines) {
      for (const auto& [rank, length] : by_rank) add(std::to_string(rank), length);
    } else {
      const auto shorter = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [least, most] = std::minmax_element(by_rank.begin(), by_rank.end(), shorter);
      add("shortest", least->second);
      add("longest", most->second);
    }
  }
  Json x = linear_channel("step", "step", {{"format", "d"}, {"tickMinStep", 1}});
  x["scale"] = {{"zero", false}, {"nice", false}};
  chart.spec = chart_spec(
      240,
      std::move(rows),
      {{"type", "line"}, {"point", true}},
      {{"x", x},
       {"y", linear_channel("time", "length (ms)")},
       {"color",
        {{"field", "rank"}, {"type", "nominal"}, {"title", lines ? Json("rank") : Json(nullptr)}}},
       {"tooltip",
        {tooltip("step", "step"),
         tooltip("rank", "rank"),
         tooltip("time", "length (ms)", ".4~g")}}});
  chart.how_to_read =
      "Every step of every rank, those that are not averaged too: warm-up stands out at the left.";
  return chart;
}
}  // namespace

std::vector<Chart> attribution_charts(const AttributionView& view) {
  return {ledger_chart(view), timeline_chart(view), matrix_chart(view)};
}
}  // namespace scaleworth::report
