// SPDX-License-Identifier: Apache-2.0
/// One table model: every number is produced once and printed by each format.
#pragma once

#include "report/quantity.h"
#include "src/core/span.h"

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>

namespace scaleworth::report {
enum class Role {
  parameter,  // names the row: what was asked
  measure     // what came out
};

struct Column {
  std::string id;      // name in the CSV: a parameter column or a quantity
  std::string header;  // without unit; the unit of the column's scale is added
  Role role = Role::measure;
  Unit unit = Unit::plain;
  bool own_scale = false;             // each cell carries its own unit (sizes from 8 B to 256 MiB)
  bool detail = false;                // left out of the short formats
  int digits = 3;                     // significant digits of a number without interval
  std::optional<int> decimals = {};   // places after the point instead, in the column's scale
  bool optional = false;              // `make_table` leaves it out where every cell is absent
  std::optional<double> hidden = {};  // printed only where some cell is not this number
  std::string summary = {};           // header in the one-page summary; empty: left out of it
  bool summary_own_scale = false;     // as `own_scale`, in the summary
  bool only_summary = false;          // left out of the report itself
  std::string currency = {};          // label of amounts, which the header then carries

  // The same column with one of these set.
  Column with_digits(int significant) const { return with(&Column::digits, significant); }
  Column with_decimals(int places) const { return with(&Column::decimals, places); }
  Column in_own_scale() const { return with(&Column::own_scale, true); }
  Column as_detail() const { return with(&Column::detail, true); }
  Column if_present() const { return with(&Column::optional, true); }
  Column unless_zero() const { return with(&Column::hidden, 0.0); }
  Column unless_one() const { return with(&Column::hidden, 1.0); }
  Column in_summary(std::string as) const { return with(&Column::summary, std::move(as)); }
  Column only_in_summary() const { return in_summary(header).with(&Column::only_summary, true); }

 private:
  template <class V>
  Column with(V Column::*member, std::type_identity_t<V> value) const {
    Column column = *this;
    column.*member = std::move(value);
    return column;
  }
};

/// A column of the row's name; sizes keep their own scale.
Column parameter(std::string id, std::string header, Unit unit = Unit::plain);
Column measure(std::string id, std::string header, Unit unit = Unit::plain);

/// Absent (n/a), text, or a number in base units.
using Cell = std::variant<std::monostate, std::string, Number>;

struct Row {
  std::vector<Cell> cells;
  bool detail = false;     // left out of the short formats
  bool in_summary = true;  // where it is no detail
  bool chosen = false;     // what the report is about: its figures head the page
};

/// A cell that heads the page as a figure.
struct Tile {
  std::size_t row = 0;
  std::string column;  // its id; none where the table has no such column or the cell is absent
  std::string label;
  std::string note = {};
  std::string note_column = {};  // whose cell stands before `note`
  bool loss = false;             // of the whole: such tiles come first, the largest before others
};

struct Table {
  std::string id;  // the CSV's section
  std::string title;
  std::vector<Column> columns;
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};  // how to read it; reasons for missing intervals
  bool in_csv = true;                   // false: a repetition of what the CSV holds elsewhere
  std::vector<Tile> tiles = {};
};

/// What data/notes.toml says of how to read a table, by its id, or a chart; empty: nothing.
std::string reading_note(const std::string& of);

/// A table as text: headers with units, cells with error bars.
struct Printed {
  std::vector<std::string> headers;
  std::vector<std::string> ids;    // of the columns
  std::vector<std::string> units;  // in the headers; empty: none, or in the cells
  std::vector<bool> right;         // aligned to the right: columns of numbers
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::optional<double>>> values;  // of the rows' numbers, in base units
  std::vector<bool> chosen;                                // of the rows
};

/// Formats all cells. A column of numbers takes one scale, that of its median magnitude, unless its
/// cells keep their own. `detail` includes the rows and columns left out of the short formats.
/// Throws std::logic_error when a row has not one cell per column.
Printed print_table(const Table& table, bool detail);

/// True when every row is a detail row: nothing to show in the short formats.
bool only_detail(const Table& table);

/// The columns that are in the summary, under their headers there, and its rows; without columns
/// where no measure is in the summary.
Table summary_of(const Table& table);

/// Takes out the columns that are only in the summary.
void drop_summary_columns(Table& table);

// A table from rows and columns, each column listed once with what a row has in it:
//
//   make_table("memory_points", "Memory sweep", roofline.memory,
//              {{parameter("kernel", "kernel"), &MemoryPoint::kernel},
//               {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate}});

/// Text (of a rank its number), "yes" or "no", or a number; absent for an empty optional.
template <class V>
Cell as_cell(const V& value) {
  if constexpr (std::is_same_v<V, Cell>) {
    return value;
  } else if constexpr (std::is_same_v<V, bool>) {
    return std::string(value ? "yes" : "no");
  } else if constexpr (std::is_convertible_v<V, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_same_v<V, Rank>) {
    return std::to_string(value.index);
  } else if constexpr (requires { word_of(value); }) {
    return std::string(word_of(value));
  } else if constexpr (requires { value.has_value(); }) {
    return value ? as_cell(*value) : Cell{};
  } else if constexpr (std::is_integral_v<V>) {
    return number(static_cast<double>(value));
  } else {
    return number(value);
  }
}

