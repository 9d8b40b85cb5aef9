// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "src/core/statistics/sample_statistics.h"

#include <map>
#include <set>

namespace scaleworth::report {
namespace {
/// More ranks than this: those that wait least and most, or take part in most of the waiting.
constexpr std::size_t most_bars = 32;
constexpr std::size_t most_cells = 64;
constexpr std::size_t most_outliers = 200;

/// Ranks to draw: all, or those with the least and the most waiting when there are too many.
std::vector<const MeanLedger*> drawn_ranks(const JobMeans& job) {
  auto ranks = mapped(job.ranks, [](const MeanLedger& rank) { return &rank; });
  if (ranks.size() <= most_bars) return ranks;
  std::ranges::stable_sort(
      ranks, {}, [](const auto* rank) { return rank->part(Part::exposed_wait).mean; });
  // Both ends matter: who never waits is waited for.
  ranks.erase(ranks.begin() + most_bars / 2, ranks.end() - most_bars / 2);
  return ranks;
}

std::string left_out(const JobMeans& job) {
  if (job.ranks.size() <= most_bars) return "";
  return fmt::format(
      " Of {} ranks only the {} with the least and the {} with the most waiting are drawn.",
      job.ranks.size(),
      most_bars / 2,
      most_bars / 2);
}

Chart ledger_chart(const AttributionView& view) {
  Chart chart{"ledger", "ledger", "Where each rank's average step goes"};
  if (!view.averages) return chart.without("No bars: no step was found.");
  std::vector<Json> bars;
  for (const MeanLedger* rank : drawn_ranks(*view.averages)) {
    const std::string bar = fmt::format("rank {}", rank->rank->index);
    for (const Part part : recording_parts) {
      if (!rank->known(part)) continue;
      bars.push_back(
          stacked_row(bar, bar, word_of(part), rank->part(part).mean * 1e3, rank->share(part)));
    }
  }
  chart.data = stacked_bars(std::move(bars), "time of one step (ms)", "rank");
  chart.how_to_read = reading_note("chart ledger");
  chart.how_to_read += left_out(*view.averages);
  return chart;
}

/// The slowest step of the ranks whose bars are drawn, piece by piece in ns.
Chart timeline_chart(const AttributionView& view) {
  Chart chart{"timeline", "ledger", "The slowest step, rank by rank"};
  std::set<int> drawn;
  if (view.averages) {
    for (const MeanLedger* rank : drawn_ranks(*view.averages)) drawn.insert(rank->rank->index);
  }
  std::vector<const StepLedger*> ledgers;
  for (const StepLedger& ledger : view.attribution.ledger) {
    if (!ledger.pieces.empty() && drawn.contains(ledger.rank.index)) ledgers.push_back(&ledger);
  }
  if (ledgers.empty()) return chart.without("No picture: no step was found.");
  const auto start = [](const StepLedger* ledger) { return ledger->start; };
  const Nanoseconds first = start(*std::ranges::min_element(ledgers, {}, start));
  Json ranks = Json::array();
  Json pieces = Json::array();
  Json names = Json::array();
  std::map<std::string, std::size_t> numbers;  // of the names
  for (const StepLedger* ledger : ledgers) {
    ranks.push_back(ledger->rank.index);
    Json row = Json::array({(ledger->start - first).count()});
    for (const StepPiece& piece : ledger->pieces) {
      const auto [name, added] = numbers.emplace(piece.name, names.size());
      if (added) names.push_back(printable(piece.name));
      row.push_back(index_of(piece.part));
      row.push_back(piece.length.count());
      row.push_back(name->second);
      row.push_back(piece.partner ? Json(rank_at(view.attribution, *piece.partner).index)
                                  : Json(nullptr));
    }
    pieces.push_back(std::move(row));
  }
  chart.title = fmt::format("The slowest step ({}), rank by rank", ledgers.front()->step);
  chart.how_to_read = reading_note("chart timeline") + left_out(*view.averages);
  chart.leads = true;
  chart.data = {{"kind", "timeline"},
                {"step", ledgers.front()->step},
                {"ranks", std::move(ranks)},
                {"parts", mapped(every<Part>, word_of<Part>)},
                {"names", std::move(names)},
                {"pieces", std::move(pieces)}};
  return chart;
}

/// The ranks of a large matrix that take part in most of the waiting, in order.
std::vector<Rank> drawn_cells(const Attribution& job) {
  std::map<Rank, std::int64_t> weights;
  for (const PairWait& pair : job.stragglers.pairs)
    weights[pair.waited_for] += pair.root_cause.count();
  std::vector<Rank> ranks = mapped(job.recordings, &RankRecording::rank);
  if (ranks.size() > most_cells) {
    std::ranges::stable_sort(ranks, std::greater{}, [&](Rank rank) { return weights[rank]; });
    ranks.resize(most_cells);
    std::ranges::sort(ranks);
  }
  return ranks;
}

/// Not for whom a rank waits, who may be late by waiting too, but for whom it all began.
Chart matrix_chart(const AttributionView& view) {
  const auto& report = view.attribution.stragglers;
  Chart chart{"waits", "stragglers", "Who waits because of whom"};
  const std::vector<Rank> ranks = drawn_cells(view.attribution);
  std::vector<Json> rows;
  bool any = false;
  for (const Rank rank : ranks) {
    for (const Rank late : ranks) {
      const double time = in_seconds(pair_wait(report, rank, late).root_cause) * 1e3;
      any = any || time > 0.0;
      rows.push_back({{"waits", rank.index}, {"for", late.index}, {"time", time}});
    }
  }
  if (!any) return chart.without("No picture: no exposed waiting is charged to a rank.");
  Json named = Json::array();
  if (!report.stragglers.empty()) {
    const Straggler& worst = report.stragglers.front();
    for (const Rank& rank : worst.members) named.push_back(rank.index);
    if (worst.members.empty() && worst.level != LateUnit::rotating)
      named.push_back(worst.rank.index);
  }
  chart.data = {{"kind", "waits"}, {"rows", std::move(rows)}, {"named", std::move(named)}};
  chart.how_to_read = reading_note("chart waits");
  return chart;
}

/// Over ranks; single ranks where they stand out from the others.
Chart lengths_chart(const AttributionView& view) {
  Chart chart{"steps", "ledger", "Length of every step"};
  std::map<std::int32_t, std::map<int, double>> lengths;  // ms by step and rank
  for (const auto& ledger : view.attribution.ledger) {
    lengths[ledger.step][ledger.rank.index] = in_seconds(ledger.end - ledger.start) * 1e3;
  }
  if (lengths.size() < 2) return chart.without("No picture: it takes two steps.");
  // Tukey's fences; 2 % longer or shorter is nothing to look at.
  constexpr double fence = 1.5;
  constexpr double least = 0.02;
  std::vector<Json> steps;
  std::vector<std::pair<double, Json>> outliers;  // by how far they are away
  for (const auto& [step, by_rank] : lengths) {
    const auto times = mapped(by_rank, [](const auto& one) { return one.second; });
    const auto at = [&](double p) { return quantile(times, p).value_or(0.0); };
    const double middle = at(0.5);
    steps.push_back({{"step", step}, {"median", middle}, {"low", at(0.1)}, {"high", at(0.9)}});
    const double beyond = fence * (at(0.75) - at(0.25));
    for (const auto& [rank, time] : by_rank) {
      const double away = std::max(at(0.25) - time, time - at(0.75));
      if (away <= beyond || away <= least * middle) continue;
      outliers.emplace_back(away, Json{{"step", step}, {"rank", rank}, {"time", time}});
    }
  }
  std::ranges::stable_sort(outliers, std::greater{}, [](const auto& one) { return one.first; });
  if (outliers.size() > most_outliers) outliers.resize(most_outliers);
  chart.data = {{"kind", "steps"},
                {"steps", std::move(steps)},
                {"outliers", mapped(outliers, [](const auto& one) { return one.second; })}};
  chart.how_to_read = reading_note("chart lengths");
  return chart;
}
}  // namespace

std::vector<Chart> attribution_charts(const AttributionView& view) {
  return {ledger_chart(view), timeline_chart(view), lengths_chart(view), matrix_chart(view)};
}
}  // namespace scaleworth::report
