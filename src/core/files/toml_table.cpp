// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/toml_table.h"

#include "src/core/error.h"

#include <cmath>
#include <fstream>

namespace {
/// What toml++ takes for granted of a text and the text does not hold.
struct BrokenAssumption {};

constexpr void assume(bool holds) {
  if (!holds) throw BrokenAssumption();
}
}  // namespace

// toml++ 3.3.0 meets hostile text ("x = [}") with assertions, which are promises to the compiler
// where NDEBUG is defined: here they are checked in every build.
#undef NDEBUG
#define TOML_ASSERT(holds) assume(static_cast<bool>(holds))
#include <toml++/toml.h>

namespace scaleworth::toml_file {
namespace {
// Ours have 10 in a line (versions, addresses); the stack takes thousands.
constexpr int most_dots = 100;

/// What the parser cannot be trusted with. Each dot of a key nests a table, and the parser's tables
/// are freed by recursion: a hostile line of a million dots would exhaust the stack (values nest at
/// most TOML_MAX_NESTED_VALUES deep). A letter beyond ASCII after a key meets undefined behaviour
/// in toml++ 3.3.0 (is_non_ascii_horizontal_whitespace).
void refuse_hostile_text(std::string_view text, const std::string& file) {
  int line = 1;
  int dots = 0;
  for (const char character : text) {
    if (static_cast<unsigned char>(character) > 0x7f) {
      throw UserError(
          "{}:{}: a letter that is not ASCII: spell it in ASCII, in comments too", file, line);
    }
    if (character == '\n') {
      ++line;
      dots = 0;
    } else if (character == '.' && ++dots > most_dots) {
      throw UserError("{}:{}: more than {} dots in one line: split it", file, line, most_dots);
    }
  }
}

/// A bracket at the start of a line with anything but a name behind it meets an assumption of
/// toml++ 3.3.0 (parse_table_header to parse_key) that it does not check.
void refuse_nameless_headers(std::string_view text, const std::string& file) {
  constexpr std::string_view blank = " \t";
  constexpr std::string_view names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"']";
  const auto skip = [&](std::size_t characters) {
    text.remove_prefix(std::min(characters, text.size()));
  };
  for (int line = 1; !text.empty(); ++line) {
    skip(text.find_first_not_of(blank));
    if (text.starts_with('[')) {
      skip(text.starts_with("[[") ? 2 : 1);
      skip(text.find_first_not_of(blank));
      if (text.empty() || names.find(text.front()) == std::string_view::npos) {
        throw UserError(
            "{}:{}: a bracket that begins a line has a table's name behind it, as [[row]]",
            file,
            line);
      }
    }
    skip(std::min(text.find('\n'), text.size()) + 1);
  }
}

std::shared_ptr<const Node> convert(const toml::node& node, const std::string& file) {
  auto result = std::make_shared<Node>();
  result->line = node.source().begin.line;
  if (const auto* table = node.as_table()) {
    auto& map = result->value.emplace<Node::Map>();
    for (const auto& [key, value] : *table) map[std::string(key.str())] = convert(value, file);
  } else if (const auto* array = node.as_array()) {
    auto& list = result->value.emplace<Node::List>();
    for (const toml::node& element : *array) list.push_back(convert(element, file));
  } else if (const auto* text = node.as_string()) {
    result->value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result->value = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    result->value = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    result->value = flag->get();
  } else {
    throw UserError(
        "{}:{}: dates are written as text here: put it into quotes", file, result->line);
  }
  return result;
}

// Files that people edit: our largest has 40 kB. A wrong path, to a recording, is refused at once.
constexpr std::size_t largest_file = 4u << 20;

const Node::Map& map_of(const Node& node) {
  return std::get<Node::Map>(node.value);
}
}  // namespace

std::shared_ptr<const Node> parse_document(std::string_view text, const std::string& file) {
  refuse_hostile_text(text, file);
  refuse_nameless_headers(text, file);
  try {
    const toml::table table = toml::parse(text, std::string_view(file));
    return convert(table, file);
  } catch (const toml::parse_error& error) {
    throw UserError("{}:{}: {}: correct the line or take the file as it was delivered",
                    file,
                    error.source().begin.line,
                    printable(error.description()));
  } catch (const BrokenAssumption&) {
    throw UserError(file +
                    ": no TOML: look for brackets without a partner, or take the file as it was "
                    "delivered");
  }
}

std::string printable(std::string_view text) {
  return scaleworth::printable(text.substr(0, 200));  // enough of a value to find it
}

Table Table::parse(std::string_view text, const std::string& file) {
  return {parse_document(text, file), file};
}

const Node* Table::at(const char* key) const {
  const auto found = map_of(*node_).find(key);
  return found == map_of(*node_).end() ? nullptr : found->second.get();
}

void Table::refuse(const std::string& message, const char* key) const {
  const Node* place = key == nullptr ? nullptr : at(key);
  throw UserError("{}:{}: {}", file_, place == nullptr ? node_->line : place->line, message);
}

const Node* Table::find(const char* key) {
  known_.insert(key);
  return at(key);
}

const Node& Table::required(const char* key) {
  const Node* node = find(key);
  if (node == nullptr) refuse(fmt::format("'{}' is missing: add it", key));
  return *node;
}

template <class T>
const T* Table::find_as(const char* key, const char* form) {
  const Node* node = find(key);
  if (node == nullptr) return nullptr;
  const T* value = std::get_if<T>(&node->value);
  if (value == nullptr) refuse_form(key, form);
  return value;
}

void Table::refuse_form(const char* key, const char* form) const {
  refuse(fmt::format("'{}' must be {}", key, form), key);
}

std::string Table::text_value(const Node& node, const char* key) const {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) refuse_form(key, "text: put it into quotes");
  return *text;
}