/// An element of a list within an element of another: the levels from the outermost.
template <class... Levels>
struct Nested {
  std::tuple<const Levels*...> levels;
};

/// Every element of the list (or optional) that `inner` finds in each of `outers`, by reference.
template <class... Levels, class Inner>
auto nested(const std::vector<Nested<Levels...>>& outers, Inner inner) {
  using Last = std::tuple_element_t<sizeof...(Levels) - 1, std::tuple<Levels...>>;
  using List = std::remove_cvref_t<std::invoke_result_t<Inner, const Last&>>;
  static_assert(std::is_reference_v<std::invoke_result_t<Inner, const Last&>>);
  std::vector<Nested<Levels..., typename List::value_type>> rows;
  for (const auto& outer : outers) {
    const List& list = std::invoke(inner, *std::get<sizeof...(Levels) - 1>(outer.levels));
    const auto add = [&](const auto& one) {
      rows.push_back({std::tuple_cat(outer.levels, std::tuple(&one))});
    };
    if constexpr (requires { list.has_value(); }) {
      if (list) add(*list);
    } else {
      for (const auto& one : list) add(one);
    }
  }
  return rows;
}
template <class Outer, class Inner>
auto nested(const std::vector<Outer>& outers, Inner inner) {
  return nested(mapped(outers, [](const Outer& one) { return Nested<Outer>{{&one}}; }), inner);
}

template <class Project, class T>
Cell cell_of(const Project& project, const T& row) {
  return as_cell(std::invoke(project, row));
}
/// The innermost of the levels that `Project` takes.
template <class Project, class... Levels>
constexpr std::size_t level_for() {
  constexpr bool takes[] = {std::is_invocable_v<const Project&, const Levels&>...};
  std::size_t level = sizeof...(Levels) - 1;
  while (level > 0 && !takes[level]) --level;
  return level;
}
/// Of the innermost level that `project` takes, or of all levels as so many arguments; a lambda
/// states its parameter types.
template <class Project, class... Levels>
Cell cell_of(const Project& project, const Nested<Levels...>& row) {
  if constexpr (std::is_invocable_v<const Project&, const Levels&...>) {
    return std::apply(
        [&](const Levels*... level) { return as_cell(std::invoke(project, *level...)); },
        row.levels);
  } else {
    constexpr std::size_t level = level_for<Project, Levels...>();
    return as_cell(std::invoke(project, *std::get<level>(row.levels)));
  }
}

template <class V, class First, class... Rest>
Cell cell_along(const V& value, const First& first, const Rest&... rest) {
  if constexpr (requires { value.has_value(); }) {
    return value ? cell_along(*value, first, rest...) : Cell{};
  } else if constexpr (sizeof...(Rest) == 0) {
    return as_cell(std::invoke(first, value));
  } else {
    return cell_along(std::invoke(first, value), rest...);
  }
}
/// What the members name one after another; absent where one on the way is.
template <class First, class... Rest>
auto path(First first, Rest... rest) {
  return [=]<class T>(const T& row) -> Cell requires std::is_invocable_v<const First&, const T&> {
    return cell_along(row, first, rest...);
  };
}

/// A column and the cell of a row: a member, or a function of the row.
template <class T>
struct ColumnOf {
  Column column;
  std::function<Cell(const T&)> cell;

  template <class Project>
  ColumnOf(Column of, Project project)
      : column(std::move(of)),
        cell([project = std::move(project)](const T& row) { return cell_of(project, row); }) {}
};

/// Of the last row for which `is` holds; absent without one.
template <class T, class Is>
std::optional<std::size_t> last_row(const std::vector<T>& rows, Is is) {
  const auto found = std::find_if(rows.rbegin(), rows.rend(), is);
  return found == rows.rend() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(rows.rend() - found) - 1);
}

/// Leaves out the optional columns whose cells are all absent.
void drop_absent_columns(Table& table);

Table all_detail(Table table);

/// One row for each of `rows`; `is_detail` says which are left out of the short formats. The first
/// of its notes is `reading_note`.
template <class T>
Table make_table(std::string id,
                 std::string title,
                 const std::vector<T>& rows,
                 const std::vector<ColumnOf<T>>& columns,
                 std::vector<std::string> notes = {},
                 const std::type_identity_t<std::function<bool(const T&)>>& is_detail = {}) {
  if (std::string note = reading_note(id); !note.empty()) notes.insert(notes.begin(), note);
  Table table{std::move(id), std::move(title), {}, {}, std::move(notes)};
  for (const ColumnOf<T>& one : columns) table.columns.push_back(one.column);
  for (const T& row : rows) {
    table.rows.push_back({{}, is_detail && is_detail(row)});
    for (const ColumnOf<T>& one : columns) table.rows.back().cells.push_back(one.cell(row));
  }
  drop_absent_columns(table);
  return table;
}
}  // namespace scaleworth::report
