// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/statistics/sample_statistics.h"

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

constexpr std::size_t most_named = 12;
constexpr std::size_t few_named = 4;

std::string first_names(std::vector<std::string> names, std::size_t most = most_named) {
  std::erase(names, "");
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

/// "params=16B" at its first "=".
std::pair<std::string, std::string> halves(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UserError("{} {}: write it as COLUMN=VALUE", option, printable(text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

std::size_t column_of(const RawTable& table, const std::string& name, const char* option) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  throw UserError("{} {}: no such column in {}; it has {}",
                  option,
                  printable(name),
                  table.file,
                  first_names(table.columns));
}

std::vector<std::size_t> by_name(const RawTable& table) {
  std::vector<std::size_t> order(table.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return table.columns[i]; });
  return order;
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

bool has_numbers(const RawTable& table, std::size_t column) {
  const auto numbers = numbers_of(table, column);
  return std::ranges::any_of(numbers, [](const auto& number) { return number.has_value(); });
}

const TableColumn* find_column(const Columns& columns, Meaning meaning) {
  const auto* found = find_in(
      columns, true, [=](const auto& column) { return column && column->meaning == meaning; });
  return found ? &**found : nullptr;
}

bool counts_machines(const RawTable& table, std::size_t i) {
  return table.columns[i].size() > 1 && names_a_count(table.columns[i]);
}

namespace {
bool same_cell(const RawCell& cell, const std::string& wanted) {
  const std::string text = cell_text(cell);
  if (text == wanted) return true;
  const auto number = parse_number<double>(text);
  return number && number == parse_number<double>(wanted);
}

void keep_rows(RawTable& table, const std::string& condition) {
  auto halved = halves(condition, "--where");
  const bool without = halved.first.size() > 1 && halved.first.ends_with('!');
  if (without) halved.first.pop_back();
  const std::string& name = halved.first;
  const std::string& wanted = halved.second;  // no binding: clang 14 captures none
  const std::size_t column = column_of(table, name, "--where");
  const std::vector<std::string> values = values_of(table, column);
  std::erase_if(table.rows,
                [&](const RawRow& row) { return same_cell(row.cells[column], wanted) == without; });
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
  return find_column(columns, meaning) != nullptr;
}

/// A "gpu" with no number in any cell is the name of a machine.
void name_machines(Columns& columns, const RawTable& table) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& column = columns[i];
    // "CPU/Node" of 25 % is a load.
    if (column && column->meaning == Meaning::per_node &&
        std::ranges::any_of(table.rows, [&](const RawRow& row) {
          return cell_text(row.cells[i]).find('%') != std::string::npos;
        }))
      column.reset();
    if (!column || column->meaning != Meaning::count || !column->singular) continue;
    if (has_numbers(table, i)) continue;
    column->meaning = Meaning::identity;
    column->choice = 100;
  }
}

/// The whole numbers of a column, from 1 on; empty where a cell has another.
std::vector<double> counts_in(const RawTable& table, std::size_t column) {
  const auto numbers = numbers_of(table, column);
  const bool whole = std::ranges::all_of(numbers, [](const auto& number) {
    return number && *number >= 1.0 && *number == std::floor(*number);
  });
  return whole ? mapped(numbers, [](const auto& number) { return *number; })
               : std::vector<double>{};
}

bool differ(const std::vector<double>& numbers) {
  return std::ranges::any_of(numbers, [&](double number) { return number != numbers.front(); });
}

/// "MPI" alone counts where nothing else does, and so do "CPUs per task" where the tasks are the
/// same in all rows.
void find_count(Columns& columns, const RawTable& table) {
  const auto has_counts = [&](Meaning meaning) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] && columns[i]->meaning == meaning && differ(counts_in(table, i))) return true;
    return false;
  };
  if (table.rows.size() < 2 || has_counts(Meaning::count) || has_counts(Meaning::per_node)) return;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const HeaderWords header = header_words(table.columns[i]);
    const bool alone = !header.name.empty() && header.per.empty() && !header.unit &&
                       std::ranges::all_of(header.name, [](const std::string& word) {
                         return is_word("number", word);
                       });
    const bool in_each = header.per.size() == 1 && thing_of(header.per.front()) &&
                         header.name.size() == 1 && thing_of(header.name.front());
    if ((!alone && !in_each) || !differ(counts_in(table, i))) continue;
    const bool ones = std::ranges::all_of(columns, [&](const auto& column) {
      if (!column || column->meaning != Meaning::per_node) return true;
      const auto counts = counts_in(table, static_cast<std::size_t>(&column - columns.data()));
      return !counts.empty() && counts.front() == 1.0;
    });
    if (alone && has(columns, Meaning::count)) continue;
    if (in_each && !ones) continue;
    for (auto& column : columns)
      if (in_each && column && column->meaning == Meaning::per_node) column.reset();
    TableColumn count;
    count.name = table.columns[i];
    count.noun = alone ? "ranks" : thing_of(header.name.front())->noun;
    if (in_each && has(columns, Meaning::count)) count.meaning = Meaning::per_node;
    columns[i] = count;
    return;
  }
}

