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
bool ratios_agree(
    const RawTable& table, std::size_t one, std::size_t other, bool inverse, double rounded) {
  const auto a = numbers_of(table, one);
  const auto b = numbers_of(table, other);
  std::size_t compared = 0;
  for (std::size_t row = 1; row < a.size(); ++row) {
    if (!a[row] || !b[row] || !a[0] || !b[0]) continue;
    const double ratio = *b[row] / *b[0];
    if (!(std::abs(*a[row] / *a[0] * (inverse ? ratio : 1.0 / ratio) - 1.0) < rounded))
      return false;
    ++compared;
  }
  return compared > 0;
}

namespace {
using toml_file::printable;

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
  const bool of_rows = meaning <= Meaning::time && meaning != Meaning::repeat;
  const bool measured = meaning >= Meaning::work && meaning <= Meaning::efficiency;
  return of_rows || measured || meaning == Meaning::batch || meaning == Meaning::rank_batch;
}

bool has(const Columns& columns, Meaning meaning) {
  return find_column(columns, meaning) != nullptr;
}

/// Whether a column of the meaning is no `other`: generic, relative.
bool has_own(const Columns& columns, Meaning meaning, bool TableColumn::*other) {
  return std::ranges::any_of(columns, [=](const auto& column) {
    return column && column->meaning == meaning && !((*column).*other);
  });
}

/// A "gpu" with no number in any cell is the name of a machine.
void name_machines(Columns& columns, const RawTable& table) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& column = columns[i];
    if (!column || column->meaning != Meaning::count || !column->singular) continue;
    if (has_numbers(table, i)) continue;
    column->meaning = Meaning::identity;
    column->choice = 100;
  }
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
    if ((!alone && !in_each) || !differ(counts_in(table, i)) || are_sizes(table, i)) continue;
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
    const auto numbers = numbers_of(table, i);
    const bool fraction = std::ranges::any_of(
        numbers, [](const auto& number) { return number && *number != std::floor(*number); });
    const bool none =
        std::ranges::all_of(numbers, [](const auto& number) { return number == 0.0; });
    if (fraction || none || (!counts.empty() && !differ(counts))) same.push_back(i);
    if (differ(counts) && counts_machines(table, i)) ++differing;
  }
  for (const std::size_t i : same)
    if (differing > 0) columns[i].reset();
}

/// Where no header names a measurement, columns whose cells do: "714.8 ms", "895 records/s"; speed-
/// ups, and what a header calls an estimate, where nothing else is there.
void name_by_cells(Columns& columns, const RawTable& table) {
  const auto named = [&] {
    return has(columns, Meaning::time) || has(columns, Meaning::throughput) ||
           has(columns, Meaning::speedup) || has(columns, Meaning::compute);
  };
  const auto name_as = [&](const WordList& names, bool estimated) {
    if (named()) return;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& header = table.columns[i];
      if (columns[i] || header.empty() || header == "title" || is_cpu_time(table, i) ||
          header_words(header).not_measured != estimated)
        continue;
      const std::string name = said_by_cells(table, i);
      if (std::ranges::count(names, name) > 0) columns[i] = table_column(name, table.place);
      if (columns[i]) columns[i]->name = header;
    }
  };
  name_as({"time", "throughput"}, false);
  if (likely_renames(table, false).empty()) name_as({"speedup"}, false);
  if (!has(columns, Meaning::efficiency)) name_as({"time"}, true);
  // "mpi_time" beside no other time is that of a program of MPI.
  for (auto& column : columns)
    if (column && column->meaning == Meaning::communication && !named())
      column->meaning = Meaning::time;
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

/// Whether a column is the product of two others, or in proportion to it, in every row.
bool is_product(const RawTable& table,
                std::size_t all,
                std::size_t one,
                std::size_t other,
                bool in_proportion = false) {
  constexpr double rounded = 0.02;
  const auto products = numbers_of(table, all);
  const auto a = numbers_of(table, one);
  const auto b = numbers_of(table, other);
  const auto ratio = [&](std::size_t row) { return *products[row] / (*a[row] * *b[row]); };
  for (std::size_t row = 0; row < products.size(); ++row) {
    if (!products[row] || !a[row] || !b[row]) return false;
    if (!(std::abs(ratio(row) / (in_proportion ? ratio(0) : 1.0) - 1.0) < rounded)) return false;
  }
  return true;
}

