// SPDX-License-Identifier: Apache-2.0
/// A table as it stands in a file, before its columns mean anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace scaleworth::cli {

/// Nothing, a number (of a format that has them), or text.
using RawCell = std::variant<std::monostate, double, std::string>;

struct RawRow {
  std::string place;           // "table.csv:3", for messages
  std::vector<RawCell> cells;  // one per column
};

struct RawTable {
  std::string file;
  std::string place;  // of the header
  std::vector<std::string> columns;
  std::vector<RawRow> rows;
};

inline constexpr std::size_t most_table_rows = 100000;
inline constexpr std::size_t most_table_columns = 1000;

/// Commas and one header line, which may be a comment. Throws UserError with file and line for text
/// that is none, rows of another length than the header, and more than `most_table_rows` rows.
RawTable parse_csv(std::string_view text, const std::string& file);
/// [[row]] tables of numbers and texts.
RawTable parse_toml(std::string_view text, const std::string& file);
/// An array of objects, or an object with the array "rows".
RawTable parse_json(std::string_view text, const std::string& file);

/// As it would be written: "0.5", "16B"; empty for nothing.
std::string cell_text(const RawCell& cell);

/// Throws UserError for text that no table has: NUL bytes (binary, UTF-16), or nothing but blanks.
void check_text(std::string_view text, const std::string& file);

}  // namespace scaleworth::cli
