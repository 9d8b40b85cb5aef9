// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <cmath>
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
    std::size_t& least = best.emplace(column->meaning, column->choice).first->second;
    least = std::min(least, column->choice);
  }
  return best;
}

/// Of meanings without a choice among names two columns say the same thing twice.
bool is_chosen_among(Meaning meaning) {
  switch (meaning) {
    case Meaning::count:
    case Meaning::per_node:
    case Meaning::time:
    case Meaning::work:
    case Meaning::throughput:
    case Meaning::speedup:
    case Meaning::efficiency:
    case Meaning::batch:
    case Meaning::rank_batch:
      return true;
    default:
      return false;
  }
}

bool has(const Columns& columns, Meaning meaning) {
  return std::ranges::any_of(
      columns, [=](const auto& column) { return column && column->meaning == meaning; });
}

/// The numbers of a column, absent where a cell has none.
std::vector<std::optional<double>> numbers_of(const RawTable& table, std::size_t column) {
  return mapped(table.rows, [&](const RawRow& row) -> std::optional<double> {
    const RawCell& cell = row.cells[column];
    if (const auto* number = std::get_if<double>(&cell)) return *number;
    const auto* text = std::get_if<std::string>(&cell);
    if (!text || is_missing(cell)) return std::nullopt;
    const auto number = cell_number(*text, table.comma);
    return number ? std::optional(number->value) : std::nullopt;
  });
}

/// A "gpu" with no number in any cell is the name of a machine.
void name_machines(Columns& columns, const RawTable& table) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& column = columns[i];
    if (!column || column->meaning != Meaning::count || !column->singular) continue;
    const auto numbers = numbers_of(table, i);
    if (std::ranges::any_of(numbers, [](const auto& number) { return number.has_value(); }))
      continue;
    column->meaning = Meaning::identity;
    column->choice = 100;
  }
}

/// GPUs of a node count where nodes are counted beside them, or nothing else is.
void count_per_node(Columns& columns) {
  const bool counted = has(columns, Meaning::count);
  const bool by_nodes = std::ranges::all_of(columns, [](const auto& column) {
    return !column || column->meaning != Meaning::count || column->nodes;
  });
  for (auto& column : columns) {
    if (!column || column->meaning != Meaning::per_node) continue;
    if (!counted)
      column->meaning = Meaning::count;
    else if (!by_nodes)
      column.reset();
  }
}

/// Beside a time a rate says the work, and FLOPs count what differs between models, too.
void prefer_flops_beside_time(Columns& columns) {
  const bool timed = has(columns, Meaning::time);
  for (auto& column : columns)
    if (timed && column && column->flops && column->per_rank) column->choice = 0;
}

/// A latency is of one request where a rate is given; a part of the program's time, such as that of
/// its solver, is not the time where another is.
void prefer_whole_times(Columns& columns) {
  const bool rate = std::ranges::any_of(columns, [](const auto& column) {
    return column && column->meaning == Meaning::throughput && !column->relative;
  });
  const bool whole = std::ranges::any_of(columns, [](const auto& column) {
    return column && column->meaning == Meaning::time && !column->generic;
  });
  for (auto& column : columns)
    if (column && column->meaning == Meaning::time && column->generic && (rate || whole))
      column.reset();
}

/// Throws where a rate may be that of one or of all, as its name and its numbers have it: a rate of
/// all grows with the count, unless nothing is gained.
void settle_rate_of_one(Columns& columns, const RawTable& table) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& rate = columns[i];
    if (!rate || rate->meaning != Meaning::throughput || !rate->flops || !rate->of_one_or_all)
      continue;
    const auto numbers = numbers_of(table, i);
    const auto first =
        std::ranges::find_if(numbers, [](const auto& one) { return one.has_value(); });
    if (first == numbers.end()) continue;
    double most = **first;
    for (const auto& number : numbers) most = std::max(most, number.value_or(0.0));
    // FLOP/s of all rise with the count; of one they fall.
    rate->per_rank = most < 1.2 * **first;
    rate->of_one_or_all = false;
  }
}

void check_complete(const Columns& columns, const RawTable& table) {
  const bool timed = std::ranges::any_of(std::array{Meaning::time,
                                                    Meaning::compute,
                                                    Meaning::throughput,
                                                    Meaning::speedup,
                                                    Meaning::efficiency},
                                         [&](Meaning meaning) { return has(columns, meaning); });
  if (has(columns, Meaning::count) && timed) return;
  MissingColumn missing(
      "{}: the table needs a column for {}; it has {}",
      table.place,
      timed ? "the count, as p" : "the time, as time_s, or a throughput, as tokens_per_s",
      first_names(table.columns));
  missing.count = timed;
  throw missing;
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
  table.stated_as.resize(table.columns.size());
  for (const std::string& renaming : selection.rename) {
    const auto [from, to] = halves(renaming, "--rename");
    const std::size_t column = column_of(table, from, "--rename");
    table.stated_as[column] = table.columns[column];
    table.columns[column] = to;
  }
  return table;
}

