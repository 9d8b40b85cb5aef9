// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include <array>

namespace scaleworth::report {
namespace {
enum class Chosen {
  first,
  second,
  marked,        // `Row::chosen`
  last_of,       // the last that has `value` in the column `by`
  first_of_else  // the first that has it, else the first
};

/// Of each report those whose tables it has.
struct Tile {
  const char* table;
  Chosen row;
  const char* by;
  const char* value;
  const char* column;
  const char* label;
  const char* note_column;  // printed before `note`
  const char* note;
};

constexpr Tile of_part(const char* part, const char* column, const char* label) {
  return {"step_parts", Chosen::last_of, "part", part, column, label, "time_s", "of each step"};
}
constexpr Tile of_strong(const char* table,
                         const char* column,
                         const char* label,
                         const char* note_column = "ranks",
                         const char* note = "ranks") {
  return {table, Chosen::last_of, "mode", "strong", column, label, note_column, note};
}
constexpr Tile of_row(const char* table,
                      Chosen row,
                      const char* column,
                      const char* label,
                      const char* note_column,
                      const char* note = "") {
  return {table, row, "", "", column, label, note_column, note};
}
constexpr Tile of_format(const char* table,
                         const char* column,
                         const char* label,
                         const char* note) {
  return {table, Chosen::first_of_else, "precision", "bf16", column, label, "precision", note};
}

constexpr std::array tile_list{
    Tile{"step_parts",
         Chosen::last_of,
         "part",
         "step",
         "time_s",
         "Step time",
         "",
         "mean over ranks"},
    of_part("compute", "share", "Compute"),
    of_part("exposed transfer", "share", "Exposed transfer"),
    of_part("exposed wait", "share", "Waiting for a late rank"),
    of_part("host late", "share", "Host late"),
    of_row("straggler", Chosen::marked, "lost_usd_per_hour", "Lost per hour", "unit"),
    of_row("efficiency",
           Chosen::first,
           "factor",
           "Parallel efficiency",
           "",
           "computing over all GPU time"),
    of_row("what_if", Chosen::first, "saved_share", "Largest predicted gain", "what"),
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
    Tile{"gpu_memory_levels", Chosen::last_of, "kernel", "copy", "rate", "Memory", "level", "copy"},
    of_row("utilisation", Chosen::first, "mfu", "MFU", "peak"),
    of_row("utilisation", Chosen::first, "hfu", "HFU", "", "with what is computed again"),
    of_row("training", Chosen::first, "cost_usd", "Cost", "tokens", "trained tokens"),
    of_row("training", Chosen::second, "days", "Training", "tokens", "tokens"),
    of_row("training", Chosen::second, "cost_usd", "Cost of the training", "tokens", "tokens"),
    of_row(
        "batches", Chosen::marked, "output_tokens_per_s", "Output", "batch", "requests at a time"),
    of_row("batches",
           Chosen::marked,
           "time_per_output_token_s",
           "Time per output token",
           "",
           "as a client sees it"),
    of_row(
        "batches", Chosen::marked, "time_to_first_token_s", "First token", "", "without a queue"),
    of_row("batches",
           Chosen::marked,
           "per_million_output_tokens_usd",
           "Million output tokens",
           "",
           "at full load"),
    of_row("batches",
           Chosen::marked,
           "per_million_input_tokens_usd",
           "Million input tokens",
           "",
           "at full load"),
    of_row("batches",
           Chosen::marked,
           "break_even_utilisation",
           "Break-even with the API",
           "",
           "utilisation"),
    of_row("pairs", Chosen::first, "parameters_1e9", "Parameters", "law"),
    of_row("pairs", Chosen::first, "tokens_1e9", "Tokens", "law"),
    of_row("pairs", Chosen::first, "tokens_per_parameter", "Tokens per parameter", "law")};

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
  if (tile.row == Chosen::second && rows > 1) found = 1;
  if ((tile.row == Chosen::first || tile.row == Chosen::first_of_else) && rows > 0) found = 0;
  for (std::size_t i = 0; i < rows && tile.row > Chosen::second; ++i) {
    // Backwards where the last one counts first.
    const std::size_t row = tile.row == Chosen::last_of ? rows - 1 - i : i;
    if (tile.row == Chosen::marked ? printed.chosen[row]
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
