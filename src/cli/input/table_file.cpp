// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/toml_table.h"

#include <filesystem>
#include <map>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
namespace {
constexpr std::uintmax_t most_table_bytes = 16U << 20U;
constexpr std::size_t most_rows = 100000;
constexpr std::size_t most_columns = 1000;

/// Throws UserError for text that no table has: NUL bytes (binary, UTF-16), or nothing but blanks.
void check_text(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos) {
    throw UserError(file +
                    ": no text in UTF-8 (binary, or saved as UTF-16); save it as CSV in UTF-8");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos || text == "\xEF\xBB\xBF") {
    throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  }
}

/// Throw UserError beginning with `place` for one row or column more than a table may have.
void check_row_count(std::size_t rows_so_far, const std::string& place) {
  if (rows_so_far < most_rows) return;
  throw UserError("{}: more than {} rows; give one per count and repeat", place, most_rows);
}

void check_column_count(std::size_t columns, const std::string& place) {
  if (columns <= most_columns) return;
  throw UserError(
      "{}: more than {} columns; leave out what is not of the runs", place, most_columns);
}

/// Rows with keys of their own: a column for each key, in the order of their first occurrence.
class KeyedRows {
 public:
  explicit KeyedRows(const std::string& file) : table_{file, file, {}, {}} {}
  void add(std::string place, std::vector<std::pair<std::string, RawCell>> values) {
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
  RawTable table() && {
    for (RawRow& row : table_.rows) row.cells.resize(table_.columns.size());
    return std::move(table_);
  }

 private:
  RawTable table_;
  std::map<std::string, std::size_t> columns_;
};

[[noreturn]] void refuse_cell(const std::string& key, const std::string& place) {
  throw UserError("{}: '{}' is neither a number nor a text", place, toml_file::printable(key));
}

RawCell toml_cell(const toml_file::Node& node, const std::string& key, const std::string& place) {
  return std::visit(
      [&]<class Value>(const Value& value) -> RawCell {
        if constexpr (std::is_same_v<Value, bool>)
          return value ? "true" : "false";
        else if constexpr (std::is_arithmetic_v<Value>)
          return static_cast<double>(value);
        else if constexpr (std::is_same_v<Value, std::string>)
          return value;
        else
          refuse_cell(key, place);
      },
      node.value);
}

RawCell json_cell(const nlohmann::json& value, const std::string& key, const std::string& place) {
  if (value.is_null()) return {};
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return value.get<std::string>();
  refuse_cell(key, place);
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

/// [[row]] tables of numbers and texts.
RawTable parse_toml(std::string_view text, const std::string& file) {
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

/// An array of objects, or an object with the array "rows".
RawTable parse_json(std::string_view text, const std::string& file) {
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

bool is_count(const std::string& name) {
  try {
    const auto column = table_column(name, "");
    return column && column->meaning == Meaning::count;
  } catch (const UserError&) {
    return false;
  }
}

/// The cells of the first line where it begins with "#" and is yet a header: "# GPUs,time (ms)".
std::optional<std::vector<std::string>> commented_header(std::string_view text, char separator) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!text.starts_with('#')) return std::nullopt;
  const std::string_view line = text.substr(1, text.find('\n') - 1);
  if (line.find(separator) == std::string_view::npos) return std::nullopt;
  try {
    auto cells = CsvReader(line, "", separator).next();
    if (cells && std::any_of(cells->begin(), cells->end(), is_count)) return cells;
  } catch (const UserError&) {  // a comment with a quote
  }
  return std::nullopt;
}

RawRow csv_row(std::vector<std::string> cells,
               std::size_t columns,
               char separator,
               const std::string& place) {
  const std::string divided = separator == '\t' ? "tabs" : fmt::format("'{}'", separator);
  if (cells.size() != columns)
    throw UserError(
        "{}: {} under a header of {}, divided at {}; quote a cell that has it, as \"133,333\"",
        place,
        counted(cells.size(), "cell"),
        columns,
        divided);
  RawRow row{place, {}};
  row.cells.reserve(columns);
  for (std::string& cell : cells) {
    // Where people write 1,5 for one and a half they separate cells so.
    const bool decimal = separator == ';' || separator == '\t';
    const bool digits = cell.find_first_not_of("0123456789, ") == std::string::npos;
    if (decimal && digits && std::ranges::count(cell, ',') == 1)
      throw UserError(
          "{}: '{}' may have a decimal comma or grouped thousands; write a point, and no comma",
          place,
          cell);
    row.cells.push_back(cell.empty() ? RawCell{} : RawCell{std::move(cell)});
  }
  return row;
}

/// What the first line that is no comment has most of.
char separator_of(std::string_view text) {
  char separator = ',';
  for (const std::string_view line : split(text.substr(0, 1U << 16U), '\n')) {
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    for (const char other : {';', '\t', '|'})
      if (std::ranges::count(line, other) > std::ranges::count(line, separator)) separator = other;
    break;
  }
  return separator;
}

bool is_rule(const std::string& cell) {
  return cell.find_first_not_of("-: ") == std::string::npos;
}

RawTable parse_csv(std::string_view text, const std::string& file) {
  const char separator = separator_of(text);
  CsvReader reader(text, file, separator);
  RawTable table{file, file + ":1", {}, {}};
  auto names = commented_header(text, separator);
  if (!names) {
    names = reader.next();
    table.place = reader.place();
  }
  if (!names) throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  if (names->size() == 1)
    throw UserError("{}: no comma, semicolon, tab or | divides '{}' into columns; write p,time_s",
                    table.place,
                    toml_file::printable(names->front()));
  check_column_count(names->size(), table.place);
  table.columns = std::move(*names);
  while (auto cells = reader.next()) {
    // The line below the header of a Markdown table.
    if (separator == '|' && std::ranges::all_of(*cells, is_rule)) continue;
    check_row_count(table.rows.size(), reader.place());
    table.rows.push_back(
        csv_row(std::move(*cells), table.columns.size(), separator, reader.place()));
  }
  if (table.rows.empty()) {
    throw UserError(file + ": no rows below the header; give one line per count");
  }
  return table;
}

/// Ratios of a utilisation are those of throughputs; its times are of nothing.
std::optional<std::string> relative_remark(const ChosenColumns& chosen) {
  for (const auto& column : chosen.columns) {
    if (!column || !column->relative) continue;
    return fmt::format(
        "{} x count stands for the throughput, in parts of a peak: ratios hold, times and costs "
        "are relative",
        column->name);
  }
  return std::nullopt;
}
}  // namespace

std::string cell_text(const RawCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

TableFile parse_table(std::string_view text,
                      const std::string& file,
                      const TableSelection& selection) {
  check_text(text, file);
  const std::string_view begin = trimmed(text);
  const bool toml = file.ends_with(".toml") || begin.starts_with("[[row]]");
  const bool json = file.ends_with(".json") || begin.starts_with('{') || begin.starts_with('[');
  const auto parse = toml ? parse_toml : json ? parse_json : parse_csv;
  const RawTable table = select(parse(text, file), selection);
  ChosenColumns chosen = choose_columns(table);
  const std::vector<TableRow> rows = built_rows(table, chosen.columns);
  const TableKind kind = kind_of(chosen.columns);
  for (const TableRow& row : rows) check_row(row, kind.axis);
  const bool repeated = has_repeats(table, chosen);
  TableFile result{assemble(rows, kind), chosen.ignored};
  std::vector<Remark>& remarks = result.table.remarks;
  if (repeated) remarks.emplace_back("rows of one count are taken as repeats of one measurement");
  if (auto identity = identity_remark(table, chosen))
    result.table.doubts.push_back(std::move(*identity));
  const bool timed = result.table.basis != TimeBasis::work_unit;
  if (auto relative = relative_remark(chosen); relative && !timed) {
    remarks.push_back(std::move(*relative));
  }
  return result;
}

TableFile read_table(const std::string& path,
                     const TableSelection& selection,
                     std::optional<Scaling> scaling) {
  InputKind what = input_kind(path);
  if (what == InputKind::run || std::filesystem::is_directory(path)) {
    if (!selection.where.empty() || !selection.rename.empty()) {
      throw UserError(
          "--where and --rename choose from a table; leave them out for a run directory");
    }
    return {run_table(measured_modes(read_run(path)), scaling), {}};
  }
  const std::string limit = fmt::format("; a scaling table has at most {}", most_table_bytes);
  const std::string text = path.ends_with(".toml")
                               ? toml_file::read_small_file(path)
                               : read_whole(path, path, most_table_bytes, limit);
  // What comes through a pipe shows only now what it is.
  if (what == InputKind::other) what = kind_of_content(text);
  if (what == InputKind::run)
    return {run_table(measured_modes(join_runs(run_from_json(text, path))), scaling), {}};
  if (what == InputKind::attribution)
    return {
        attributed_table({attributed_count(report::read_attribution(text, path), path)}, scaling),
        {}};
  TableFile file = parse_table(text, path, selection);
  if (scaling) file.table = declare_scaling(std::move(file.table), *scaling);
  return file;
}
}  // namespace scaleworth::cli
