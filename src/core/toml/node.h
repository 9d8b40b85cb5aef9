// SPDX-License-Identifier: Apache-2.0
/// The values of a TOML document with their lines, apart from the library that parses them: one
/// source file pays for compiling it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace scaleworth::toml_file {

struct Node {
  using List = std::vector<std::shared_ptr<const Node>>;
  using Map = std::map<std::string, std::shared_ptr<const Node>>;
  std::variant<bool, std::int64_t, double, std::string, List, Map> value;
  unsigned line = 0;
};

/// The document as a node with a Map. Throws UserError naming `file` and line.
std::shared_ptr<const Node> parse_document(std::string_view text, const std::string& file);

/// `text` with everything but printable ASCII as "?", at most 200 characters: fit for a message.
std::string printable(std::string_view text);

}  // namespace scaleworth::toml_file