namespace {
/// A renamed column keeps the unit that its own header states, and is what that says it is.
void keep_unit(TableColumn& column, const std::string& stated_as, const std::string& place) {
  std::optional<TableColumn> stated;
  try {
    stated = table_column(stated_as, place);
  } catch (const UserError&) {
    return;
  }
  if (!stated) stated = table_column("time " + stated_as, place);
  if (stated && column.meaning == Meaning::count && stated->meaning == Meaning::count &&
      column.noun.empty()) {
    column.noun = stated->noun;
    column.nodes = stated->nodes;
  }
  const bool ratio = stated_as.find('%') != std::string::npos;
  const bool rate = stated && stated->meaning == Meaning::throughput;
  if (column.dimension == Dimension::time && (ratio || rate))
    throw UserError("{}: '{}' is {}, no time; rename it to {}",
                    place,
                    printable(stated_as),
                    rate ? "a rate" : "a share",
                    rate ? "throughput" : "efficiency");
  if (!stated || column.dimension == Dimension::none || stated->dimension != column.dimension)
    return;
  if (stated->unit.empty()) return;
  column.unit = stated->unit;
  column.factor = stated->factor;
  column.inverse = stated->inverse;
}

/// Of several columns of one meaning the one whose name says it best; the others are named.
void leave_one_of_each(ChosenColumns& chosen, const RawTable& table) {
  const auto best = best_choices(chosen.columns);
  std::map<Meaning, std::string> seen;
  std::map<std::string, int> latencies;
  for (const std::size_t i : by_name(table)) {
    auto& column = chosen.columns[i];
    if (!column && !table.columns[i].empty()) chosen.ignored.push_back(printable(table.columns[i]));
    if (!column || column->meaning == Meaning::identity) continue;
    const auto preferred = best.find(column->meaning);
    const auto before = seen.find(column->meaning);
    const bool one_of_several = is_chosen_among(column->meaning);
    const bool left =
        one_of_several && (before != seen.end() || column->choice > preferred->second);
    const bool twice = column->meaning == Meaning::latency ? ++latencies[column->latency] > 1
                                                           : before != seen.end();
    const bool same_time = column->meaning == Meaning::time && before != seen.end() &&
                           column->choice == preferred->second;
    if ((twice && !one_of_several) || same_time) {
      throw UserError("{}: column '{}' says the same as {}; keep one of them",
                      table.place,
                      printable(column->name),
                      same_time ? fmt::format("'{}'", printable(before->second)) : "another");
    }
    if (left) {
      chosen.ignored.push_back(printable(column->name));
      column.reset();
      continue;
    }
    seen.emplace(column->meaning, column->name);
  }
}
}  // namespace

ChosenColumns choose_columns(const RawTable& table) {
  ChosenColumns chosen;
  std::set<std::string> names;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    if (!name.empty() && !names.insert(name).second) {
      throw UserError("{}: column '{}' stands twice", table.place, printable(name));
    }
    chosen.columns.push_back(name.empty() ? std::nullopt : table_column(name, table.place));
    const bool renamed = i < table.stated_as.size() && !table.stated_as[i].empty();
    if (!renamed || !chosen.columns.back()) continue;
    keep_unit(*chosen.columns.back(), table.stated_as[i], table.place);
    chosen.columns.back()->choice = 0;
  }
  name_machines(chosen.columns, table);
  count_per_node(chosen.columns);
  settle_rate_of_one(chosen.columns, table);
  prefer_flops_beside_time(chosen.columns);
  prefer_whole_times(chosen.columns);
  leave_one_of_each(chosen, table);
  check_complete(chosen.columns, table);
  return chosen;
}

std::vector<std::string> likely_renames(const RawTable& table, bool count) {
  std::vector<std::pair<double, std::string>> renames;  // with the last over the first
  // Where the work is told, times may rise.
  const bool works = std::ranges::any_of(table.columns, [&](const std::string& name) {
    try {
      const auto column = table_column(name, table.place);
      return column && column->meaning == Meaning::work;
    } catch (const UserError&) {
      return false;
    }
  });
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    const auto numbers = numbers_of(table, i);
    const bool all =
        std::ranges::all_of(numbers, [](const auto& number) { return number && *number > 0.0; });
    if (name.empty() || !all || numbers.size() < 2) continue;
    std::optional<TableColumn> known;
    try {
      known = table_column(name, table.place);
    } catch (const UserError&) {
    }
    const double first = *numbers.front();
    const double last = *numbers.back();
    bool excluded = name.find('%') != std::string::npos || known.has_value();
    std::string word;
    for (const char c : name + " ") {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        continue;
      }
      excluded = excluded || is_word("ratio", word) || is_word("not_measured", word);
      word.clear();
    }
    if (excluded || first == last) continue;
    if (count) {
      std::set<double> different;
      for (const auto& number : numbers)
        if (*number == std::floor(*number)) different.insert(*number);
      if (different.size() == numbers.size()) renames.emplace_back(first / last, name + "=p");
      continue;
    }
    // The total of several times, else the one that falls most.
    const bool total = name.find("otal") != std::string::npos;
    const double ratio = last / first;
    const bool rate = ratio > 2.0 && !works && name.find("ime") == std::string::npos;
    renames.emplace_back(total ? 0.0 : ratio,
                         fmt::format("{}={}", name, rate ? "throughput" : "time_s"));
  }
  std::ranges::stable_sort(renames, {}, &std::pair<double, std::string>::first);
  return mapped(renames, &std::pair<double, std::string>::second);
}