/// Of processes, of threads in each and of their product the product counts all.
void prefer_product(Columns& columns, const RawTable& table) {
  if (table.rows.size() < 2) return;
  const auto counts = [&](std::size_t i) {
    return columns[i] && columns[i]->meaning == Meaning::count && !counts_in(table, i).empty();
  };
  for (std::size_t all = 0; all < columns.size(); ++all) {
    if (!counts(all) || columns[all]->noun.empty()) continue;
    for (std::size_t one = 0; one < columns.size(); ++one)
      for (std::size_t other = 0; counts(one) && one != all && other < columns.size(); ++other) {
        const std::vector<double> each = counts_in(table, other);
        const bool several = std::ranges::any_of(each, [](double number) { return number > 1.0; });
        if (several && other != all && other != one && is_product(table, all, one, other))
          columns[all]->choice = 0;
      }
  }
}

/// Of several columns of measurements those without one number, "-" in each row, are none.
void leave_out_empty(Columns& columns, const RawTable& table) {
  const auto measures = [&](std::size_t i) { return columns[i] && is_measurement(*columns[i]); };
  bool some = false;
  for (std::size_t i = 0; i < columns.size(); ++i)
    some = some || (measures(i) && has_numbers(table, i));
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (some && measures(i) && !has_numbers(table, i)) columns[i].reset();
}

/// "0.60x" is a speed-up, whatever its header calls it.
void name_speedups(Columns& columns, const RawTable& table) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] ||
        (columns[i]->meaning != Meaning::efficiency && columns[i]->meaning != Meaning::throughput))
      continue;
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
    // "step" 1500, 600 beside a time in seconds is how many there were.
    if (!few && !numbers.empty() && is_word("step", columns[i]->name) &&
        std::ranges::min(numbers) > 1.0)
      columns[i] = table_column("steps", table.place);
  }
}

/// Of runs of other numbers of steps, which are there, the time of a step tells how fast they are.
void prefer_time_of_step(Columns& columns, const RawTable& table) {
  std::optional<std::size_t> each;
  std::optional<std::size_t> all;
  for (std::size_t i = columns.size(); i-- > 0;)
    if (columns[i] && columns[i]->meaning == Meaning::time)
      (columns[i]->per == Per::step ? each : all) = i;
  if (!each || !all) return;
  for (std::size_t steps = 0; steps < columns.size(); ++steps)
    if (has_word("step", all_header_words(table.columns[steps])) &&
        differ(counts_in(table, steps)) && is_product(table, *all, steps, *each))
      return columns[*all].reset();
}

/// GPUs of a node count where nodes are counted beside them, or nothing else is.
void count_per_node(Columns& columns) {
  const bool counted = has(columns, Meaning::count);
  const bool by_nodes = std::ranges::all_of(columns, [](const auto& column) {
    return !column || column->meaning != Meaning::count || column->nodes ||
           column->choice >= choice_of_letters;  // "world_size"
  });
  for (auto& column : columns) {
    if (!column || column->meaning != Meaning::per_node) continue;
    if (!counted)
      column->meaning = Meaning::count;
    else if (!by_nodes)
      column.reset();
  }
}

/// A column called work that is count times time is what the ranks cost, and says no work. (Of work
/// that grows with the count alone the times stay as they are.)
void leave_out_rank_time(Columns& columns, const RawTable& table) {
  const std::size_t time = place_of(columns, Meaning::time);
  const std::size_t work = place_of(columns, Meaning::work);
  const std::size_t count = place_of(columns, Meaning::count);
  if (table.rows.size() < 3 || std::max({time, work, count}) == columns.size()) return;
  const auto times = numbers_of(table, time);
  const bool vary = std::ranges::any_of(times, [&](const auto& one) {
    return one && times[0] && std::abs(*one / *times[0] - 1.0) > 0.1;
  });
  if (vary && is_product(table, work, count, time, true)) columns[work].reset();
}

