// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/sections/sections.h"
#include "report/names.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using attribution::CollectiveWait;

/// Kind, and the way that NCCL said it chose.
using KindAndWay = std::pair<std::string, std::string>;

/// All collectives of one kind and way.
struct KindSum {
  std::int64_t count = 0;
  std::int64_t with_bytes = 0;
  double bytes = 0.0;
  double seconds_with_bytes = 0.0;  // pure transfer of those whose bytes are known
  double wait = 0.0;
  double transfer = 0.0;
  std::optional<double> network;  // that network operations waited for others than their GPU
  std::vector<double> shortest;
  std::vector<double> spread_of_ends;
};

std::string kind_name(const CollectiveWait& collective) {
  return words(attribution::collective_kind_name(collective.kind));
}

/// "RING SIMPLE", empty when NCCL did not say.
std::string way_name(const CollectiveWait& collective) {
  if (collective.algorithm.empty() || collective.protocol.empty())
    return collective.algorithm + collective.protocol;
  return collective.algorithm + " " + collective.protocol;
}

double network_wait(const attribution::NcclUse& use) {
  return in_seconds(use.mean(use.network_wait)) + in_seconds(use.mean(use.peer_wait));
}

/// Of the rank whose operations waited longest.
std::optional<double> longest_network_wait(const CollectiveWait& collective) {
  std::optional<double> longest;
  for (const CollectiveWait::Participant& part : collective.participants) {
    if (!part.nccl || part.nccl->operations == 0) continue;
    longest = std::max(longest.value_or(0.0), network_wait(*part.nccl));
  }
  return longest;
}

std::map<KindAndWay, KindSum> sums_by_kind(const attribution::Attribution& attribution) {
  std::map<KindAndWay, KindSum> sums;
  for (const CollectiveWait& collective : attribution.collectives) {
    KindSum& sum = sums[{kind_name(collective), way_name(collective)}];
    const CollectiveTime time = collective_time(collective);
    const double shortest = in_seconds(collective.shortest);
    ++sum.count;
    sum.wait += time.wait;
    sum.transfer += time.transfer;
    sum.shortest.push_back(shortest);
    sum.spread_of_ends.push_back(in_seconds(collective.spread_of_ends));
    for (const CollectiveWait::Participant& part : collective.participants) {
      if (part.nccl && part.nccl->operations > 0)
        sum.network = sum.network.value_or(0.0) + network_wait(*part.nccl);
    }
    if (collective.bytes && shortest > 0.0) {
      ++sum.with_bytes;
      sum.bytes += static_cast<double>(*collective.bytes);
      sum.seconds_with_bytes += shortest;
    }
  }
  return sums;
}

Cell text_or_absent(const std::string& text) {
  return text.empty() ? Cell{} : Cell{text};
}

/// The single collectives with the most waiting, for programs.
Table single_table(const AttributionView& view) {
  Table table{"collective",
              "Single collectives",
              {parameter_column("step", "step"),
               parameter_column("group", "group"),
               parameter_column("index", "index"),
               parameter_column("kind", "kind"),
               measure_column("size_bytes", "size", Unit::bytes),
               measure_column("ranks", "ranks", Unit::count),
               measure_column("last_arriver", "last arriver", Unit::plain),
               time_column("wait_s", "wait"),
               time_column("transfer_s", "transfer"),
               time_column("spread_of_starts_s", "spread of starts"),
               time_column("spread_of_ends_s", "spread of ends"),
               time_column("shortest_s", "last arriver's duration"),
               measure_column("algorithm", "algorithm", Unit::plain),
               measure_column("protocol", "protocol", Unit::plain),
               measure_column("channels", "channels", Unit::count),
               time_column("network_wait_s", "network wait")}};
  for (const std::size_t i : listed_collectives(view.attribution)) {
    const CollectiveWait& one = view.attribution.collectives[i];
    const CollectiveTime time = collective_time(one);
    table.rows.push_back({{one.step < 0 ? Cell{} : Cell{std::to_string(one.step)},
                           one.group,
                           std::to_string(one.index),
                           kind_name(one),
                           one.bytes ? cell(static_cast<double>(*one.bytes)) : Cell{},
                           cell(static_cast<double>(one.participants.size())),
                           one.last_arriver ? rank_cell(*one.last_arriver) : Cell{},
                           cell(time.wait),
                           cell(time.transfer),
                           time_cell(one.spread_of_starts),
                           time_cell(one.spread_of_ends),
                           time_cell(one.shortest),
                           text_or_absent(one.algorithm),
                           text_or_absent(one.protocol),
                           one.channels ? cell(static_cast<double>(*one.channels)) : Cell{},
                           cell_or_absent(longest_network_wait(one))}});
  }
  table.columns[4].own_scale = true;
  for (const std::size_t column : {1U, 5U, 11U, 12U, 13U, 14U}) table.columns[column].detail = true;
  drop_empty_columns(table);
  limit_rows(table, "collectives");
  if (view.attribution.collectives.size() > most_collectives) {
    table.notes.push_back(fmt::format("Only the {} with the most waiting of {} are listed.",
                                      most_collectives,
                                      view.attribution.collectives.size()));
  }
  return table;
}

}  // namespace