bool grows_in_each_row(const RawTable& table, const ChosenColumns& chosen) {
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    const auto& column = chosen.columns[i];
    const bool identity = column && column->meaning == Meaning::identity;
    if (identity && table.rows.size() > 2 && values_of(table, i).size() == table.rows.size())
      return true;
  }
  return false;
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
  Remark remark(fmt::format("{} differs between the rows", column),
                fmt::format(" (--where {}=... takes one)", column),
                fmt::format(": {} are not one program on more machines, so speed-up compares only "
                            "what their work has in common",
                            first_names(values, few_named)));
  remark.again = "keep the rows of one " + column;
  return remark;
}

namespace {
/// Conditions by which `rows` are of one program: of what they differ in and is no measurement, as
/// `wanted`, one of them, has it.
std::vector<std::string> conditions_of(const RawTable& table,
                                       const ChosenColumns& chosen,
                                       std::vector<const RawRow*> rows,
                                       const RawRow& wanted,
                                       std::size_t count) {
  std::vector<std::string> where;
  while (true) {
    std::map<std::string, const RawRow*> seen;
    std::pair<std::string, std::string> found;
    for (const RawRow* row : rows) {
      const auto [first, added] = seen.emplace(cell_text(row->cells[count]), row);
      if (added) continue;
      found = difference(table, chosen, *first->second, *row);
      if (!found.first.empty()) break;
    }
    if (found.first.empty()) return where;
    const auto column = static_cast<std::size_t>(std::ranges::find(table.columns, found.first) -
                                                 table.columns.begin());
    if (column == table.columns.size()) return where;
    const std::string value = cell_text(wanted.cells[column]);
    where.push_back(found.first + "=" + value);
    std::erase_if(rows, [&](const RawRow* row) { return cell_text(row->cells[column]) != value; });
  }
}
}  // namespace

std::optional<RepeatedCount> repeated_count(const RawTable& table, const ChosenColumns& chosen) {
  std::size_t count = 0;
  std::optional<std::size_t> per_node;
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    if (!chosen.columns[i]) continue;
    if (chosen.columns[i]->meaning == Meaning::repeat) return std::nullopt;
    if (chosen.columns[i]->meaning == Meaning::count) count = i;
    if (chosen.columns[i]->meaning == Meaning::per_node) per_node = i;
  }
  const auto counted = [&](const RawRow& row) {
    return cell_text(row.cells[count]) + (per_node ? "x" + cell_text(row.cells[*per_node]) : "");
  };
  std::unordered_map<std::string, const RawRow*> seen;
  for (const RawRow& row : table.rows) {
    const auto [first, added] = seen.emplace(counted(row), &row);
    const auto [column, value] = added ? std::pair<std::string, std::string>()
                                       : difference(table, chosen, *first->second, row);
    if (column.empty()) continue;
    RepeatedCount clash;
    clash.what =
        fmt::format("{}: count {} stands already at {}; choose rows, as by --where '{}={}'",
                    row.place,
                    printable(first->first),
                    first->second->place,
                    column,
                    value);
    constexpr std::size_t most_ways = 8;
    std::vector<const RawRow*> rest;
    for (const RawRow& one : table.rows) rest.push_back(&one);
    const std::vector<const RawRow*> all = rest;
    while (!rest.empty() && clash.ways.size() < most_ways) {
      auto where = conditions_of(table, chosen, all, *rest.front(), count);
      RawTable left = table;
      for (const std::string& condition : where) keep_rows(left, condition);
      std::set<std::string> places;
      for (const RawRow& kept : left.rows) places.insert(kept.place);
      const std::size_t before = rest.size();
      std::erase_if(rest, [&](const RawRow* one) { return places.contains(one->place); });
      if (rest.size() == before) break;
      if (left.rows.size() > 1) clash.ways.push_back(std::move(where));
    }
    return clash;
  }
  if (seen.size() < table.rows.size()) return RepeatedCount{};
  return std::nullopt;
}
}  // namespace scaleworth::cli