/// Beside a time a rate says the work, and FLOPs count what differs between models, too.
void prefer_flops_beside_time(Columns& columns) {
  const bool timed = has(columns, Meaning::time);
  for (auto& column : columns)
    if (timed && column && column->flops && column->per_rank) column->choice = 0;
}

/// Where times rise and rates do, too, and more than the count does, other runs are longer by more
/// than the count explains, and the rate tells.
void prefer_rate_of_longer_runs(Columns& columns, const RawTable& table) {
  const std::size_t time = place_of(columns, Meaning::time);
  const std::size_t rate = place_of(columns, Meaning::throughput);
  const std::size_t count = place_of(columns, Meaning::count);
  if (std::max({time, rate, count}) == columns.size() || columns[rate]->inverse) return;
  const auto growth = [&](std::size_t i) {
    const auto numbers = numbers_of(table, i);
    return numbers.back().value_or(0.0) / numbers.front().value_or(1.0);
  };
  const bool longer = growth(time) * growth(rate) > 1.1 * growth(count);
  if (longer && growth(time) > 1.15 && growth(rate) > 1.15) columns[time].reset();
}

/// Where the size of the problem differs between rows, a rate says what the time does not.
void prefer_rate_of_sizes(Columns& columns, const RawTable& table) {
  const bool counted = std::ranges::any_of(columns, [](const auto& column) {
    return column && column->meaning == Meaning::count && !column->noun.empty();
  });
  const bool rate = counted && std::ranges::any_of(columns, [](const auto& column) {
                      return column && column->meaning == Meaning::throughput && column->flops &&
                             !column->per_rank;
                    });
  for (std::size_t i = 0; rate && i < columns.size(); ++i) {
    const bool letter =
        columns[i] && columns[i]->meaning == Meaning::count && !counts_machines(table, i);
    if (columns[i] && columns[i]->meaning < Meaning::work && !letter) continue;
    if (!has_word("size", all_header_words(table.columns[i])) || !differ(counts_in(table, i)))
      continue;
    for (auto& column : columns)
      if (column && column->meaning == Meaning::time) column.reset();
  }
}

/// Statistics of what the title states a unit of, "Unit: microseconds": the median is taken.
void name_statistics(Columns& columns, const RawTable& table) {
  const HeaderWords title = header_words(table.title);
  if (!title.unit || title.unit->dimension != Dimension::time || has(columns, Meaning::time))
    return;
  for (const char* statistic : {"mean", "median"}) {
    const auto found = std::ranges::find(table.columns, statistic);
    if (found == table.columns.end()) continue;
    for (auto& column : columns)
      if (column && column->meaning == Meaning::time) column.reset();
    auto& column = columns[static_cast<std::size_t>(found - table.columns.begin())];
    column = table_column(fmt::format("time ({})", title.unit_text), table.place);
    column->name = statistic;
  }
}

/// Whether most numbers of a column are the same, or all nearly: the length of a test, or one
/// program beside others.
bool is_fixed(const RawTable& table, std::size_t column) {
  auto numbers = numbers_of(table, column);
  std::erase(numbers, std::nullopt);
  std::ranges::sort(numbers);
  const auto same = numbers.empty() ? 0 : std::ranges::count(numbers, numbers[numbers.size() / 2]);
  constexpr double nearly = 1.01;
  const bool all = numbers.size() > 2 && *numbers.back() <= nearly * *numbers.front();
  return all || (same > 2 && 3 * same > 2 * std::ssize(numbers));
}

/// A latency is of one request where a rate is given; a part of the program's time, such as that of
/// its solver, is not the time where another is, or where it takes none.
void prefer_whole_times(Columns& columns, const RawTable& table) {
  const bool rate = has_own(columns, Meaning::throughput, &TableColumn::relative);
  const bool whole = has_own(columns, Meaning::time, &TableColumn::generic);
  auto times = std::ranges::count_if(
      columns, [](const auto& column) { return column && column->meaning == Meaning::time; });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& column = columns[i];
    if (!column || column->meaning != Meaning::time) continue;
    const bool fixed = is_fixed(table, i) && (rate || times-- > 1);
    const bool none = std::ranges::any_of(
        numbers_of(table, i), [](const auto& number) { return number && *number <= 0.0; });
    if (fixed || (column->generic && (rate || whole || none))) column.reset();
    for (auto& other : columns)  // what was done in it is the rate once more
      if (fixed && rate && other && other->meaning == Meaning::work) other.reset();
  }
}

