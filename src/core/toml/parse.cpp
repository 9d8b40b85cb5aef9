// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/toml/node.h"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace scaleworth::toml_file {
namespace {

constexpr std::size_t longest_message = 200;
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
      throw UserError(fmt::format(
          "{}:{}: a letter that is not ASCII: spell it in ASCII, in comments too", file, line));
    }
    if (character == '\n') {
      ++line;
      dots = 0;
    } else if (character == '.' && ++dots > most_dots) {
      throw UserError(
          fmt::format("{}:{}: more than {} dots in one line: split it", file, line, most_dots));
    }
  }
}

std::shared_ptr<const Node> convert(const toml::node& node, const std::string& file);

Node::Map convert_table(const toml::table& table, const std::string& file) {
  Node::Map map;
  for (const auto& [key, value] : table) map[std::string(key.str())] = convert(value, file);
  return map;
}

Node::List convert_list(const toml::array& array, const std::string& file) {
  Node::List list;
  for (const toml::node& element : array) list.push_back(convert(element, file));
  return list;
}

std::shared_ptr<const Node> convert(const toml::node& node, const std::string& file) {
  auto result = std::make_shared<Node>();
  result->line = node.source().begin.line;
  if (const auto* table = node.as_table()) {
    result->value = convert_table(*table, file);
  } else if (const auto* array = node.as_array()) {
    result->value = convert_list(*array, file);
  } else if (const auto* text = node.as_string()) {
    result->value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result->value = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    result->value = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    result->value = flag->get();
  } else {
    throw UserError(fmt::format(
        "{}:{}: dates are written as text here: put it into quotes", file, result->line));
  }
  return result;
}

}  // namespace

std::shared_ptr<const Node> parse_document(std::string_view text, const std::string& file) {
  refuse_hostile_text(text, file);
  try {
    const toml::table table = toml::parse(text, std::string_view(file));
    return convert(table, file);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}:{}: {}: correct the line or take the file as it was delivered",
                                file,
                                error.source().begin.line,
                                printable(error.description())));
  }
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, longest_message));
  for (char& character : result) {
    if (character < ' ' || character > '~') character = '?';
  }
  return result;
}

}  // namespace scaleworth::toml_file
