// SPDX-License-Identifier: Apache-2.0
/// Rows that are written as data: TOML, JSON, and what code assigns in Python, R, MATLAB, C or
/// YAML; tables in the marks of HTML, MediaWiki, LaTeX and others.
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/toml_table.h"

#include <cctype>
#include <map>
#include <set>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
namespace {
using Json = nlohmann::json;
using Values = std::vector<std::pair<std::string, RawCell>>;

/// Rows with keys of their own: a column for each key, in the order of their first occurrence.
class KeyedRows {
 public:
  explicit KeyedRows(const std::string& file) : table_{file, file, {}, {}} {}
  void add(std::string place, Values values) {
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
  std::size_t size() const { return table_.rows.size(); }
  const std::string& file() const { return table_.file; }
  RawTable table() && {
    for (RawRow& row : table_.rows) row.cells.resize(table_.columns.size());
    return std::move(table_);
  }

 private:
  RawTable table_;
  std::map<std::string, std::size_t> columns_;
};

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
          throw UserError(
              "{}: '{}' is neither a number nor a text", place, toml_file::printable(key));
      },
      node.value);
}

/// {"value": 2.0, "unit": "s"}
bool is_quantity(const Json& value) {
  return value.is_object() && value.size() == 2 && value.contains("value") &&
         value["value"].is_number() && value.contains("unit") && value["unit"].is_string();
}

RawCell cell_of(const Json& value) {
  if (is_quantity(value))
    return fmt::format("{} {}", value["value"].get<double>(), value["unit"].get<std::string>());
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  return value.is_string() ? RawCell(value.get<std::string>()) : RawCell{};
}

bool holds_no_more(const Json& value) {
  return std::ranges::none_of(value, [](const Json& one) { return one.is_structured(); });
}

/// {1: 33.2, 2: 17.1}
bool counts(const Json& value) {
  std::size_t counted = 0;
  for (const auto& [key, one] : value.items())
    counted += key.find_first_not_of("0123456789") == key.npos ? 1 : 0;
  return value.is_object() && counted > 1 && counted == value.size();
}

/// The rows that values hold, however they are nested.
class NestedRows {
 public:
  explicit NestedRows(const std::string& file) : rows_(file) {}

  /// Adds those of `value`, each with the cells of what it stands in; `name`: its own.
  void add(const Json& value, const std::string& name, Values cells) {
    if (value.is_array()) return add_list(value, name, cells);
    std::map<std::size_t, WordList> lists;  // of numbers or texts, by their lengths
    WordList groups;                        // that hold rows, it seems
    WordList records;
    for (const auto& [key, one] : value.items()) {
      if (!one.is_structured() || is_quantity(one))
        cells.emplace_back(key, cell_of(one));
      else if (one.is_array() && holds_no_more(one))
        lists[one.size()].push_back(key);
      else
        (one.is_object() && holds_no_more(one) && !counts(one) ? records : groups).push_back(key);
    }
    if (counts(value) && holds_no_more(value)) {
      // "speedup_by_gpus"
      const std::string measured = name.substr(0, name.find("_by_"));
      for (const auto& [key, one] : value.items())
        add_row({{"count", key}, {measured, cell_of(one)}});
      return;
    }
    if (add_columns(value, lists, cells)) return;
    // {"config": {...}, "result": {...}} are of one row, {"a": {"time": 1}, "b": {"time": 2}} of
    // two.
    std::set<std::string> seen;
    bool one_row = true;
    for (const std::string& key : records)
      for (const auto& [inner, one] : value[key].items())
        one_row = seen.insert(inner).second && one_row;
    if (!groups.empty() || one_row)
      for (const std::string& key : records)
        for (const auto& [inner, one] : value[key].items()) cells.emplace_back(inner, cell_of(one));
    else if (!records.empty())
      groups = records;
    // {"gpus": 4, "times": [3.2, 3.3]}: repeats.
    const bool repeats = lists.size() == 1 && lists.begin()->second.size() == 1;
    const std::string repeated = repeats ? lists.begin()->second.front() : "";
    if (groups.empty() && !cells.empty() && !repeats) add_row(cells);
    if (groups.empty() && !cells.empty() && repeats)
      for (const Json& one : value[repeated]) {
        Values row = cells;
        row.emplace_back(repeated, cell_of(one));
        add_row(std::move(row));
      }
    for (const std::string& key : groups) {
      Values within = cells;
      if (groups.size() > 1) within.emplace_back(counts(value) ? "count" : "name", key);
      add(value[key], key, std::move(within));
    }
  }
  RawTable table() && { return std::move(rows_).table(); }

 private:
  void add_row(Values values) {
    rows_.add(fmt::format("{}: row {}", rows_.file(), rows_.size() + 1), std::move(values));
  }

