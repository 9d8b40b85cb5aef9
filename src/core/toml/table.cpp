// SPDX-License-Identifier: Apache-2.0
#include "src/core/toml/table.h"

#include "src/core/error.h"
#include "src/core/toml/node.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::toml_file {
namespace {

constexpr std::size_t largest_file = 4u << 20;

const Node::Map& map_of(const Node& node) {
  return std::get<Node::Map>(node.value);
}

}  // namespace

Table Table::parse(std::string_view text, const std::string& file) {
  return {parse_document(text, file), file};
}

Table::Table(std::shared_ptr<const Node> node, std::string file)
    : node_(std::move(node)), file_(std::move(file)) {}

void Table::refuse(const std::string& message, const char* key) const {
  unsigned line = node_->line;
  if (key != nullptr) {
    const auto found = map_of(*node_).find(key);
    if (found != map_of(*node_).end()) line = found->second->line;
  }
  throw UserError(fmt::format("{}:{}: {}", file_, line, message));
}

const Node* Table::find(const char* key) {
  known_.insert(key);
  const auto found = map_of(*node_).find(key);
  return found == map_of(*node_).end() ? nullptr : found->second.get();
}

const Node& Table::required(const char* key) {
  const Node* node = find(key);
  if (node == nullptr) refuse(fmt::format("'{}' is missing: add it", key));
  return *node;
}

const std::string& Table::text_value(const Node& node, const char* key) const {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) refuse(fmt::format("'{}' must be text: put it into quotes", key), key);
  return *text;
}

double Table::positive_value(const Node& node, const char* key) const {
  double value = 0.0;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    value = static_cast<double>(*integer);
  } else if (const auto* number = std::get_if<double>(&node.value)) {
    value = *number;
  } else {
    refuse(fmt::format("'{}' must be a number without quotes", key), key);
  }
  if (!std::isfinite(value) || value <= 0.0) {
    refuse(fmt::format("'{}' must be a positive number: leave the key out if it is unknown", key),
           key);
  }
  return value;
}

std::int64_t Table::positive_integer_value(const Node& node, const char* key) const {
  const auto* integer = std::get_if<std::int64_t>(&node.value);
  if (integer == nullptr || *integer <= 0) {
    refuse(fmt::format("'{}' must be a positive whole number", key), key);
  }
  return *integer;
}

std::string Table::text(const char* key) {
  return text_value(required(key), key);
}

std::optional<std::string> Table::optional_text(const char* key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  return text_value(*node, key);
}

double Table::positive(const char* key) {
  return positive_value(required(key), key);
}

std::optional<double> Table::optional_positive(const char* key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  return positive_value(*node, key);
}

std::int64_t Table::positive_integer(const char* key) {
  return positive_integer_value(required(key), key);
}

std::optional<std::int64_t> Table::optional_positive_integer(const char* key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  return positive_integer_value(*node, key);
}

bool Table::flag(const char* key, bool otherwise) {
  const Node* node = find(key);
  if (node == nullptr) return otherwise;
  const auto* value = std::get_if<bool>(&node->value);
  if (value == nullptr) refuse(fmt::format("'{}' must be true or false", key), key);
  return *value;
}

std::vector<std::string> Table::texts(const char* key) {
  std::vector<std::string> result;
  const Node* node = find(key);
  if (node == nullptr) return result;
  const auto* list = std::get_if<Node::List>(&node->value);
  if (list == nullptr) refuse(fmt::format("'{}' must be a list: [\"...\"]", key), key);
  for (const auto& element : *list) result.push_back(text_value(*element, key));
  return result;
}

std::vector<std::int64_t> Table::positive_integers(const char* key) {
  std::vector<std::int64_t> result;
  const Node* node = find(key);
  if (node == nullptr) return result;
  const auto* list = std::get_if<Node::List>(&node->value);
  if (list == nullptr) refuse(fmt::format("'{}' must be a list: [1, 2]", key), key);
  for (const auto& element : *list) result.push_back(positive_integer_value(*element, key));
  return result;
}

std::vector<Table> Table::tables(const char* key) {
  std::vector<Table> result;
  const Node* node = find(key);
  if (node == nullptr) return result;
  const auto* list = std::get_if<Node::List>(&node->value);
  if (list == nullptr) refuse(fmt::format("'{}' must be written as [[{}]]", key, key), key);
  for (const auto& element : *list) {
    if (!std::holds_alternative<Node::Map>(element->value)) {
      refuse(fmt::format("'{}' must be written as [[{}]]", key, key), key);
    }
    result.push_back(Table(element, file_));
  }
  return result;
}

std::vector<std::pair<std::string, Table>> Table::named_tables(const char* key) {
  std::vector<std::pair<std::string, Table>> result;
  const Node* node = find(key);
  if (node == nullptr) return result;
  const auto* map = std::get_if<Node::Map>(&node->value);
  if (map == nullptr) refuse(fmt::format("'{}' must be a table", key), key);
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
    throw UserError(fmt::format("{}:{}: unknown key '{}'; known here: {}",
                                file_,
                                element->line,
                                printable(name),
                                fmt::join(known_, ", ")));
  }
}

std::string read_small_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UserError(fmt::format("{}: cannot be opened for reading", path));
  std::string text(largest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw UserError(fmt::format("{}: cannot be read", path));
  if (text.size() > largest_file) {
    throw UserError(fmt::format("{}: larger than 4 MiB, so it is no catalogue", path));
  }
  return text;
}

}  // namespace scaleworth::toml_file