/// A count that is the same in all rows, or not whole, counts nothing where another differs.
void prefer_counts_that_differ(Columns& columns, const RawTable& table) {
  std::vector<std::size_t> same;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] || columns[i]->meaning != Meaning::count || columns[i]->load) continue;
    const auto counts = counts_in(table, i);
    const bool fraction = std::ranges::any_of(numbers_of(table, i), [](const auto& number) {
      return number && *number != std::floor(*number);
    });
    if (fraction || (!counts.empty() && !differ(counts))) same.push_back(i);
    if (differ(counts) && counts_machines(table, i)) ++differing;
  }
  for (const std::size_t i : same)
    if (differing > 0) columns[i].reset();
}

/// Where no header names a measurement, columns whose cells do: "714.8 ms", "895 records/s".
void name_by_cells(Columns& columns, const RawTable& table) {
  if (has(columns, Meaning::time) || has(columns, Meaning::throughput) ||
      has(columns, Meaning::speedup) || has(columns, Meaning::compute))
    return;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] || table.columns[i].empty() || header_words(table.columns[i]).not_measured)
      continue;
    const std::string name =
        named_by_cells(mapped(table.rows, [&](const RawRow& row) { return row.cells[i]; }));
    if (name == "time" || name == "throughput") columns[i] = table_column(name, table.place);
    if (columns[i]) columns[i]->name = table.columns[i];
  }
}

/// Or nothing: "128 and 256" is no batch.
bool says_numbers(const RawTable& table, std::size_t column) {
  const auto numbers = numbers_of(table, column);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const RawCell& cell = table.rows[row].cells[column];
    if (!numbers[row] && !is_missing(cell) && !cell_text(cell).empty()) return false;
  }
  return true;
}

/// Without a unit in header or cells a column says nothing, but the time, and its parts where they
/// state as much as it does.
void leave_out_unitless(ChosenColumns& chosen, const RawTable& table) {
  const auto states_unit = [&](std::size_t i) {
    return !chosen.columns[i]->unit.empty() ||
           std::ranges::any_of(table.rows, [&](const RawRow& row) {
             const auto number = cell_number(cell_text(row.cells[i]), table.comma);
             return number && (number->unit || number->clock);
           });
  };
  std::optional<bool> time_states_unit;
  for (std::size_t i = 0; i < chosen.columns.size(); ++i)
    if (chosen.columns[i] && chosen.columns[i]->meaning == Meaning::time)
      time_states_unit = states_unit(i);
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    auto& column = chosen.columns[i];
    if (!column || column->meaning == Meaning::time || column->meaning == Meaning::identity)
      continue;
    if (column->meaning >= Meaning::tensor && !says_numbers(table, i)) {
      chosen.ignored.push_back(printable(column->name) + " (no numbers)");
      column.reset();
    }
    if (!column || column->dimension == Dimension::none) continue;
    const bool part = column->meaning <= Meaning::io;
    const bool stated = states_unit(i);
    if (part ? stated == time_states_unit.value_or(stated) : stated) continue;
    chosen.ignored.push_back(printable(column->name) + " (of another unit, or none)");
    column.reset();
  }
}

/// Of processes, of threads in each and of their product the product counts all.
void prefer_product(Columns& columns, const RawTable& table) {
  if (table.rows.size() < 2) return;
  std::vector<std::vector<double>> all_numbers;  // empty: not all whole
  for (std::size_t i = 0; i < columns.size(); ++i) all_numbers.push_back(counts_in(table, i));
  const auto is_product = [&](std::size_t all, std::size_t one, std::size_t other) {
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      if (all_numbers[all][row] != all_numbers[one][row] * all_numbers[other][row]) return false;
    return std::ranges::any_of(all_numbers[other], [](double number) { return number > 1.0; });
  };
  for (std::size_t all = 0; all < columns.size(); ++all)
    for (std::size_t one = 0; one < columns.size(); ++one)
      for (std::size_t other = 0; other < columns.size(); ++other) {
        const auto counts = [&](std::size_t i) {
          return columns[i] && columns[i]->meaning == Meaning::count && !all_numbers[i].empty();
        };
        const bool three = all != one && one != other && all != other;
        if (three && counts(all) && counts(one) && !columns[all]->noun.empty() &&
            !all_numbers[other].empty() && is_product(all, one, other))
          columns[all]->choice = 0;
      }
}

