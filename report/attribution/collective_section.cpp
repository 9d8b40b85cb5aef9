// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/document.h"
#include "report/names.h"
#include "src/core/statistics/sample_statistics.h"

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
  bool network_reported = false;
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
    network_reported = network_reported || sum.network;
  }
  for (const std::size_t column : {2U, 3U, 4U, 6U, 8U, 10U}) table.columns[column].own_scale = true;
  drop_empty_columns(table);
  table.notes.push_back(
      "Wait and transfer: summed over ranks, in all steps. Pure transfer: the last arriver's "
      "duration, median. Bytes and algbw: of the collectives whose size is known, one rank's "
      "buffer over the pure transfer. Ends apart (median): large values mean that the pairing or "
      "the clocks are wrong.");
  if (network_reported) {
    table.notes.push_back(
        "Network: what NCCL's network operations waited for others than their own GPU, mean of "
        "each rank's operations, summed over ranks; a sender that came late is in it, as in the "
        "wait.");
  }
  return table;
}

Section collectives_section(const AttributionView& view) {
  Section section{"collectives", "Collectives: waiting and transfer", {}, {}, {}};
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

namespace {
using attribution::Attribution;

/// Rank-steps left out of the averages, by reason.
Table excluded_table(const Attribution& attribution) {
  std::map<std::string, std::int64_t> reasons;
  for (const auto& ledger : attribution.ledger) {
    if (!ledger.excluded.empty()) ++reasons[ledger.excluded];
  }
  Table table{"excluded",
              "Steps that are not averaged",
              {parameter_column("what", "why"),
               measure_column("rank_steps", "steps x ranks", Unit::count)}};
  for (const auto& [reason, count] : reasons) {
    table.rows.push_back({{reason, cell(static_cast<double>(count))}});
  }
  limit_rows(table, "reasons");
  return table;
}

Table clocks_table(const attribution::ClockReport& clocks) {
  Table table{"clock",
              "Clocks",
              {parameter_column("rank", "rank"),
               time_column("offset_s", "offset"),
               measure_column("drift_ppm", "drift (ppm)", Unit::plain),
               time_column("residual_p50_s", "residual, median"),
               time_column("residual_p95_s", "residual, 95 %"),
               measure_column("matches", "collectives used", Unit::count)}};
  for (const auto& clock : clocks.ranks) {
    table.rows.push_back({{rank_cell(clock.rank),
                           time_cell(clock.offset),
                           cell(clock.drift_ppm),
                           clock.residual_p50 ? time_cell(*clock.residual_p50) : Cell{},
                           clock.residual_p95 ? time_cell(*clock.residual_p95) : Cell{},
                           cell(static_cast<double>(clock.matches))}});
  }
  for (const std::size_t column : {1U, 3U, 4U}) table.columns[column].own_scale = true;
  limit_rows(table, "ranks");
  return table;
}

std::string clocks_sentence(const attribution::ClockReport& clocks) {
  std::string text = fmt::format("Clocks: error bar of every wait {}",
                                 format_quantity(number(in_seconds(clocks.error)), Unit::seconds));
  if (!clocks.method.empty()) text += ", " + clocks.method;
  text += ".";
  if (clocks.causality_violations > 0) {
    text += fmt::format(" {} ends still lie before the last begin by more than that.",
                        clocks.causality_violations);
  }
  if (!clocks.comparable) text += " Clocks are not comparable: " + clocks.reason + ".";
  return text;
}

Table classes_table(const Attribution& attribution) {
  double whole = 0.0;
  for (const auto& one : attribution.classes) whole += in_seconds(one.time);
  Table table{"class",
              "Kernel time by class, summed over kernels",
              {parameter_column("class", "class"),
               measure_column("kernels", "kernels", Unit::count),
               time_column("time_s", "time"),
               measure_column("share", "share", Unit::percent)}};
  for (const auto& one : attribution.classes) {
    const double time = in_seconds(one.time);
    table.rows.push_back({{std::string(attribution::work_class_name(one.work_class)),
                           cell(static_cast<double>(one.kernels)),
                           cell(time),
                           whole > 0.0 ? cell(time / whole) : Cell{}}});
  }
  table.columns[2].own_scale = true;
  return table;
}

Table largest_table(const Attribution& attribution) {
  Table table{"largest_name",
              "Largest names; rules of your own move what is misplaced",
              {parameter_column("class", "class"),
               parameter_column("what", "kernel"),
               time_column("time_s", "time")}};
  for (const auto& one : attribution.classes) {
    for (const auto& [name, time] : one.largest) {
      table.rows.push_back(
          {{std::string(attribution::work_class_name(one.work_class)), name, time_cell(time)},
           one.work_class != attribution::WorkClass::unclassified});
    }
  }
  table.columns[2].own_scale = true;
  return table;
}

/// Without the directory, which all recordings of a job usually share.
std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

Table recordings_table(const Attribution& attribution) {
  Table table{"recording",
              "Recordings",
              {parameter_column("rank", "rank"),
               measure_column("file", "file", Unit::plain),
               measure_column("where", "where", Unit::plain),
               measure_column("rank_from", "rank from", Unit::plain),
               measure_column("device_events", "GPU events", Unit::count),
               measure_column("host_events", "host events", Unit::count)}};
  for (const auto& recording : attribution.recordings) {
    table.rows.push_back({{rank_cell(recording.rank),
                           file_name(recording.file),
                           recording.where,
                           recording.rank_from,
                           cell(static_cast<double>(recording.device_events)),
                           cell(static_cast<double>(recording.host_events))}});
  }
  limit_rows(table, "recordings");
  return table;
}

Table losses_table(const Attribution& attribution) {
  Table table{"loss",
              "Lost or malformed",
              {parameter_column("rank", "rank"),
               parameter_column("what", "what"),
               measure_column("amount", "amount", Unit::count)}};
  for (const auto& recording : attribution.recordings) {
    for (const auto& [what, amount] : recording.losses) {
      table.rows.push_back(
          {{rank_cell(recording.rank), words(what), cell(static_cast<double>(amount))}});
    }
  }
  limit_rows(table, "losses");
  return table;
}
}  // namespace

Section evidence_section(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  Section section{"evidence", "What this rests on", {}, attribution.remarks, {}};
  const auto& choice = attribution.step_choice;
  section.lead.push_back(fmt::format("Steps: {}{} found, {} not averaged.",
                                     choice.sentence.empty() ? "" : choice.sentence + " ",
                                     choice.steps,
                                     choice.excluded));
  section.lead.push_back(clocks_sentence(attribution.clocks));
  section.tables = {excluded_table(attribution),
                    clocks_table(attribution.clocks),
                    classes_table(attribution),
                    largest_table(attribution),
                    recordings_table(attribution),
                    losses_table(attribution)};
  drop_empty_tables(section);
  return section;
}
}  // namespace scaleworth::report
