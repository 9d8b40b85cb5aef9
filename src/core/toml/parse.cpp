// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/toml/node.h"

#include <algorithm>

#include <fmt/format.h>

namespace {

/// What toml++ takes for granted of a text and the text does not hold.
struct BrokenAssumption {};

constexpr void assume(bool holds) {
  if (!holds) throw BrokenAssumption();
}

}  // namespace

// toml++ 3.3.0 meets hostile text ("x = [}") with assumptions that it checks by assertions, and
// turns into promises to the compiler where NDEBUG is defined: here they are checked in every
// build.
#undef NDEBUG
#define TOML_ASSERT(holds) assume(static_cast<bool>(holds))
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

/// A bracket at the start of a line with anything but a name behind it meets an assumption of
/// toml++ 3.3.0 (parse_table_header to parse_key) that it does not check.
void refuse_nameless_header(std::string_view line, const std::string& place) {
  constexpr std::string_view blank = " \t";
  constexpr std::string_view names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"']";
  const auto skip_blanks = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('[')) return;
  line.remove_prefix(1);
  if (line.starts_with('[')) line.remove_prefix(1);
  skip_blanks();
  if (!line.empty() && names.find(line.front()) != std::string_view::npos) return;
  throw UserError(place +
                  ": a bracket that begins a line has a table's name behind it, as [[row]]");
}

void refuse_nameless_headers(std::string_view text, const std::string& file) {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find_first_of("\n"), text.size());
    refuse_nameless_header(text.substr(0, end), fmt::format("{}:{}", file, line));
    text.remove_prefix(std::min(end + 1, text.size()));
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
  refuse_nameless_headers(text, file);
  try {
    const toml::table table = toml::parse(text, std::string_view(file));
    return convert(table, file);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}:{}: {}: correct the line or take the file as it was delivered",
                                file,
                                error.source().begin.line,
                                printable(error.description())));
  } catch (const BrokenAssumption&) {
    throw UserError(file +
                    ": no TOML: look for brackets without a partner, or take the file as it was "
                    "delivered");
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