/// Of several columns of measurements those without one number, "-" in each row, are none.
void leave_out_empty(Columns& columns, const RawTable& table) {
  for (const Meaning meaning : {Meaning::time, Meaning::throughput}) {
    std::vector<std::size_t> empty;
    std::size_t all = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i] || columns[i]->meaning != meaning) continue;
      ++all;
      if (!has_numbers(table, i)) empty.push_back(i);
    }
    if (empty.size() < all)
      for (const std::size_t i : empty) columns[i].reset();
  }
}

/// "0.60x" is a speed-up, whatever its header calls it.
void name_speedups(Columns& columns, const RawTable& table) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] || columns[i]->meaning != Meaning::efficiency) continue;
    const bool times = std::ranges::any_of(table.rows, [&](const RawRow& row) {
      const std::string text = cell_text(row.cells[i]);
      return text.ends_with('x') || text.ends_with("\xC3\x97");
    });
    if (times && !has(columns, Meaning::speedup)) columns[i]->meaning = Meaning::speedup;
  }
}

/// "iteration" 1, 2, 3 beside another time numbers the repeats.
void number_repeats(Columns& columns, const RawTable& table) {
  const auto timed = std::ranges::count_if(
      columns, [](const auto& column) { return column && column->meaning == Meaning::time; });
  for (std::size_t i = 0; timed > 1 && i < columns.size(); ++i) {
    if (!columns[i] || columns[i]->meaning != Meaning::time || !columns[i]->unit.empty()) continue;
    const auto numbers = counts_in(table, i);
    const auto all = static_cast<double>(table.rows.size());
    const bool few = !numbers.empty() && 2.0 * *std::ranges::max_element(numbers) <= all;
    if (few && (columns[i]->per == Per::step || columns[i]->epoch) && differ(numbers))
      columns[i]->meaning = Meaning::repeat;
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
/// its solver, is not the time where another is, or where it takes none.
void prefer_whole_times(Columns& columns, const RawTable& table) {
  const bool rate = std::ranges::any_of(columns, [](const auto& column) {
    return column && column->meaning == Meaning::throughput && !column->relative;
  });
  const bool whole = std::ranges::any_of(columns, [](const auto& column) {
    return column && column->meaning == Meaning::time && !column->generic;
  });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& column = columns[i];
    if (!column || column->meaning != Meaning::time || !column->generic) continue;
    const bool none = std::ranges::any_of(
        numbers_of(table, i), [](const auto& number) { return number && *number <= 0.0; });
    if (rate || whole || none) column.reset();
  }
}

/// A rate in step with the FLOP/s of one GPU is of one, too.
void follow_flops(Columns& columns,
                  const RawTable& table,
                  const std::vector<std::optional<double>>& flops) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& rate = columns[i];
    if (!rate || rate->meaning != Meaning::throughput || rate->flops || rate->all_of_them) continue;
    const auto numbers = numbers_of(table, i);
    bool in_step = true;
    for (std::size_t row = 0; row < flops.size(); ++row)
      in_step = in_step && flops[row] && numbers[row] && flops[0] && numbers[0] &&
                std::abs(*numbers[row] / *flops[row] / (*numbers[0] / *flops[0]) - 1.0) < 0.02;
    rate->per_rank = rate->per_rank || in_step;
  }
}

/// Throws where a rate may be that of one or of all, as its name and its numbers have it: a rate of
/// all grows with the count, unless nothing is gained.
void settle_rate_of_one(Columns& columns, const RawTable& table) {
  const bool load =
      std::ranges::any_of(columns, [](const auto& column) { return column && column->load; });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& rate = columns[i];
    // "per CPU second" of all, where it rises with the ranks as no rate of one does.
    if (rate && rate->meaning == Meaning::throughput && rate->per_rank && !rate->relative &&
        !load) {
      const auto numbers = numbers_of(table, i);
      constexpr double of_all = 2.5;
      const bool both = !numbers.empty() && numbers.front() && numbers.back();
      if (both && *numbers.back() > of_all * *numbers.front()) rate->per_rank = false;
    }
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
    if (rate->per_rank) follow_flops(columns, table, numbers);
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
      "{}: {}; it has {}",
      table.place,
      timed ? "no column says how many GPUs, nodes or ranks a row is of; add one, as gpus"
            : "the table needs a column for the time, as time_s, or a throughput, as tokens_per_s",
      first_names(table.columns));
  missing.count = timed;
  throw missing;
}
}  // namespace

