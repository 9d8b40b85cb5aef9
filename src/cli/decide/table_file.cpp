// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table_file.h"

#include "src/cli/decide/columns.h"
#include "src/core/csv.h"
#include "src/core/error.h"
#include "src/core/toml/node.h"
#include "src/core/toml/table.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr std::uintmax_t most_bytes = 16U << 20U;

using toml_file::printable;

/// The columns of a table so far: each meaning once, count and a time in any case.
class Header {
 public:
  explicit Header(std::string place) : place_(std::move(place)) {}

  std::optional<TableColumn> add(const std::string& name) {
    if (!names_.insert(name).second) {
      throw UserError(fmt::format("{}: column '{}' stands twice", place_, printable(name)));
    }
    const auto column = table_column(name, place_);
    if (column && !meanings_.insert(column->meaning).second) {
      throw UserError(fmt::format(
          "{}: column '{}' says the same as another; keep one of them", place_, printable(name)));
    }
    if (!column) ignored_.push_back(printable(name));
    return column;
  }
  void finish() const {
    const bool timed =
        meanings_.contains(ColumnMeaning::time) || meanings_.contains(ColumnMeaning::compute);
    if (meanings_.contains(ColumnMeaning::count) && timed) return;
    throw UserError(fmt::format("{}: the table needs a column for {}; known: {}",
                                place_,
                                timed ? "the count, as p" : "the time, as time_s",
                                known_columns()));
  }
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  std::string place_;
  std::set<std::string> names_;
  std::set<ColumnMeaning> meanings_;
  std::vector<std::string> ignored_;
};

double number_in(const std::string& cell, const TableColumn& column, const std::string& place) {
  double value = 0.0;
  const char* end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc{} || rest != end) {
    const bool starts_with_number = error == std::errc{} && rest != cell.data();
    throw UserError(fmt::format(
        "{}: column '{}' is '{}', not a number{}",
        place,
        printable(column.name),
        printable(cell),
        starts_with_number
            ? fmt::format("; the header gives the unit{}",
                          column.unit.empty() ? "" : " (" + column.unit + ") for all its cells")
            : "; leave the cell empty for a value that is missing"));
  }
  return value;
}

void check_row_count(const std::vector<decide::Observation>& rows, const std::string& place) {
  if (rows.size() < most_table_rows) return;
  throw UserError(
      fmt::format("{}: more than {} rows; give one per count and repeat", place, most_table_rows));
}

decide::Observation csv_row(const std::vector<std::string>& cells,
                            const std::vector<std::optional<TableColumn>>& columns,
                            const std::string& place) {
  if (cells.size() != columns.size()) {
    throw UserError(
        fmt::format("{}: {} cells under a header of {}", place, cells.size(), columns.size()));
  }
  decide::Observation row;
  row.place = place;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!columns[i]) continue;
    if (!cells[i].empty()) {
      put(row, *columns[i], number_in(cells[i], *columns[i], place));
    } else if (columns[i]->meaning == ColumnMeaning::count) {
      throw UserError(fmt::format("{}: column '{}' is empty", place, printable(columns[i]->name)));
    }
  }
  return row;
}

double toml_number(const toml_file::Node& node, const std::string& key, const std::string& place) {
  if (const auto* number = std::get_if<double>(&node.value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*integer);
  }
  throw UserError(fmt::format("{}: '{}' is not a number", place, printable(key)));
}

decide::Observation toml_row(const toml_file::Node::Map& map,
                             const std::string& place,
                             std::set<std::string>& ignored) {
  decide::Observation row;
  row.place = place;
  Header header(place);
  for (const auto& [key, value] : map) {
    if (const auto column = header.add(key)) {
      put(row, *column, toml_number(*value, key, place));
    }
  }
  header.finish();
  ignored.insert(header.ignored().begin(), header.ignored().end());
  return row;
}

std::string read_whole(const std::string& path) {
  std::error_code trouble;
  const std::uintmax_t size = std::filesystem::file_size(path, trouble);
  if (trouble) throw UserError(fmt::format("{}: {}", path, trouble.message()));
  if (size > most_bytes) {
    throw UserError(
        fmt::format("{}: {} bytes; a scaling table has at most {}", path, size, most_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw UserError(path + ": cannot be read");
  return text;
}

}  // namespace

TableFile parse_csv_table(std::string_view text, const std::string& file) {
  CsvReader reader(text, file);
  const auto names = reader.next();
  if (!names) {
    throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  }
  Header header(reader.place());
  std::vector<std::optional<TableColumn>> columns;
  for (const std::string& name : *names) columns.push_back(header.add(name));
  header.finish();
  std::vector<decide::Observation> rows;
  while (const auto cells = reader.next()) {
    check_row_count(rows, reader.place());
    rows.push_back(csv_row(*cells, columns, reader.place()));
  }
  if (rows.empty()) throw UserError(file + ": no rows below the header; give one line per count");
  return {decide::assemble(rows), header.ignored()};
}

TableFile parse_toml_table(std::string_view text, const std::string& file) {
  const auto root = toml_file::parse_document(text, file);
  const auto& map = std::get<toml_file::Node::Map>(root->value);
  const auto found = map.find("row");
  const auto* list =
      found == map.end() ? nullptr : std::get_if<toml_file::Node::List>(&found->second->value);
  if (!list || list->empty()) {
    throw UserError(file + ": no rows; write each as [[row]] with p = 1 and time_s = 800");
  }
  std::vector<decide::Observation> rows;
  std::set<std::string> ignored;
  for (const auto& node : *list) {
    const std::string place = fmt::format("{}:{}", file, node->line);
    check_row_count(rows, place);
    const auto* row = std::get_if<toml_file::Node::Map>(&node->value);
    if (!row) throw UserError(place + ": a row is a table, as [[row]]");
    rows.push_back(toml_row(*row, place, ignored));
  }
  return {decide::assemble(rows), {ignored.begin(), ignored.end()}};
}

TableFile read_table(const std::string& path) {
  if (path.ends_with(".toml")) return parse_toml_table(toml_file::read_small_file(path), path);
  return parse_csv_table(read_whole(path), path);
}

}  // namespace scaleworth::cli
