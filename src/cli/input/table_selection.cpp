// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

constexpr std::size_t most_named = 12;
constexpr std::size_t few_named = 4;

std::string first_names(std::vector<std::string> names, std::size_t most = most_named) {
  std::erase(names, "");
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

/// "params=16B" at its first "=".
std::pair<std::string, std::string> halves(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError("{} {}: write it as COLUMN=VALUE", option, printable(text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::size_t column_of(const RawTable& table, const std::string& name, const char* option) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  throw UserError("{} {}: no such column in {}; it has {}",
                  option,
                  printable(name),
                  table.file,
                  first_names(table.columns));
}

/// Columns by name: what is chosen among several does not depend on where they stand.
std::vector<std::size_t> by_name(const RawTable& table) {
  std::vector<std::size_t> order(table.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return table.columns[i]; });
  return order;
}

bool same_cell(const RawCell& cell, const std::string& wanted) {
  const std::string text = cell_text(cell);
  if (text == wanted) return true;
  const auto number = parse_number<double>(text);
  return number && number == parse_number<double>(wanted);
}

std::vector<std::string> values_of(const RawTable& table, std::size_t column) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const RawRow& row : table.rows) {
    const std::string text = cell_text(row.cells[column]);
    if (seen.insert(text).second) values.push_back(text);
  }
  return values;
}

void keep_rows(RawTable& table, const std::string& condition) {
  const auto halved = halves(condition, "--where");
  const std::string& name = halved.first;
  const std::string& wanted = halved.second;  // no binding: clang 14 captures none
  const std::size_t column = column_of(table, name, "--where");
  const std::vector<std::string> values = values_of(table, column);
  std::erase_if(table.rows,
                [&](const RawRow& row) { return !same_cell(row.cells[column], wanted); });
  if (!table.rows.empty()) return;
  throw UserError("--where {}: no row has it; {} is {}",
                  printable(condition),
                  printable(name),
                  first_names(values));
}

/// The least `choice` of each meaning that several columns may have, of which one is taken.
std::map<Meaning, std::size_t> best_choices(const Columns& columns) {
  std::map<Meaning, std::size_t> best;
  for (const auto& column : columns) {
    if (!column) continue;
    if (column->meaning != Meaning::count && column->meaning != Meaning::throughput) continue;
    std::size_t& least = best.emplace(column->meaning, column->choice).first->second;
    least = std::min(least, column->choice);
  }
  return best;
}

/// Beside a time a rate says the work, and FLOPs count what differs between models, too.
void prefer_flops_beside_time(Columns& columns) {
  const bool timed = std::any_of(columns.begin(), columns.end(), [](const auto& column) {
    return column && column->meaning == Meaning::time;
  });
  for (auto& column : columns)
    if (timed && column && column->flops) column->choice = 0;
}

void check_complete(const std::set<Meaning>& meanings, const RawTable& table) {
  const bool timed =
      std::ranges::any_of(std::array{Meaning::time, Meaning::compute, Meaning::throughput},
                          [&](Meaning meaning) { return meanings.contains(meaning); });
  if (meanings.contains(Meaning::count) && timed) return;
  throw UserError(
      "{}: the table needs a column for {}; it has {}; name one so by --rename COLUMN={}",
      table.place,
      timed ? "the count, as p" : "the time, as time_s, or a throughput, as tokens_per_s",
      first_names(table.columns),
      timed ? "p" : "time_s");
}

/// "params" and "22B", of a column by which two rows differ and that is no measurement: what names
/// a program or a machine first, then by name.
std::pair<std::string, std::string> difference(const RawTable& table,
                                               const ChosenColumns& chosen,
                                               const RawRow& one,
                                               const RawRow& other) {
  std::vector<std::size_t> order = by_name(table);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const auto& column = chosen.columns[i];
    const bool identity = column && column->meaning == Meaning::identity;
    return std::pair(!identity, identity ? column->choice : 0);
  });
  for (const std::size_t i : order) {
    const bool measured = chosen.columns[i] && chosen.columns[i]->meaning <= Meaning::latency;
    const bool index = table.columns[i].empty();
    if (measured || index || one.cells[i] == other.cells[i]) continue;
    if (std::holds_alternative<std::monostate>(one.cells[i])) continue;
    return {printable(table.columns[i]), printable(cell_text(one.cells[i]))};
  }
  return {};
}
}  // namespace

RawTable select(RawTable table, const TableSelection& selection) {
  for (const std::string& condition : selection.where) keep_rows(table, condition);
  for (const std::string& renaming : selection.rename) {
    const auto [from, to] = halves(renaming, "--rename");
    table.columns[column_of(table, from, "--rename")] = to;
  }
  return table;
}

ChosenColumns choose_columns(const RawTable& table) {
  ChosenColumns chosen;
  std::set<std::string> names;
  for (const std::string& name : table.columns) {
    if (!name.empty() && !names.insert(name).second) {
      throw UserError("{}: column '{}' stands twice", table.place, printable(name));
    }
    chosen.columns.push_back(name.empty() ? std::nullopt : table_column(name, table.place));
  }
  prefer_flops_beside_time(chosen.columns);
  const auto best = best_choices(chosen.columns);
  std::set<Meaning> meanings;
  std::map<std::string, int> latencies;
  for (const std::size_t i : by_name(table)) {
    auto& column = chosen.columns[i];
    if (!column && !table.columns[i].empty()) chosen.ignored.push_back(printable(table.columns[i]));
    if (!column || column->meaning == Meaning::identity) continue;
    const auto preferred = best.find(column->meaning);
    const bool seen = meanings.contains(column->meaning);
    const bool one_of_several = preferred != best.end();
    const bool left = one_of_several && (seen || column->choice > preferred->second);
    const bool twice = column->meaning == Meaning::latency ? ++latencies[column->latency] > 1
                                                           : seen && !one_of_several;
    if (twice) {
      throw UserError("{}: column '{}' says the same as another; keep one of them",
                      table.place,
                      printable(column->name));
    }
    if (left) {
      chosen.ignored.push_back(printable(column->name));
      column.reset();
      continue;
    }
    meanings.insert(column->meaning);
  }
  check_complete(meanings, table);
  return chosen;
}

std::optional<Remark> identity_remark(const RawTable& table, const ChosenColumns& chosen) {
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
  return Remark(
      fmt::format("{} differs between the rows ({}): they are not one program on more machines, so "
                  "speed-up compares only what their work has in common",
                  column,
                  first_names(values, few_named)),
      fmt::format("; --where {}=... takes one", column));
}

bool has_repeats(const RawTable& table, const ChosenColumns& chosen) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    if (!chosen.columns[i]) continue;
    if (chosen.columns[i]->meaning == Meaning::repeat) return false;
    if (chosen.columns[i]->meaning == Meaning::count) count = i;
  }
  std::unordered_map<std::string, const RawRow*> seen;
  for (const RawRow& row : table.rows) {
    const auto [first, added] = seen.emplace(cell_text(row.cells[count]), &row);
    const auto [column, value] = added ? std::pair<std::string, std::string>()
                                       : difference(table, chosen, *first->second, row);
    if (column.empty()) continue;
    throw UserError(
        "{0}: count {1} stands already at {2}; choose rows, as by --where '{3}={4}', or, where it "
        "names repeats, --rename '{3}=repeat'",
        row.place,
        printable(first->first),
        first->second->place,
        column,
        value);
  }
  return seen.size() < table.rows.size();
}
}  // namespace scaleworth::cli