  /// Objects, or lists of one length each, below names in the first.
  void add_list(const Json& list, const std::string& name, const Values& cells) {
    WordList names;
    std::size_t number = 0;
    for (const Json& item : list) {
      ++number;
      if (item.is_object()) add(item, name, cells);
      if (!item.is_structured() && list.front().is_object())
        throw UserError(R"({}: row {}: a row is an object, as {{"p": 1, "time_s": 800}})",
                        rows_.file(),
                        number);
      if (!item.is_array() || !holds_no_more(item) || item.empty()) continue;
      if (names.empty())
        for (const Json& one : item)
          names.push_back(one.is_string() ? one.get<std::string>()
                                          : fmt::format("column {}", names.size() + 1));
      if (item.size() != names.size() || item.front() == names.front()) continue;
      Values row = cells;
      for (std::size_t i = 0; i < names.size(); ++i) row.emplace_back(names[i], cell_of(item[i]));
      add_row(std::move(row));
    }
  }

  /// Lists of one length, one of which counts, are columns.
  bool add_columns(const Json& value,
                   const std::map<std::size_t, WordList>& lists,
                   const Values& cells) {
    for (const auto& [length, names] : lists) {
      if (length < 2 || names.size() < 2 || std::ranges::none_of(names, names_a_count)) continue;
      for (std::size_t i = 0; i < length; ++i) {
        Values row = cells;
        for (const std::string& name : names) row.emplace_back(name, cell_of(value[name][i]));
        add_row(std::move(row));
      }
      return true;
    }
    return false;
  }

  KeyedRows rows_;
};

/// Reads values as programs write them: "[1, 2]", "{'a': 1}", "c(1, 2)", "np.array([1 2])".
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  /// What lines assign, by name: "threads = [1, 2, 4]", ">>> n = [1, 2]", "int p[] = {1, 2}".
  Json assigned() {
    Json all = Json::object();
    std::string_view comment;  // above or behind
    while (at_ < text_.size()) {
      at_ = std::min(text_.find_first_not_of(" \t'\"", at_), text_.size());
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view line = text_.substr(at_, end - at_);
      if (line.starts_with('#') || line.starts_with('%') || line.starts_with("//")) comment = line;
      const bool alone = line.starts_with('[') || line.starts_with('{');
      Json one = alone ? value(0) : Json();
      std::string name = "values";
      // Before the name may stand a prompt, the number of the line, a mark of a list, a type.
      for (std::size_t begin = end - line.size(); !alone && one.empty() && begin < end;) {
        at_ = begin;
        name = word();
        begin += std::max<std::size_t>(name.size(), 1);
        if (!name.empty() && assigns()) one = value(0);
        if (!one.is_structured()) one = Json();
      }
      const bool found = one.is_structured() && !one.empty();
      std::ranges::replace(name, '.', '_');  // "time.sec" of R
      if (found) name_columns(one, comment);
      if (found) all[name] = one;
      at_ = std::min(text_.find('\n', found ? at_ : end - line.size()), text_.size() - 1) + 1;
    }
    return all;
  }

 private:
  static constexpr int most_depth = 16;

  /// Puts the names of a comment, "# (ranks, seconds)", above rows of as many numbers.
  static void name_columns(Json& rows, std::string_view comment) {
    const std::size_t colon = comment.find(':');
    comment = trimmed(comment.substr(colon == comment.npos ? 0 : colon), " \t#%/()[]:;.");
    Json names = Json::array();
    for (const std::string_view name : split(comment, ',')) names.push_back(trimmed(name));
    const bool count = std::ranges::any_of(
        names, [](const Json& name) { return names_a_count(name.get<std::string>()); });
    const bool fits = rows.is_array() && std::ranges::all_of(rows, [&](const Json& row) {
                        return row.is_array() && row.size() == names.size() && holds_no_more(row);
                      });
    if (count && fits) rows.insert(rows.begin(), names);
  }

  /// Whether a sign that assigns stands behind a name; "workers{1, 2}" and "p[] = {1, 2}" of C++.
  bool assigns() {
    at_ = std::min(text_.find_first_not_of("'\"", at_), text_.size());
    if (text_.substr(at_).starts_with('{')) return true;
    if (text_.substr(at_).starts_with('['))
      at_ = std::min(text_.find_first_not_of("[]0123456789", at_), text_.size());
    return take('=') || take(':') || (take('<') && take('-'));
  }

  /// To what is no blank and no comment.
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool comment = c == '#' || c == '%' || text_.substr(at_, 2) == "//";
      if (!comment && std::isspace(static_cast<unsigned char>(c)) == 0) return;
      at_ = comment ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
    }
  }
  bool take(char c) {
    skip();
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }
  std::string span(std::string_view of) {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(of, at_), text_.size());
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string word() {
    const bool letter =
        at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0;
    return letter ? span("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") : "";
  }

  /// Discarded for what is none.
  Json value(int depth) {
    const Json none(Json::value_t::discarded);
    skip();
    if (depth > most_depth || at_ >= text_.size()) return none;
    const char c = text_[at_];
    if (c == '[' || c == '(' || c == '{') {
      ++at_;
      return values(c == '[' ? ']' : c == '(' ? ')' : '}', depth);
    }
    if (c == '\'' || c == '"') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) return none;
      const std::string text(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return text;
    }
    if (const std::string name = word(); !name.empty()) {
      if (!take('(')) return name;
      const Json arguments = values(')', depth);
      const bool around = arguments.is_array() && arguments.size() == 1;
      return around && arguments.front().is_structured() ? arguments.front() : arguments;
    }
    const auto number = parse_number<double>(span("+-.0123456789eE"));
    return number ? Json(*number) : none;
  }

  /// A list, or an object of what has a name.
  Json values(char close, int depth) {
    Json list = Json::array();
    Json named = Json::object();
    while (!take(close)) {
      const Json one = value(depth + 1);
      if (one.is_discarded()) return one;
      if (take(':') || take('=')) {
        take('>');
        const Json of = value(depth + 1);
        if (of.is_discarded()) return of;
        const bool number = one.is_number();
        named[number            ? fmt::format("{}", one.get<double>())
              : one.is_string() ? one.get<std::string>()
                                : one.dump()] = of;
      } else {
        list.push_back(one);
      }
      if (!take(',')) take(';');
    }
    // Beside a list or an object the rest of a call are options.
    const bool options = !list.empty() && list.front().is_structured();
    return named.empty() || options ? list : named;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};
}  // namespace

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
    Values values;
    for (const auto& [key, value] : *row) values.emplace_back(key, toml_cell(*value, key, place));
    rows.add(place, std::move(values));
  }
  return std::move(rows).table();
}