double Table::positive_value(const Node& node, const char* key) const {
  double value = 0.0;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    value = static_cast<double>(*integer);
  } else if (const auto* number = std::get_if<double>(&node.value)) {
    value = *number;
  } else {
    refuse_form(key, "a number without quotes");
  }
  // Products of what is larger than any amount end as infinity.
  if (!(value <= 1e40) || !(value > 0.0))
    refuse_form(key, "a positive number: leave the key out if it is unknown");
  return value;
}

std::int64_t Table::positive_integer_value(const Node& node, const char* key) const {
  const auto* integer = std::get_if<std::int64_t>(&node.value);
  if (integer == nullptr || *integer <= 0) refuse_form(key, "a positive whole number");
  return *integer;
}

bool Table::flag(const char* key, bool otherwise) {
  const bool* value = find_as<bool>(key, "true or false");
  return value ? *value : otherwise;
}

std::vector<std::string> Table::texts(const char* key) {
  std::vector<std::string> result;
  const auto* list = find_as<Node::List>(key, "a list: [\"...\"]");
  if (list == nullptr) return result;
  for (const auto& element : *list) result.push_back(text_value(*element, key));
  return result;
}

std::vector<std::int64_t> Table::positive_integers(const char* key) {
  std::vector<std::int64_t> result;
  const auto* list = find_as<Node::List>(key, "a list: [1, 2]");
  if (list == nullptr) return result;
  for (const auto& element : *list) result.push_back(positive_integer_value(*element, key));
  return result;
}

std::vector<Table> Table::tables(const char* key) {
  std::vector<Table> result;
  const std::string form = fmt::format("written as [[{}]]", key);
  const auto* list = find_as<Node::List>(key, form.c_str());
  if (list == nullptr) return result;
  for (const auto& element : *list) {
    if (!std::holds_alternative<Node::Map>(element->value)) refuse_form(key, form.c_str());
    result.push_back(Table(element, file_));
  }
  return result;
}

std::vector<std::pair<std::string, Table>> Table::named_tables(const char* key) {
  std::vector<std::pair<std::string, Table>> result;
  const auto* map = find_as<Node::Map>(key, "a table");
  if (map == nullptr) return result;
  for (const auto& [name, element] : *map) {
    if (!std::holds_alternative<Node::Map>(element->value)) {
      refuse(fmt::format("'{}' of '{}' must be a table: {{ ... }}", printable(name), key), key);
    }
    result.emplace_back(name, Table(element, file_));
  }
  return result;
}

void Table::finish() const {
  for (const auto& [name, element] : map_of(*node_)) {
    if (known_.count(name) != 0) continue;
    throw UserError("{}:{}: unknown key '{}'; known here: {}",
                    file_,
                    element->line,
                    printable(name),
                    fmt::join(known_, ", "));
  }
}

std::map<std::string, Texts> text_tables(std::string_view text, const std::string& file) {
  const auto document = parse_document(text, file);
  std::map<std::string, Texts> tables;
  for (const auto& [name, table] : map_of(*document))
    for (const auto& [key, value] : map_of(*table))
      tables[name][key] = std::get<std::string>(value->value);
  return tables;
}

std::string read_small_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UserError("{}: cannot be opened for reading", path);
  std::string text(largest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(stream.gcount());
  if (stream.bad()) throw UserError("{}: cannot be read", path);
  if (text.size() > largest_file) {
    throw UserError("{}: larger than 4 MiB, so it is no catalogue", path);
  }
  return text;
}
}  // namespace scaleworth::toml_file