/// A rate in step with the FLOP/s of one GPU is of one, too.
void follow_flops(Columns& columns, const RawTable& table, std::size_t flops) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& rate = columns[i];
    if (rate && rate->meaning == Meaning::throughput && !rate->flops && !rate->all_of_them)
      rate->per_rank = rate->per_rank || ratios_agree(table, i, flops, false, 0.02);
  }
}

/// Whether a rate may be that of one or of all, as its name and its numbers have it: a rate of all
/// grows with the count, unless nothing is gained; then only other columns tell.
void settle_rate_of_one(Columns& columns, const RawTable& table) {
  const bool load =
      std::ranges::any_of(columns, [](const auto& column) { return column && column->load; });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& rate = columns[i];
    const bool renamed = i < table.stated_as.size() && !table.stated_as[i].empty();
    // Where each node has as many, the ratios of one are those of all.
    const TableColumn* const count = find_column(columns, Meaning::count);
    const std::string of = rate ? counted_noun(rate->rank) : "";
    const auto counts_it = [&](const auto& column) {
      return column && column->meaning == Meaning::count && column->noun == of;
    };
    if (count && !of.empty() && !has(columns, Meaning::per_node) &&
        std::ranges::none_of(columns, counts_it) &&
        (count->nodes || (of == "nodes" && count->noun == "GPUs")))
      rate->relative = true;
    // "per CPU second" of all, where it rises with the ranks as no rate of one does.
    if (rate && rate->meaning == Meaning::throughput && rate->per_rank && !rate->relative &&
        !load && !renamed) {
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
    const bool rises = most >= 1.2 * **first;
    bool beside = has(columns, Meaning::time);
    for (const auto& other : columns)
      beside = beside || (other && other->meaning == Meaning::throughput && !other->flops);
    rate->of_one_or_all = !rises && !beside;
    rate->per_rank = !rises && beside;
    if (rate->per_rank) follow_flops(columns, table, i);
  }
}

void check_complete(const ChosenColumns& chosen, const RawTable& table) {
  const Columns& columns = chosen.columns;
  const bool timed = std::ranges::any_of(std::array{Meaning::time,
                                                    Meaning::compute,
                                                    Meaning::throughput,
                                                    Meaning::speedup,
                                                    Meaning::efficiency},
                                         [&](Meaning meaning) { return has(columns, meaning); });
  if (has(columns, Meaning::count) && timed) return;
  const bool says_time = std::ranges::any_of(table.columns, [](const std::string& name) {
    const HeaderWords header = header_words(name);
    return name.starts_with("column ") || header.per_time || header.unit ||
           has_word("time", header.name);
  });
  if (!has(columns, Meaning::count) && !timed && !says_time)
    throw UserError(
        "{}: this is no scaling table: no column counts GPUs, nodes, ranks or threads and none is "
        "a "
        "time or a rate ({}); give one row per count, as gpus,time_s",
        table.place,
        first_names(table.columns));
  OpenColumns missing(
      "{}: {}; it has {}",
      table.place,
      timed ? "no column says how many GPUs, nodes or ranks a row is of; add one, as gpus"
            : "the table needs a column for the time, as time_s, or a throughput, as tokens_per_s",
      first_names(table.columns));
  missing.renames = likely_renames(table, timed);
  const auto meaning = [](const std::string& rename) { return rename.substr(rename.rfind('=')); };
  missing.alike = !timed && std::ranges::all_of(missing.renames, [&](const std::string& rename) {
    return meaning(rename) == meaning(missing.renames.front());
  });
  if (!timed) missing.there = chosen;
  throw missing;
}
}  // namespace

