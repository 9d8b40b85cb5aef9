// SPDX-License-Identifier: Apache-2.0
/// Rows of one count: repeats of one measurement, or several programs, machines or layouts.
#include "src/cli/input/table_input.h"
#include "src/core/files/toml_table.h"

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

/// The rows of a table by the number in the column of the count.
struct CountedRows {
  const RawTable& table;
  const ChosenColumns& chosen;
  std::size_t count = 0;
  std::optional<std::size_t> per_node;
  std::optional<std::size_t> repeat;

  std::string counted(const RawRow& row) const {
    const std::string text = cell_text(row.cells[count]);
    const auto value = cell_number(text, table.comma);
    if (!value) return text;
    // Two nodes of four and one of eight are two layouts of one count.
    const auto of_each = per_node ? cell_number(cell_text(row.cells[*per_node]), table.comma)
                                  : std::optional<CellNumber>();
    return fmt::format("{}", value->value * (of_each ? of_each->value : 1.0));
  }

  std::size_t different_counts(const std::vector<const RawRow*>& rows) const {
    std::set<std::string> counts;
    for (const RawRow* row : rows) counts.insert(counted(*row));
    return counts.size();
  }

  /// By whichever column counts most.
  std::size_t most_counts(const std::vector<const RawRow*>& rows) const {
    std::size_t most = different_counts(rows);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (counts_machines(table, i)) most = std::max(most, different_cells(rows, i));
    return most;
  }

  std::size_t different_cells(const std::vector<const RawRow*>& rows, std::size_t column) const {
    std::set<std::string> cells;
    for (const RawRow* row : rows) cells.insert(cell_text(row->cells[column]));
    return cells.size();
  }

  /// Whether rows of one count are told apart by another column that counts: by threads, where all
  /// have one process.
  bool counted_otherwise(const std::vector<const RawRow*>& rows) const {
    if (rows.size() < 2 || different_counts(rows) > 1) return false;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (counts_machines(table, i) && different_cells(rows, i) == rows.size()) return true;
    return false;
  }

  /// What names each row by itself, in words, or behind its count: "1 (no threads)".
  std::optional<std::size_t> names_of_rows() const {
    if (!per_node && values_of(table, count).size() == table.rows.size()) return count;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      constexpr std::ptrdiff_t word = 5;  // letters, more than a unit has
      const bool words = std::ranges::all_of(table.rows, [&](const RawRow& row) {
        const std::string cell = cell_text(row.cells[i]);
        const auto letters =
            std::ranges::count_if(cell, [](unsigned char c) { return std::isalpha(c) != 0; });
        return letters >= word || (letters > 0 && !has_digit(cell));
      });
      if (!chosen.columns[i] && words && values_of(table, i).size() == table.rows.size()) return i;
    }
    return std::nullopt;
  }

  /// Whether two rows of one count differ in `column`, which is no measurement and no name of each
  /// row by itself, such as the time of its start.
  bool divides(std::size_t column, const std::vector<const RawRow*>& rows) const {
    const auto& meaning = chosen.columns[column];
    const bool measured =
        (meaning && meaning->meaning <= Meaning::latency && meaning->meaning != Meaning::work &&
         meaning->meaning != Meaning::per_node) ||
        has_word("money", all_header_words(table.columns[column])) ||
        has_word("usage", all_header_words(table.columns[column]));
    if (measured || table.columns[column].empty()) return false;
    if (values_of(table, column).size() == table.rows.size()) return false;
    std::map<std::string, std::string> seen;
    return std::ranges::any_of(rows, [&](const RawRow* row) {
      const std::string text = cell_text(row->cells[column]);
      return seen.emplace(counted(*row), text).first->second != text;
    });
  }

  /// A column of words, each of several rows, that still differs: names of data, of programs.
  std::optional<std::size_t> program_of(const std::vector<const RawRow*>& rows) const {
    for (const std::size_t column : by_name(table)) {
      const auto& meaning = chosen.columns[column];
      const bool measured = meaning && meaning->meaning <= Meaning::latency;
      if (has_numbers(table, column) || measured ||
          2 * values_of(table, column).size() > table.rows.size())
        continue;
      if (like(rows, *rows.front(), column).size() < rows.size()) return column;
    }
    return std::nullopt;
  }

  /// The rows that have what `wanted` has in a column.
  std::vector<const RawRow*> like(const std::vector<const RawRow*>& rows,
                                  const RawRow& wanted,
                                  std::size_t column) const {
    std::vector<const RawRow*> kept;
    const std::string text = cell_text(wanted.cells[column]);
    std::ranges::copy_if(rows, std::back_inserter(kept), [&](const RawRow* row) {
      return cell_text(row->cells[column]) == text;
    });
    return kept;
  }

  /// Conditions by which rows are of one program, as `wanted` is: by what names a program or a
  /// machine first, then by words, then by the number that leaves most counts. `rows` are then
  /// those that have it.
  std::vector<std::string> conditions(const RawRow& wanted,
                                      std::vector<const RawRow*>& rows) const {
    std::vector<std::string> where;
    while (!counted_otherwise(rows)) {
      std::optional<std::size_t> best;
      std::tuple<bool, bool, bool, bool, std::size_t> best_rank;
      for (const std::size_t column : by_name(table)) {
        if (!divides(column, rows) || cell_text(wanted.cells[column]).empty()) continue;
        const auto& meaning = chosen.columns[column];
        const bool words = std::ranges::any_of(table.rows, [&](const RawRow& row) {
          const std::string text = cell_text(row.cells[column]);
          return !is_missing(row.cells[column]) && !cell_number(text, table.comma);
        });
        const bool named = std::ranges::any_of(
            all_header_words(table.columns[column]), [](const std::string& word) {
              const ColumnName* const known = column_named(word);
              return known && known->meaning == Meaning::identity && !thing_of(word);
            });
        const std::tuple rank(named || (meaning && meaning->meaning == Meaning::identity),
                              words,
                              has_word("size", all_header_words(table.columns[column])) ||
                                  has_word("manner", all_header_words(table.columns[column])),
                              !is_unnamed(table.columns[column]),
                              different_counts(like(rows, wanted, column)));
        if (best && rank <= best_rank) continue;
        best = column;
        best_rank = rank;
      }
      if (!best) best = program_of(rows);
      if (!best) return where;
      where.push_back(table.columns[*best] + "=" + without_marks(cell_text(wanted.cells[*best])));
      rows = like(rows, wanted, *best);
    }
    return where;
  }
};
}  // namespace

