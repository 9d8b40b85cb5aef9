// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/raw_rows.h"

#include "src/core/error.h"
#include "src/core/run/bounded_json.h"
#include "src/core/toml/node.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::cli {
namespace {

using toml_file::printable;

RawCell toml_cell(const toml_file::Node& node, const std::string& key, const std::string& place) {
  if (const auto* number = std::get_if<double>(&node.value)) return *number;
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  if (const auto* flag = std::get_if<bool>(&node.value))
    return std::string(*flag ? "true" : "false");
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*integer);
  }
  throw UserError(fmt::format("{}: '{}' is neither a number nor a text", place, printable(key)));
}

RawCell json_cell(const nlohmann::json& value, const std::string& key, const std::string& place) {
  if (value.is_null()) return {};
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "true" : "false");
  if (value.is_string()) return value.get<std::string>();
  throw UserError(fmt::format("{}: '{}' is neither a number nor a text", place, printable(key)));
}

const nlohmann::json& json_rows(const nlohmann::json& document, const std::string& file) {
  const nlohmann::json* rows = &document;
  if (document.is_object()) {
    const auto found = document.find("rows");
    if (found != document.end()) rows = &*found;
  }
  if (rows->is_array() && !rows->empty()) return *rows;
  throw UserError(
      file + R"(: no rows; write [{"p": 1, "time_s": 800}, ...] or {"rows": [...]} around it)");
}

}  // namespace

void check_row_count(std::size_t rows_so_far, const std::string& place) {
  if (rows_so_far < most_table_rows) return;
  throw UserError(
      fmt::format("{}: more than {} rows; give one per count and repeat", place, most_table_rows));
}

void check_column_count(std::size_t columns, const std::string& place) {
  if (columns <= most_table_columns) return;
  throw UserError(fmt::format(
      "{}: more than {} columns; leave out what is not of the runs", place, most_table_columns));
}

KeyedRows::KeyedRows(std::string file) {
  table_.place = file;
  table_.file = std::move(file);
}

void KeyedRows::add(std::string place, std::vector<std::pair<std::string, RawCell>> values) {
  check_row_count(table_.rows.size(), place);
  RawRow row{std::move(place), {}};
  for (auto& [key, value] : values) {
    const auto [column, added] = columns_.emplace(key, columns_.size());
    if (added) {
      check_column_count(columns_.size(), row.place);
      table_.columns.push_back(key);
    }
    row.cells.resize(std::max(row.cells.size(), column->second + 1));
    row.cells[column->second] = std::move(value);
  }
  table_.rows.push_back(std::move(row));
}

RawTable KeyedRows::table() && {
  for (RawRow& row : table_.rows) row.cells.resize(table_.columns.size());
  return std::move(table_);
}

RawTable parse_toml(std::string_view text, const std::string& file) {
  check_text(text, file);
  const auto root = toml_file::parse_document(text, file);
  const auto& map = std::get<toml_file::Node::Map>(root->value);
  const auto found = map.find("row");
  const auto* list =
      found == map.end() ? nullptr : std::get_if<toml_file::Node::List>(&found->second->value);
  if (!list || list->empty()) {
    throw UserError(file + ": no rows; write each as [[row]] with p = 1 and time_s = 800");
  }
  KeyedRows rows(file);
  for (const auto& node : *list) {
    const std::string place = fmt::format("{}:{}", file, node->line);
    const auto* row = std::get_if<toml_file::Node::Map>(&node->value);
    if (!row) throw UserError(place + ": a row is a table, as [[row]]");
    std::vector<std::pair<std::string, RawCell>> values;
    for (const auto& [key, value] : *row) values.emplace_back(key, toml_cell(*value, key, place));
    rows.add(place, std::move(values));
  }
  return std::move(rows).table();
}

RawTable parse_json(std::string_view text, const std::string& file) {
  check_text(text, file);
  const nlohmann::json document = parse_bounded_json(text, file);
  KeyedRows rows(file);
  int number = 0;
  for (const nlohmann::json& item : json_rows(document, file)) {
    const std::string place = fmt::format("{}: row {}", file, ++number);
    if (!item.is_object())
      throw UserError(place + R"(: a row is an object, as {"p": 1, "time_s": 800})");
    std::vector<std::pair<std::string, RawCell>> values;
    for (const auto& [key, value] : item.items()) {
      values.emplace_back(key, json_cell(value, key, place));
    }
    rows.add(place, std::move(values));
  }
  return std::move(rows).table();
}

std::string cell_text(const RawCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

void check_text(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos) {
    throw UserError(file +
                    ": no text in UTF-8 (binary, or saved as UTF-16); save it as CSV in UTF-8");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos || text == "\xEF\xBB\xBF") {
    throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  }
}

}  // namespace scaleworth::cli
