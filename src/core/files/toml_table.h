// SPDX-License-Identifier: Apache-2.0
/// Strict TOML, units checked, positions; only its .cpp includes toml++.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace scaleworth::toml_file {
/// A value of a TOML document, apart from the library that parses it: one source pays for that.
struct Node {
  using List = std::vector<std::shared_ptr<const Node>>;
  using Map = std::map<std::string, std::shared_ptr<const Node>>;
  std::variant<bool, std::int64_t, double, std::string, List, Map> value;
  unsigned line = 0;
};

/// The document as a node with a Map. Throws UserError naming `file` and line.
std::shared_ptr<const Node> parse_document(std::string_view text, const std::string& file);

/// As scaleworth::printable, of at most 200 bytes: fit for a message.
std::string printable(std::string_view text);

/// A table of a file that a person edits. Each accessor marks its key as known, and throws
/// UserError for a required key that is missing and a value of another kind.
class Table {
 public:
  /// The root of a document. Throws UserError as `parse_document`.
  static Table parse(std::string_view text, const std::string& file);

  std::string text(const char* key) { return text_value(required(key), key); }
  double positive(const char* key) { return positive_value(required(key), key); }
  std::int64_t positive_integer(const char* key) {
    return positive_integer_value(required(key), key);
  }
  std::optional<std::string> optional_text(const char* key) {
    return find(key) ? std::optional(text(key)) : std::nullopt;
  }
  std::optional<double> optional_positive(const char* key) {
    return find(key) ? std::optional(positive(key)) : std::nullopt;
  }
  bool has(const char* key) { return find(key) != nullptr; }
  bool flag(const char* key, bool otherwise);
  /// Lists are empty when the key is missing.
  std::vector<std::string> texts(const char* key);
  std::vector<std::int64_t> positive_integers(const char* key);
  std::vector<Table> tables(const char* key);
  /// The tables inside the table `key`, each with its name, by name.
  std::vector<std::pair<std::string, Table>> named_tables(const char* key);

  /// Throws UserError naming the first key that no accessor asked for, and those that were.
  void finish() const;
  /// Throws UserError with file and the line of `key` (of the table without it).
  [[noreturn]] void refuse(const std::string& message, const char* key = nullptr) const;

 private:
  Table(std::shared_ptr<const Node> node, std::string file)
      : node_(std::move(node)), file_(std::move(file)) {}
  const Node* at(const char* key) const;  // null when the key is missing
  const Node* find(const char* key);      // marks the key as known
  const Node& required(const char* key);
  /// Null when the key is missing; refuses a value of another type.
  template <class T>
  const T* find_as(const char* key, const char* form);
  [[noreturn]] void refuse_form(const char* key, const char* form) const;
  double positive_value(const Node& node, const char* key) const;
  std::int64_t positive_integer_value(const Node& node, const char* key) const;
  std::string text_value(const Node& node, const char* key) const;

  std::shared_ptr<const Node> node_;
  std::string file_;
  std::set<std::string> known_;
};

/// A document of tables that hold texts alone, by their names. Throws UserError as
/// `parse_document`.
using Texts = std::map<std::string, std::string>;
std::map<std::string, Texts> text_tables(std::string_view text, const std::string& file);

/// The whole text of a file. Throws UserError when it cannot be read or exceeds 4 MiB.
std::string read_small_file(const std::string& path);
}  // namespace scaleworth::toml_file