bool grows_in_each_row(const RawTable& table, const ChosenColumns& chosen) {
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    const auto& column = chosen.columns[i];
    const bool identity = column && column->meaning == Meaning::identity;
    if (identity && table.rows.size() > 2 && values_of(table, i).size() == table.rows.size())
      return true;
  }
  return false;
}

std::optional<Finding> identity_remark(const RawTable& table, const ChosenColumns& chosen) {
  std::optional<std::size_t> first;  // as the column table lists what names a program
  std::vector<std::string> values;
  for (const std::size_t i : by_name(table)) {
    const auto& column = chosen.columns[i];
    if (!column || column->meaning != Meaning::identity) continue;
    if (first && chosen.columns[*first]->choice <= column->choice) continue;
    std::vector<std::string> own = values_of(table, i);
    if (own.size() < 2) continue;
    first = i;
    values = std::move(own);
  }
  if (!first) return std::nullopt;
  const std::string column = printable(table.columns[*first]);
  return Finding(FindingId::programs_differ, column, first_names(values, 4));
}

std::optional<RepeatedCount> repeated_count(const RawTable& table, const ChosenColumns& chosen) {
  CountedRows counted{table, chosen, 0, {}, {}};
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    if (!chosen.columns[i]) continue;
    if (chosen.columns[i]->meaning == Meaning::repeat) counted.repeat = i;
    if (chosen.columns[i]->meaning == Meaning::count) counted.count = i;
    if (chosen.columns[i]->meaning == Meaning::per_node) counted.per_node = i;
  }
  std::unordered_map<std::string, const RawRow*> seen;
  std::vector<const RawRow*> all;
  std::optional<RepeatedCount> clash;
  for (const RawRow& row : table.rows) {
    all.push_back(&row);
    const std::string repeat = counted.repeat ? cell_text(row.cells[*counted.repeat]) : "";
    const auto [first, added] = seen.emplace(counted.counted(row) + "#" + repeat, &row);
    if (added) continue;
    if (!clash) {
      clash.emplace();
      clash->what = fmt::format("{} and {} have the same count, {}",
                                first->second->place,
                                row.place,
                                printable(counted.counted(row)));
    }
  }
  if (!clash) return clash;
  // Where one count alone stands several times, and each row has a name, one of its rows is kept.
  if (const auto names = counted.names_of_rows()) {
    std::map<std::string, std::vector<const RawRow*>> by_count;
    for (const RawRow* row : all) by_count[counted.counted(*row)].push_back(row);
    std::vector<const RawRow*> alike;
    std::size_t several = 0;
    for (const auto& [count, rows] : by_count) {
      if (rows.size() < 2) continue;
      ++several;
      alike = rows;
    }
    const bool one_count = several == 1 && 2 * alike.size() <= all.size() + 2;
    for (std::size_t kept = 0; one_count && kept < alike.size(); ++kept) {
      auto& where = clash->ways.emplace_back();
      for (std::size_t other = 0; other < alike.size(); ++other)
        if (other != kept)
          where.push_back(table.columns[*names] +
                          "!=" + without_marks(cell_text(alike[other]->cells[*names])));
    }
    if (!clash->ways.empty()) return clash;
  }
  constexpr std::size_t most_ways = 24;
  std::vector<const RawRow*> rest = all;
  struct Way {
    std::size_t counts = 0;  // that are left
    std::size_t rows = 0;
    std::vector<std::string> where;
  };
  std::vector<Way> ways;
  while (!rest.empty() && ways.size() < most_ways) {
    std::vector<const RawRow*> kept = all;
    auto where = counted.conditions(*rest.front(), kept);
    if (where.empty()) return clash;
    const std::size_t before = rest.size();
    std::erase_if(rest, [&](const RawRow* one) { return std::ranges::count(kept, one) > 0; });
    if (rest.size() == before) break;
    const std::size_t counts = counted.most_counts(kept);
    if (counts > 1) ways.push_back({counts, kept.size(), std::move(where)});
  }
  std::ranges::stable_sort(ways, std::greater{}, &Way::counts);
  if (ways.empty()) return clash;
  // Most of the rows, and no others have three counts.
  const bool clear = ways[0].counts > 2 && 2 * ways[0].rows >= all.size();
  if (clear && ways.size() > 1 && ways[1].counts < 3) ways.resize(1);
  const std::string condition = ways.front().where.front();
  const std::string column = condition.substr(0, condition.find('='));
  clash->what +=
      fmt::format("; they differ in '{}' ({})",
                  printable(column),
                  first_names(mapped(values_of(table, column, "--where"), without_marks)));
  clash->curves = rest.empty();
  clash->ways = mapped(ways, &Way::where);
  return clash;
}
}  // namespace scaleworth::cli
