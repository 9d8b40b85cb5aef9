// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/sections/sections.h"
#include "report/document_parts.h"
#include "report/names.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace scaleworth::report {
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