std::vector<std::string> values_of(const RawTable& table,
                                   const std::string& column,
                                   const char* flag) {
  return values_of(table, column_of(table, column, flag));
}

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
    const bool same_time =
        (column->meaning == Meaning::time || column->meaning == Meaning::speedup) &&
        before != seen.end() && column->choice == preferred->second;
    if ((twice && !one_of_several) || same_time) {
      SeveralTimes several("{}: column '{}' says the same as {}; keep one of them",
                           table.place,
                           printable(column->name),
                           same_time ? fmt::format("'{}'", printable(before->second)) : "another");
      if (same_time) several.names = {before->second, column->name};
      several.meaning = column->meaning == Meaning::time ? "time" : "speedup";
      throw several;
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
  leave_out_empty(chosen.columns, table);
  name_by_cells(chosen.columns, table);
  name_machines(chosen.columns, table);
  number_repeats(chosen.columns, table);
  find_count(chosen.columns, table);
  prefer_counts_that_differ(chosen.columns, table);
  prefer_product(chosen.columns, table);
  name_speedups(chosen.columns, table);
  count_per_node(chosen.columns);
  settle_rate_of_one(chosen.columns, table);
  prefer_flops_beside_time(chosen.columns);
  prefer_whole_times(chosen.columns, table);
  leave_one_of_each(chosen, table);
  leave_out_unitless(chosen, table);
  check_complete(chosen.columns, table);
  return chosen;
}

namespace {
/// The numbers of a column that counts; empty where none does.
std::vector<double> counts_of_rows(const RawTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (counts_machines(table, i))
      if (auto counts = counts_in(table, i); differ(counts)) return counts;
  return {};
}
}  // namespace

std::vector<std::string> likely_renames(const RawTable& table, bool count) {
  constexpr double unlikely = 1e9;  // "residual" beside "cg_time"
  bool time_said = false;
  bool total_said = false;
  std::vector<std::pair<double, std::string>> renames;  // with the last over the first
  // Where the work is told, times may rise.
  const bool works = std::ranges::any_of(
      table.columns, [](const std::string& name) { return named_meaning(name) == Meaning::work; });
  std::vector<double> counts = count ? std::vector<double>{} : counts_of_rows(table);
  if (counts.empty())
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      counts.push_back(static_cast<double>(row));
  // At the least and at the largest count; without counts, of the first and the last row.
  const auto ends_of = [&](const std::vector<std::optional<double>>& numbers) {
    std::map<double, std::vector<double>> by_count;
    for (std::size_t row = 0; row < numbers.size(); ++row)
      if (numbers[row]) by_count[counts[row]].push_back(*numbers[row]);
    if (by_count.empty()) return std::pair(0.0, 0.0);
    return std::pair(*median(by_count.begin()->second), *median(by_count.rbegin()->second));
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    auto numbers = numbers_of(table, i);
    const bool all = says_numbers(table, i) && std::ranges::none_of(numbers, [](const auto& one) {
                       return one && *one <= 0.0;
                     });
    const auto [first, last] = ends_of(numbers);
    std::erase(numbers, std::nullopt);
    if (name.empty() || !all || numbers.size() < 2 || (count && numbers.size() < table.rows.size()))
      continue;
    const HeaderWords header = header_words(name);
    WordList words = all_header_words(name);
    std::erase(words, "max");
    const bool excluded = header.percent || named_meaning(name) || has_word("ratio", words) ||
                          has_word("not_measured", words);
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
    const bool timed = header.unit && header.unit->dimension == Dimension::time;
    const bool says_time = timed || has_word("time", words);
    const bool rate = header.per_time || (ratio > 2.0 && !works && !says_time);
    const bool likely = rate || says_time || total;
    time_said = time_said || (likely && !rate);
    total_said = total_said || total;
    renames.emplace_back((total ? 0.0 : ratio) + (likely ? 0.0 : unlikely),
                         fmt::format("{}={}", name, rate ? "throughput" : "time_s"));
  }
  if (total_said) std::erase_if(renames, [](const auto& rename) { return rename.first > 0.0; });
  if (time_said)
    std::erase_if(renames, [&](const auto& rename) { return rename.first >= unlikely; });
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
}  // namespace scaleworth::cli