std::vector<std::string> values_of(const RawTable& table,
                                   const std::string& column,
                                   const char* flag) {
  return values_of(table, column_of(table, column, flag));
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
  if (rate && column.meaning == Meaning::throughput) column.factor = stated->factor;
  if (!stated || column.dimension == Dimension::none || stated->dimension != column.dimension)
    return;
  if (stated->unit.empty()) return;
  column.unit = stated->unit;
  column.factor = stated->factor;
  column.inverse = stated->inverse;
}

/// Whether two rates, or two efficiencies, that stand for the table have other ratios.
bool contradict(const Columns& columns, const RawTable& table, std::size_t one, std::size_t other) {
  const TableColumn& a = *columns[one];
  const TableColumn& b = *columns[other];
  const double same = a.work_noun == b.work_noun ? 0.04 : 0.06;
  if (has(columns, Meaning::time) || ratios_agree(table, one, other, false, same)) return false;
  if (a.meaning == Meaning::throughput)
    return a.per_rank == b.per_rank && a.all_of_them == b.all_of_them && !a.inverse && !a.flops;
  return a.meaning == Meaning::efficiency && !has(columns, Meaning::throughput) &&
         !has(columns, Meaning::speedup);
}

/// Of several columns of one meaning the one whose name says it best; the others are named.
void leave_one_of_each(ChosenColumns& chosen, const RawTable& table) {
  const bool timed = has(chosen.columns, Meaning::time) || has(chosen.columns, Meaning::throughput);
  // Of efficiencies that stand for the table no name is better than another.
  if (!timed && !has(chosen.columns, Meaning::speedup))
    for (auto& column : chosen.columns)
      if (column && column->meaning == Meaning::efficiency)
        column->choice = std::min<std::size_t>(column->choice, 1);
  const auto is_quality = [](const auto& column) {
    return column && column->meaning == Meaning::quality;
  };
  if (std::ranges::count_if(chosen.columns, is_quality) > 1)
    for (auto& column : chosen.columns)
      if (is_quality(column) && column->generic) column.reset();
  const auto best = best_choices(chosen.columns);
  std::map<Meaning, std::size_t> seen;
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
    const bool same_choice = before != seen.end() && column->choice == preferred->second;
    const bool same_time = same_choice && (column->meaning == Meaning::time ||
                                           (column->meaning == Meaning::speedup && !timed));
    const bool contradicts = same_choice && contradict(chosen.columns, table, before->second, i);
    if ((twice && !one_of_several) || same_time || contradicts) {
      const std::size_t count = place_of(chosen.columns, Meaning::count);
      if (count < chosen.columns.size() && values_of(table, count).size() == 1)
        throw UserError("{}: every row is of one count: add rows of a second", table.place);
      const bool named = before != seen.end();
      OpenColumns several("{}: column '{}' says {} {}; keep one of them",
                          table.place,
                          printable(column->name),
                          column->meaning == Meaning::quality ? "another quality than"
                          : contradicts                       ? "other than"
                                                              : "the same as",
                          named ? "'" + printable(table.columns[before->second]) + "'" : "another");
      const std::string meaning = column->meaning == Meaning::time         ? "time"
                                  : column->meaning == Meaning::speedup    ? "speedup"
                                  : column->meaning == Meaning::efficiency ? "efficiency"
                                  : column->per_rank                       ? "throughput per rank"
                                                                           : "throughput";
      several.alike = true;
      for (const std::size_t place : by_name(table))
        if (const auto& one = chosen.columns[place]; (same_time || contradicts) && one &&
                                                     one->meaning == column->meaning &&
                                                     one->choice == preferred->second)
          several.renames.push_back(one->name + "=" + meaning);
      throw several;
    }
    if (left || (timed && column->generic && column->meaning == Meaning::speedup)) {
      chosen.ignored.push_back(printable(column->name));
      column.reset();
      continue;
    }
    seen.emplace(column->meaning, i);
  }
}

