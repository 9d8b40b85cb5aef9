// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/summary/parts.h"
#include "report/summary/select.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scaleworth::report {

Section step_summary(const Document& full) {
  Section section{"step", "", {}, {}, {}};
  const Table* times = find_table(full, "step_times");
  if (!times) {
    return section;
  }
  section.tables.push_back(pick(*times,
                                {{"mode", "Training step"},
                                 {"ranks", "ranks"},
                                 {"step_time", "step"},
                                 {"speedup", "speed-up"},
                                 {"efficiency", "efficiency"}}));
  if (const Table* utilisation = find_table(full, "model_flop_utilisation")) {
    join(section.tables.front(),
         *utilisation,
         {"mode", "ranks"},
         {"mfu_measured", "MFU of ceiling"});
  }
  if (const Table* shares = find_table(full, "step_shares")) {
    std::vector<Pick> picks{{"mode", "Where it goes"}, {"ranks", "ranks"}};
    for (const Column& column : shares->columns) {
      const bool part = column.id.starts_with("share_") && column.id != "share_sum";
      const std::size_t prefix = column.header.starts_with("exposed ") ? 8 : 0;
      if (part) {
        picks.push_back({column.id, column.header.substr(prefix)});
      }
    }
    Table parts = pick(*shares, picks);
    for (Column& column : parts.columns) {
      column.own_scale = column.unit == Unit::percent;
    }
    section.tables.push_back(std::move(parts));
  }
  return section;
}

namespace {

/// The size that all rows share, in words where they do not.
std::string common_size(const Table& ends, const std::string& column) {
  const std::size_t at = column_of(ends, column);
  const auto* size =
      ends.rows.empty() ? nullptr : std::get_if<Number>(&ends.rows.front().cells[at]);
  const bool common = size && std::all_of(ends.rows.begin(), ends.rows.end(), [&](const Row& row) {
                        const auto* other = std::get_if<Number>(&row.cells[at]);
                        return other && other->value == size->value;
                      });
  return common ? format_quantity(*size, Unit::bytes)
                : column.substr(0, column.find('_')) + " size";
}

/// All rows are of the same count: it moves from its column into the first header.
void name_ranks_once(Table& table) {
  const auto at = static_cast<std::ptrdiff_t>(column_of(table, "ranks"));
  if (table.rows.empty()) {
    return;
  }
  const auto& ranks = std::get<Number>(table.rows.front().cells[static_cast<std::size_t>(at)]);
  table.columns.front().header = "Among " + ranks_phrase(static_cast<int>(ranks.value));
  table.columns.erase(table.columns.begin() + at);
  for (Row& row : table.rows) {
    row.cells.erase(row.cells.begin() + at);
  }
}

}  // namespace

Section communication_summary(const Document& full) {
  Section section{"communication", "", {}, {}, {}};
  const Table* fits = find_table(full, "collective_fits");
  const Table* ends = find_table(full, "collective_ends");
  if (!fits || !ends) {
    return section;
  }
  Table isolated = *fits;
  const std::size_t mode = column_of(isolated, "mode");
  std::erase_if(isolated.rows, [mode](const Row& row) {
    return std::get<std::string>(row.cells[mode]) != "isolated";
  });
  Table table =
      pick(*ends,
           {{"collective", "Communication"},
            {"ranks", "ranks"},
            {"latency_isolated", common_size(*ends, "smallest_bytes") + " isolated"},
            {"busbw_back_to_back", "back-to-back busbw, " + common_size(*ends, "largest_bytes")}});
  const std::vector<std::string> keys{"collective", "ranks"};
  join(table, isolated, keys, {"alpha", "alpha"});
  join(table, isolated, keys, {"inverse_beta", "1/beta"});
  join(table, isolated, keys, {"held_out_error", "fit error"});
  name_ranks_once(table);
  section.tables.push_back(std::move(table));
  return section;
}

Section nccl_summary(const Document& full) {
  Section section{"nccl", "", {}, {}, {}};
  const Table* choice = find_table(full, "nccl_choice");
  if (!choice) {
    return section;
  }
  Table whole = *choice;
  const std::size_t what = column_of(whole, "what");
  std::erase_if(whole.rows, [what](const Row& row) {
    return !std::get<std::string>(row.cells[what]).ends_with("all ranks");
  });
  if (whole.rows.empty()) {
    return section;
  }
  Table table = pick(whole,
                     {{"what", "NCCL"},
                      {"collective", "collective"},
                      {"ranks", "GPUs"},
                      {"latency", "time of smallest"},
                      {"busbw", "busbw, " + common_size(whole, "largest_bytes")},
                      {"ran", "ran"}});
  if (const Table* predictions = find_table(full, "nccl_predictions")) {
    join(table, *predictions, {"what", "collective", "ranks"}, {"library_error", "NCCL's error"});
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace scaleworth::report
