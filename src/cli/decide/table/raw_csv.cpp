// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/columns.h"
#include "src/cli/decide/table/raw_rows.h"
#include "src/cli/decide/table/raw_table.h"
#include "src/core/csv.h"
#include "src/core/error.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

bool is_count(const std::string& name) {
  try {
    const auto column = table_column(name, "");
    return column && column->meaning == ColumnMeaning::count;
  } catch (const UserError&) {
    return false;
  }
}

/// The cells of the first line where it begins with "#" and is yet a header: "# GPUs,time (ms)".
std::optional<std::vector<std::string>> commented_header(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!text.starts_with('#')) return std::nullopt;
  const std::string_view line = text.substr(1, text.find('\n') - 1);
  if (line.find(',') == std::string_view::npos) return std::nullopt;
  try {
    auto cells = CsvReader(line, "").next();
    if (cells && std::any_of(cells->begin(), cells->end(), is_count)) return cells;
  } catch (const UserError&) {  // a comment with a quote
  }
  return std::nullopt;
}

RawRow csv_row(std::vector<std::string> cells, std::size_t columns, const std::string& place) {
  if (cells.size() != columns) {
    throw UserError(fmt::format("{}: {} cells under a header of {}", place, cells.size(), columns));
  }
  RawRow row{place, {}};
  row.cells.reserve(columns);
  for (std::string& cell : cells) {
    row.cells.push_back(cell.empty() ? RawCell{} : RawCell{std::move(cell)});
  }
  return row;
}

}  // namespace

RawTable parse_csv(std::string_view text, const std::string& file) {
  check_text(text, file);
  CsvReader reader(text, file);
  RawTable table{file, file + ":1", {}, {}};
  auto names = commented_header(text);
  if (!names) {
    names = reader.next();
    table.place = reader.place();
  }
  if (!names) throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  check_column_count(names->size(), table.place);
  table.columns = std::move(*names);
  while (auto cells = reader.next()) {
    check_row_count(table.rows.size(), reader.place());
    table.rows.push_back(csv_row(std::move(*cells), table.columns.size(), reader.place()));
  }
  if (table.rows.empty()) {
    throw UserError(file + ": no rows below the header; give one line per count");
  }
  return table;
}

}  // namespace scaleworth::cli