/// Speed-ups are none of the counts where several columns may be the time that they are of, and
/// where the one that there is has other ratios: they compare two programs.
void leave_out_other_ratios(ChosenColumns& chosen, const RawTable& table) {
  Columns& columns = chosen.columns;
  const bool measured =
      has(columns, Meaning::throughput) || has_own(columns, Meaning::time, &TableColumn::generic);
  for (std::size_t i = 0; !measured && i < columns.size(); ++i) {
    if (!columns[i] || columns[i]->meaning != Meaning::speedup) continue;
    std::size_t times = 0;
    bool agrees = false;
    for (std::size_t other = 0; other < columns.size(); ++other) {
      if (columns[other] || is_cpu_time(table, other) || !has_numbers(table, other)) continue;
      const HeaderWords header = header_words(table.columns[other]);
      const std::string said = said_by_cells(table, other);
      const bool timed = said == "time" || said == "throughput" || header.per_time ||
                         (header.unit && header.unit->dimension == Dimension::time) ||
                         has_word("time", header.name);
      const bool follows =
          ratios_agree(table, i, other, false) || ratios_agree(table, i, other, true);
      agrees = agrees || follows;
      if (timed || follows) ++times;
    }
    if (times == 0 || (times == 1 && agrees && !columns[i]->generic)) continue;
    chosen.ignored.push_back(printable(columns[i]->name));
    columns[i].reset();
  }
}

/// What the header of a column means: "time_minutes" of "time_min", unless "time_max" or
/// "time_mean" beside it make it the least; the time of a step of a "throughput" of "6.7 s/it".
std::string meant_by(const RawTable& table, std::size_t column) {
  const std::string& header = table.columns[column];
  if (named_meaning(header) == Meaning::throughput && !header_words(header).unit &&
      said_by_cells(table, column) == "time")
    return "step_time";
  const WordList words = all_header_words(header);
  if (words.size() < 2 || words.back() != "min" || header.ends_with(')') || header.ends_with(']'))
    return header;
  const std::string stem = header.substr(0, header.size() - 3);
  if (has_word("latency", words) || named_meaning(stem + "minutes") != Meaning::time) return header;
  const bool statistics = std::ranges::any_of(table.columns, [&](const std::string& other) {
    return other != header && other.starts_with(stem) &&
           has_word("statistic", all_header_words(other.substr(stem.size())));
  });
  return statistics ? header : stem + "minutes";
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
    const bool none =
        name.empty() || is_cpu_time(table, i) || (name.size() == 1 && are_sizes(table, i));
    chosen.columns.push_back(none ? std::nullopt : table_column(meant_by(table, i), table.place));
    auto& column = chosen.columns.back();
    if (column) column->name = name;
    // "Iter" 1000 in each row
    if (column && column->meaning == Meaning::time && column->per == Per::step &&
        column->unit.empty() && table.rows.size() > 1 && values_of(table, i).size() == 1)
      column.reset();
    const bool renamed = i < table.stated_as.size() && !table.stated_as[i].empty();
    if (!renamed || !chosen.columns.back()) continue;
    keep_unit(*chosen.columns.back(), table.stated_as[i], table.place);
    chosen.columns.back()->choice = 0;
  }
  // In this order: what one step names or drops, the next ones find or miss.
  name_statistics(chosen.columns, table);
  leave_out_other_ratios(chosen, table);
  leave_out_empty(chosen.columns, table);
  name_by_cells(chosen.columns, table);
  name_machines(chosen.columns, table);
  number_repeats(chosen.columns, table);
  prefer_time_of_step(chosen.columns, table);
  find_count(chosen.columns, table);
  prefer_counts_that_differ(chosen.columns, table);
  leave_out_rank_time(chosen.columns, table);
  prefer_product(chosen.columns, table);
  name_speedups(chosen.columns, table);
  count_per_node(chosen.columns);
  settle_rate_of_one(chosen.columns, table);
  prefer_flops_beside_time(chosen.columns);
  prefer_rate_of_longer_runs(chosen.columns, table);
  prefer_rate_of_sizes(chosen.columns, table);
  prefer_whole_times(chosen.columns, table);
  leave_one_of_each(chosen, table);
  leave_out_unitless(chosen, table);
  check_complete(chosen, table);
  return chosen;
}
}  // namespace scaleworth::cli
