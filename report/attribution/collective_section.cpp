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

std::optional<std::string> if_said(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// The single collectives with the most waiting, for programs.
Table single_table(const AttributionView& view) {
  struct Single {
    const CollectiveWait& one;
    CollectiveTime time;
  };
  std::vector<Single> singles;
  for (const std::size_t i : listed_collectives(view.attribution)) {
    const CollectiveWait& one = view.attribution.collectives[i];
    singles.push_back({one, collective_time(one)});
  }
  const auto of = [](auto project) {
    return [project](const Single& row) { return as_cell(std::invoke(project, row.one)); };
  };
  const auto seconds = [](const char* id, const char* header) {
    return measure(id, header, Unit::seconds);
  };
  Table table = make_table<Single>(
      "collective",
      "Single collectives",
      singles,
      {{parameter("step", "step").if_present(),
        [](const Single& row) {
          return row.one.step < 0 ? Cell{} : Cell{std::to_string(row.one.step)};
        }},
       {parameter("group", "group").as_detail(), of(&CollectiveWait::group)},
       {parameter("index", "index"),
        [](const Single& row) { return std::to_string(row.one.index); }},
       {parameter("kind", "kind"), of(kind_name)},
       {measure("size_bytes", "size", Unit::bytes).in_own_scale().if_present(),
        of(&CollectiveWait::bytes)},
       {measure("ranks", "ranks", Unit::count).as_detail(),
        [](const Single& row) { return row.one.participants.size(); }},
       {measure("last_arriver", "last arriver").if_present(),
        [](const Single& row) {
          return row.one.last_arriver ? rank_cell(*row.one.last_arriver) : Cell{};
        }},
       {seconds("wait_s", "wait"), [](const Single& row) { return row.time.wait; }},
       {seconds("transfer_s", "transfer"), [](const Single& row) { return row.time.transfer; }},
       {seconds("spread_of_starts_s", "spread of starts"),
        of(time_of(&CollectiveWait::spread_of_starts))},
       {seconds("spread_of_ends_s", "spread of ends"),
        of(time_of(&CollectiveWait::spread_of_ends))},
       {seconds("shortest_s", "last arriver's duration").as_detail(),
        of(time_of(&CollectiveWait::shortest))},
       {measure("algorithm", "algorithm").as_detail().if_present(),
        [](const Single& row) { return if_said(row.one.algorithm); }},
       {measure("protocol", "protocol").as_detail().if_present(),
        [](const Single& row) { return if_said(row.one.protocol); }},
       {measure("channels", "channels", Unit::count).as_detail().if_present(),
        of(&CollectiveWait::channels)},
       {seconds("network_wait_s", "network wait").if_present(), of(longest_network_wait)}});
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
  struct Kind {
    KindAndWay name;
    KindSum sum;
  };
  std::vector<Kind> kinds;
  for (auto& [name, sum] : sums_by_kind(view.attribution)) kinds.push_back({name, sum});
  const auto seconds = [](const char* id, const char* header) {
    return measure(id, header, Unit::seconds).in_own_scale();
  };
  Table table = make_table<Kind>(
      "collective_kind",
      "Collectives by kind",
      kinds,
      {{parameter("kind", "kind"), [](const Kind& row) { return row.name.first; }},
       {measure("count", "count", Unit::count), [](const Kind& row) { return row.sum.count; }},
       {measure("size_bytes", "bytes", Unit::bytes).in_own_scale().if_present(),
        [](const Kind& row) {
          return row.sum.with_bytes > 0 ? std::optional(row.sum.bytes) : std::nullopt;
        }},
       {seconds("wait_s", "wait"), [](const Kind& row) { return row.sum.wait; }},
       {seconds("transfer_s", "transfer"), [](const Kind& row) { return row.sum.transfer; }},
       {measure("waiting_share", "waiting", Unit::percent).if_present(),
        [](const Kind& row) { return share_of(row.sum.wait, row.sum.wait + row.sum.transfer); }},
       {seconds("shortest_s", "pure transfer"),
        [](const Kind& row) { return median(row.sum.shortest); }},
       {measure("algbw_bytes_per_s", "algbw", Unit::bytes_per_second).if_present(),
        [](const Kind& row) { return share_of(row.sum.bytes, row.sum.seconds_with_bytes); }},
       {seconds("spread_of_ends_s", "ends apart"),
        [](const Kind& row) { return median(row.sum.spread_of_ends); }},
       {parameter("way", "way").if_present(),
        [](const Kind& row) { return if_said(row.name.second); }},
       {seconds("network_wait_s", "network").if_present(),
        [](const Kind& row) { return row.sum.network; }}});
  table.notes.push_back(
      "Wait and transfer: summed over ranks, in all steps. Pure transfer: the last arriver's "
      "duration, median. Bytes and algbw: of the collectives whose size is known, one rank's "
      "buffer over the pure transfer. Ends apart (median): large values mean that the pairing or "
      "the clocks are wrong.");
  if (std::ranges::any_of(kinds, [](const Kind& row) { return row.sum.network.has_value(); })) {
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
using attribution::ClassifiedTime;
using attribution::RankRecording;

/// Rank-steps left out of the averages, by reason.
Table excluded_table(const Attribution& attribution) {
  std::map<std::string, std::int64_t> reasons;
  for (const auto& ledger : attribution.ledger) {
    if (!ledger.excluded.empty()) ++reasons[ledger.excluded];
  }
  Table table{"excluded",
              "Steps that are not averaged",
              {parameter("what", "why"), measure("rank_steps", "steps x ranks", Unit::count)}};
  for (const auto& [reason, count] : reasons) table.rows.push_back({{reason, as_cell(count)}});
  limit_rows(table, "reasons");
  return table;
}

Table clocks_table(const attribution::ClockReport& clocks) {
  using Clock = attribution::ClockReport::RankClock;
  const auto if_known = [](std::optional<attribution::Nanoseconds> Clock::*time) {
    return [time](const Clock& row) { return row.*time ? time_cell(*(row.*time)) : Cell{}; };
  };
  Table table = make_table<Clock>(
      "clock",
      "Clocks",
      clocks.ranks,
      {{parameter("rank", "rank"), rank_of(&Clock::rank)},
       {measure("offset_s", "offset", Unit::seconds).in_own_scale(), time_of(&Clock::offset)},
       {measure("drift_ppm", "drift (ppm)"), &Clock::drift_ppm},
       {measure("residual_p50_s", "residual, median", Unit::seconds).in_own_scale(),
        if_known(&Clock::residual_p50)},
       {measure("residual_p95_s", "residual, 95 %", Unit::seconds).in_own_scale(),
        if_known(&Clock::residual_p95)},
       {measure("matches", "collectives used", Unit::count), &Clock::matches}});
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

const char* class_name(const ClassifiedTime& one) {
  return attribution::work_class_name(one.work_class);
}

Table classes_table(const Attribution& attribution) {
  double whole = 0.0;
  for (const auto& one : attribution.classes) whole += in_seconds(one.time);
  return make_table<ClassifiedTime>(
      "class",
      "Kernel time by class, summed over kernels",
      attribution.classes,
      {{parameter("class", "class"), class_name},
       {measure("kernels", "kernels", Unit::count), &ClassifiedTime::kernels},
       {measure("time_s", "time", Unit::seconds).in_own_scale(), time_of(&ClassifiedTime::time)},
       {measure("share", "share", Unit::percent),
        [whole](const ClassifiedTime& one) { return share_of(in_seconds(one.time), whole); }}});
}

Table largest_table(const Attribution& attribution) {
  using Name = std::pair<std::string, attribution::Nanoseconds>;
  const auto names = nested(attribution.classes, &ClassifiedTime::largest);
  return make_table(
      "largest_name",
      "Largest names; rules of your own move what is misplaced",
      names,
      {{parameter("class", "class"), class_name},
       {parameter("what", "kernel"), &Name::first},
       {measure("time_s", "time", Unit::seconds).in_own_scale(), time_of(&Name::second)}},
      {},
      [](const auto& row) {
        return std::get<0>(row.levels)->work_class != attribution::WorkClass::unclassified;
      });
}

/// Without the directory, which all recordings of a job usually share.
std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

Table recordings_table(const Attribution& attribution) {
  Table table = make_table<RankRecording>(
      "recording",
      "Recordings",
      attribution.recordings,
      {{parameter("rank", "rank"), rank_of(&RankRecording::rank)},
       {measure("file", "file"), [](const RankRecording& one) { return file_name(one.file); }},
       {measure("where", "where"), &RankRecording::where},
       {measure("rank_from", "rank from"), &RankRecording::rank_from},
       {measure("device_events", "GPU events", Unit::count), &RankRecording::device_events},
       {measure("host_events", "host events", Unit::count), &RankRecording::host_events}});
  limit_rows(table, "recordings");
  return table;
}

Table losses_table(const Attribution& attribution) {
  using Loss = std::pair<const std::string, std::int64_t>;
  Table table =
      make_table("loss",
                 "Lost or malformed",
                 nested(attribution.recordings, &RankRecording::losses),
                 {{parameter("rank", "rank"), rank_of(&RankRecording::rank)},
                  {parameter("what", "what"), [](const Loss& loss) { return words(loss.first); }},
                  {measure("amount", "amount", Unit::count), &Loss::second}});
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
