// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr std::size_t most_listed = 32;

Column count_column() {
  return {"count", "count", Role::parameter, Unit::count};
}

}  // namespace

Table outlook_table(const DecideView& view) {
  Table table{"outlook",
              "What the law that predicts best says of larger counts",
              {count_column(),
               decision_column("time_s", "time", Unit::seconds, {}),
               decision_column("speedup", "speed-up", Unit::plain, 2),
               decision_column("efficiency", "efficiency", Unit::percent, 1),
               decision_column("trust", "to be trusted", Unit::plain, {})}};
  table.columns[1].digits = 4;
  const auto& outlook = view.decision.outlook;
  if (!outlook) return table;
  for (const decide::OutlookPoint& point : outlook->points) {
    table.rows.push_back({{number(point.count),
                           number(point.time),
                           number(point.speedup),
                           number(point.efficiency),
                           point.far ? std::string("no: beyond 4 times the largest measured")
                                     : std::string("as far as the law")}});
  }
  table.notes = {fmt::format(
      "{}, T(K) = {}: {}{}.",
      outlook->law,
      outlook->formula,
      outlook->basis,
      outlook->held_out ? fmt::format("; one count ahead it missed by {:.1f} % in the mean",
                                      100.0 * *outlook->held_out)
                        : "; nothing is left to say how far it is off")};
  return table;
}

Table ring_table(const DecideView& view) {
  Table table{"ring",
              "What the measured latency and bandwidth ask for",
              {count_column(),
               decision_column("latency_s", "latency", Unit::seconds, {}),
               decision_column("bandwidth_s", "bandwidth", Unit::seconds, {}),
               decision_column("share_of_time", "of the time", Unit::percent, 1)}};
  for (const decide::RingRow& row : view.decision.further.ring) {
    table.rows.push_back({{number(row.count),
                           number(row.communication.latency),
                           number(row.communication.bandwidth),
                           number(row.share)},
                          table.rows.size() >= most_listed});
  }
  table.notes = {"A ring all-reduce, nothing of it hidden: 2 (K-1) latencies, 2 (K-1)/K messages."};
  return table;
}

Table bounds_table(const DecideView& view) {
  Table table{"bounds",
              "What work and depth allow",
              {count_column(),
               decision_column("measured_s", "measured", Unit::seconds, {}),
               decision_column("least_s", "at least", Unit::seconds, {}),
               decision_column("most_s", "at most", Unit::seconds, {}),
               decision_column("above", "above that", Unit::percent, 1)}};
  for (const decide::BoundRow& row : view.decision.further.bounds) {
    table.rows.push_back({{number(row.count),
                           number(row.measured),
                           number(row.bounds.low),
                           number(row.bounds.high),
                           number(row.above)},
                          table.rows.size() >= most_listed});
  }
  table.notes = {
      "Any greedy schedule takes max(W/p, D) to W/p + D; what is above that is overhead, which no "
      "dependency of the work explains."};
  return table;
}

}  // namespace scaleworth::report