RawTable parse_json(std::string_view text, const std::string& file) {
  NestedRows rows(file);
  const std::vector<std::string_view> lines = json_lines(text);
  Json document = Json::array();
  for (const std::string_view line : lines) document.push_back(parse_bounded_json(line, file));
  if (lines.size() < 2) document = parse_bounded_json(text, file);
  const bool scalars = holds_no_more(document) && !counts(document);
  if (!scalars) rows.add(document, "value", {});
  RawTable table = std::move(rows).table();
  if (!table.rows.empty()) return table;
  throw UserError(
      file + R"(: no rows; write [{"p": 1, "time_s": 800}, ...] or {"rows": [...]} around it)");
}

RawTable assigned_rows(std::string_view text, const std::string& file) {
  NestedRows rows(file);
  try {
    rows.add(LiteralReader(text).assigned(), "value", {});
  } catch (const UserError&) {
    return {};  // a list of something else
  }
  RawTable table = std::move(rows).table();
  const bool counts = std::ranges::any_of(table.columns, names_a_count);
  return counts && table.rows.size() > 1 ? table : RawTable{};
}

namespace {
constexpr std::size_t longest_tag = 2000;

/// 4 of `rowspan="4"` in a tag; 1 without it.
std::size_t span_of(const std::string& tag, const char* attribute) {
  const std::size_t at = tag.find_first_of("0123456789", tag.find(attribute));
  if (tag.find(attribute) == tag.npos || at == tag.npos) return 1;
  const std::size_t end = tag.find_first_not_of("0123456789", at);
  return std::max<std::size_t>(parse_number<std::size_t>(tag.substr(at, end - at)).value_or(1), 1);
}

/// HTML as lines with bars; a cell that spans rows or columns stands in each of them.
std::string without_html(std::string_view text) {
  std::map<std::size_t, std::map<std::size_t, std::string>> cells;  // by row and column
  std::map<std::size_t, std::string> outside;                       // before the row
  std::vector<std::string*> open{&outside[0]};                      // what text belongs to
  std::size_t row = 0;
  std::size_t column = 0;
  std::size_t spanned = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find('<', at), text.size());
    const std::size_t end = std::min(text.find('>', begin), text.size() - 1);
    for (std::string* const place : open) {
      for (const char c : text.substr(at, begin - at)) *place += c == '\n' ? ' ' : c;
      *place += ' ';
    }
    at = end + 1;
    const std::string tag =
        plain_text(text.substr(begin, std::min(end - std::min(begin, end), longest_tag)));
    if (tag.starts_with("<tr") || tag.starts_with("</ta")) {
      open = {&outside[++row]};
      column = 0;
    }
    if (!tag.starts_with("<td") && tag != "<th" && !tag.starts_with("<th ")) continue;
    while (cells[row].contains(column)) ++column;
    open.clear();
    for (std::size_t rows = span_of(tag, "rowspan"); rows > 0; --rows)
      for (std::size_t columns = span_of(tag, "colspan"); columns > 0; --columns) {
        check_row_count(++spanned, "HTML");
        open.push_back(&cells[row + rows - 1][column + columns - 1]);
      }
  }
  std::string plain;
  for (std::size_t i = 0; i <= row; ++i) {
    plain += outside[i] + "\n";
    for (const auto& [at, cell] : cells[i]) plain += "| " + cell;
    plain += '\n';
  }
  return plain;
}

}  // namespace

std::string with_plain_bars(std::string_view text) {
  const bool html = text.find("<td") != text.npos || text.find("<TD") != text.npos;
  return rewritten(html ? without_html(text) : std::string(text), false);
}
}  // namespace scaleworth::cli