Table kinds_table(const AttributionView& view) {
  Table table{"collective_kind",
              "Collectives by kind",
              {parameter_column("kind", "kind"),
               measure_column("count", "count", Unit::count),
               measure_column("size_bytes", "bytes", Unit::bytes),
               time_column("wait_s", "wait"),
               time_column("transfer_s", "transfer"),
               measure_column("waiting_share", "waiting", Unit::percent),
               time_column("shortest_s", "pure transfer"),
               measure_column("algbw_bytes_per_s", "algbw", Unit::bytes_per_second),
               time_column("spread_of_ends_s", "ends apart"),
               parameter_column("way", "way"),
               time_column("network_wait_s", "network")}};
  bool network_told = false;
  for (auto& [name, sum] : sums_by_kind(view.attribution)) {
    const double whole = sum.wait + sum.transfer;
    const bool sized = sum.with_bytes > 0;
    table.rows.push_back(
        {{name.first,
          cell(static_cast<double>(sum.count)),
          sized ? cell(sum.bytes) : Cell{},
          cell(sum.wait),
          cell(sum.transfer),
          whole > 0.0 ? cell(sum.wait / whole) : Cell{},
          cell_or_absent(median(sum.shortest)),
          sized && sum.seconds_with_bytes > 0.0 ? cell(sum.bytes / sum.seconds_with_bytes) : Cell{},
          cell_or_absent(median(sum.spread_of_ends)),
          text_or_absent(name.second),
          cell_or_absent(sum.network)}});
    network_told = network_told || sum.network;
  }
  for (const std::size_t column : {2U, 3U, 4U, 6U, 8U, 10U}) table.columns[column].own_scale = true;
  drop_empty_columns(table);
  table.notes.push_back(
      "Wait and transfer: summed over ranks, in all steps. Pure transfer: the last arriver's "
      "duration, median. Bytes and algbw: of the collectives whose size is known, one rank's "
      "buffer over the pure transfer. Ends apart (median): large values mean that the pairing or "
      "the clocks are wrong.");
  if (network_told) {
    table.notes.push_back(
        "Network: what NCCL's network operations waited for others than their own GPU, mean of "
        "each rank's operations, summed over ranks; a sender that came late is in it, as in the "
        "wait.");
  }
  return table;
}

Section collectives_section(const AttributionView& view) {
  Section section{"collectives", "Collectives: waiting told from transfer", {}, {}, {}};
  const auto& attribution = view.attribution;
  if (attribution.unmatched_collectives > 0) {
    section.lead.push_back(fmt::format(
        "{} communication kernels have no partner in these recordings; their whole time counts as "
        "transfer.",
        attribution.unmatched_collectives));
  }
  if (attribution.collectives.empty()) {
    section.lead.push_back(
        "No collective could be matched across ranks, so nothing can be said about waiting.");
    return section;
  }
  section.tables = {kinds_table(view), single_table(view)};
  return section;
}

}  // namespace scaleworth::report
