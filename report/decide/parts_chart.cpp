// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"
#include "report/html/charts/grammar.h"
#include "report/html/charts/stacked_bars.h"
#include "report/quantity.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::Decision;
using decide::DecisionRow;

/// Rows with parts, as many as a page can show: the doublings of a longer table.
std::vector<const DecisionRow*> barred_rows(const Decision& decision) {
  constexpr std::size_t most_bars = 24;
  std::vector<const DecisionRow*> rows;
  for (std::size_t i = 0; i < decision.rows.size(); ++i) {
    const bool kept = decision.rows.size() <= most_bars || std::has_single_bit(i + 1) ||
                      i + 1 == decision.rows.size();
    const bool parted = std::any_of(decision.rows[i].parts_s.begin(),
                                    decision.rows[i].parts_s.end(),
                                    [](const auto& part) { return part.has_value(); });
    if (kept && parted) rows.push_back(&decision.rows[i]);
  }
  return rows;
}

}  // namespace

Chart parts_chart(const DecideView& view) {
  Chart chart{"parts-chart", "counts", "What the ranks' time is spent on", "", nullptr, ""};
  const auto rows = barred_rows(view.decision);
  if (rows.empty()) {
    chart.missing = "No parts: add compute_s, comm_s and idle_s to the table.";
    return chart;
  }
  double longest = 0.0;
  for (const DecisionRow* row : rows) {
    longest = std::max(longest, row->count * row->same_work.value.value());
  }
  const Scale scale = scale_for(Unit::seconds, longest);
  StackedBars bars;
  for (const decide::TimePart part : decide::all_time_parts) {
    const auto i = static_cast<std::size_t>(part);
    if (std::none_of(rows.begin(), rows.end(), [i](const auto* row) { return row->parts_s[i]; })) {
      continue;
    }
    bars.parts.emplace_back(decide::time_part_name(part));
    bars.colours.push_back(series_colours[i % series_colours.size()]);
  }
  for (const DecisionRow* row : rows) {
    bars.bars.push_back(fmt::format("{}", row->count));
    const double growth = row->time.value / row->same_work.value;
    for (std::size_t place = 0; place < decide::time_parts; ++place) {
      const auto i = static_cast<std::size_t>(decide::all_time_parts[place]);
      if (!row->parts_s[i]) continue;
      const double part = *row->parts_s[i];
      bars.rows.push_back(stacked_row(bars.bars.back(),
                                      decide::time_part_name(decide::all_time_parts[place]),
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

}  // namespace scaleworth::report
