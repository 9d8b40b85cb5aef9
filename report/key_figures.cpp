// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include <array>

namespace scaleworth::report {
namespace {
/// Of each report those whose tables it has.
struct Tile {
  enum Choice {
    first,
    second,
    marked,        // `Row::chosen`
    last_of,       // the last that has `value` in the column `by`
    first_of_else  // the first that has it, else the first
  };

  const char* table;
  Choice row;
  const char* by;
  const char* value;
  const char* column;
  const char* label;
  const char* note_column;  // printed before `note`
  const char* note;
};

constexpr Tile of_part(const char* part, const char* column, const char* label) {
  return {"step_parts", Tile::last_of, "part", part, column, label, "time_s", "of each step"};
}
constexpr Tile of_strong(const char* table,
                         const char* column,
                         const char* label,
                         const char* note_column = "ranks",
                         const char* note = "ranks") {
  return {table, Tile::last_of, "mode", "strong", column, label, note_column, note};
}
constexpr Tile of_format(const char* table,
                         const char* column,
                         const char* label,
                         const char* note) {
  return {table, Tile::first_of_else, "precision", "bf16", column, label, "precision", note};
}
constexpr Tile of_batch(const char* column, const char* label, const char* note) {
  return {"batches", Tile::marked, "", "", column, label, "", note};
}
constexpr Tile of_pair(const char* column, const char* label) {
  return {"pairs", Tile::first, "", "", column, label, "law", ""};
}

constexpr std::array tile_list{
    Tile{"step_parts", Tile::last_of, "part", "step", "time_s", "Step time", "", "mean over ranks"},
    of_part("compute", "share", "Compute"),
    of_part("exposed transfer", "share", "Exposed transfer"),
    of_part("exposed wait", "share", "Waiting for a late rank"),
    of_part("host late", "share", "Host late"),
    Tile{"straggler", Tile::marked, "", "", "lost_usd_per_hour", "Lost per hour", "unit", ""},
    Tile{"efficiency",
         Tile::first,
         "",
         "",
         "factor",
         "Parallel efficiency",
         "",
         "computing over all GPU time"},
    Tile{"what_if", Tile::first, "", "", "saved_share", "Largest predicted gain", "what", ""},
    of_strong("step_times", "step_time", "Step time"),
    of_strong("step_times", "efficiency", "Efficiency"),
    of_strong("step_times", "tokens_per_second", "Throughput"),
    of_strong("step_shares", "share_exposed_transfer", "Exposed transfer"),
    of_strong("step_shares", "share_exposed_wait", "Waiting for a late rank"),
    of_strong("model_flop_utilisation", "mfu_measured", "MFU", "", "of the measured ceiling"),
    of_strong("scaling_laws", "cost_optimal_ranks", "K*, the count of least cost", "law", ""),
    of_strong("costs", "cost_per_million_tokens", "A million tokens"),
    of_format("gpu_formats", "steady", "Matrix products", "steady"),
    of_format("gpu_conditions", "of_datasheet", "Of the datasheet", ""),
    Tile{"gpu_memory_levels", Tile::last_of, "kernel", "copy", "rate", "Memory", "level", "copy"},
    Tile{"utilisation", Tile::first, "", "", "mfu", "MFU", "peak", ""},
    Tile{"utilisation", Tile::first, "", "", "hfu", "HFU", "", "with what is computed again"},
    Tile{"training", Tile::first, "", "", "cost_usd", "Cost", "tokens", "trained tokens"},
    Tile{"training", Tile::second, "", "", "days", "Training", "tokens", "tokens"},
    Tile{"training", Tile::second, "", "", "cost_usd", "Cost of the training", "tokens", "tokens"},
    Tile{"batches",
         Tile::marked,
         "",
         "",
         "output_tokens_per_s",
         "Output",
         "batch",
         "requests at a time"},
    of_batch("time_per_output_token_s", "Time per output token", "as a client sees it"),
    of_batch("time_to_first_token_s", "First token", "without a queue"),
    of_batch("per_million_output_tokens_usd", "Million output tokens", "at full load"),
    of_batch("per_million_input_tokens_usd", "Million input tokens", "at full load"),
    of_batch("break_even_utilisation", "Break-even with the API", "utilisation"),
    of_pair("parameters_1e9", "Parameters"),
    of_pair("tokens_1e9", "Tokens"),
    of_pair("tokens_per_parameter", "Tokens per parameter")};

/// "61.3 ms"; empty for a column that is not there or a value that is absent.
std::string printed_cell(const Printed& printed, std::size_t row, std::string_view column) {
  const auto found = std::ranges::find(printed.ids, column);
  if (found == printed.ids.end()) return "";
  const auto c = static_cast<std::size_t>(found - printed.ids.begin());
  const std::string& text = printed.rows[row][c];
  if (text == "n/a") return "";
  return printed.units[c].empty() ? text : text + " " + printed.units[c];
}

/// Absent where the table has no such row.
std::optional<std::size_t> row_of(const Printed& printed, const Tile& tile) {
  const std::size_t rows = printed.rows.size();
  std::optional<std::size_t> found;
  if (tile.row == Tile::second && rows > 1) found = 1;
  if ((tile.row == Tile::first || tile.row == Tile::first_of_else) && rows > 0) found = 0;
  for (std::size_t i = 0; i < rows && tile.row > Tile::second; ++i) {
    // Backwards where the last one counts first.
    const std::size_t row = tile.row == Tile::last_of ? rows - 1 - i : i;
    if (tile.row == Tile::marked ? printed.chosen[row]
                                 : printed_cell(printed, row, tile.by) == tile.value)
      return row;
  }
  return found;
}

const Table* find_table(const Document& document, const std::string& id) {
  for (const Section& section : document.sections)
    if (const Table* found = find_in(section.tables, id, &Table::id)) return found;
  return nullptr;
}
}  // namespace

std::vector<KeyFigure> key_figures(const Document& document) {
  std::vector<KeyFigure> figures;
  for (const Tile& tile : tile_list) {
    const Table* table = find_table(document, tile.table);
    if (!table) continue;
    const Printed printed = print_table(*table, only_detail(*table));
    const auto row = row_of(printed, tile);
    const std::string value = row ? printed_cell(printed, *row, tile.column) : "";
    if (value.empty()) continue;
    std::string note = printed_cell(printed, *row, tile.note_column);
    if (!note.empty() && *tile.note != '\0') note += ' ';
    figures.push_back({tile.label, value, note + tile.note});
  }
  return figures;
}
}  // namespace scaleworth::report
