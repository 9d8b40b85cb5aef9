// SPDX-License-Identifier: Apache-2.0
/// JSON documents against the schemas in docs/, by a checker of just the keywords used there.
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace scaleworth {

inline nlohmann::json read_schema(const std::string& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

class SchemaChecker {
 public:
  explicit SchemaChecker(nlohmann::json schema) : root_(std::move(schema)) {}

  /// Problems found, one per line; empty when `document` follows the schema.
  std::string check(const nlohmann::json& document) {
    visit(document, root_, "");
    return problems_;
  }

 private:
  using json = nlohmann::json;

  static bool has_type(const json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }
  void require(bool holds, const std::string& place, const std::string& keyword) {
    if (!holds) problems_ += place + " breaks " + keyword + "\n";
  }
  void visit(const json& value, const json& rule, const std::string& place) {
    const std::set<std::string> known{"$schema",
                                      "$id",
                                      "$defs",
                                      "title",
                                      "description",
                                      "type",
                                      "const",
                                      "enum",
                                      "$ref",
                                      "anyOf",
                                      "required",
                                      "properties",
                                      "additionalProperties",
                                      "items"};
    for (const auto& [keyword, argument] : rule.items()) {
      if (known.count(keyword) == 0) throw std::runtime_error("unknown keyword " + keyword);
      if (keyword == "$ref") visit(value, root_.at(pointer(argument)), place);
      if (keyword == "anyOf") {
        const auto follows = [&, parent = problems_](const json& one) {
          problems_.clear();
          visit(value, one, place);
          return std::exchange(problems_, parent).empty();
        };
        require(std::any_of(argument.begin(), argument.end(), follows), place, keyword);
      }
      if (keyword == "const") require(value == argument, place, keyword);
      if (keyword == "enum")
        require(std::count(argument.begin(), argument.end(), value) == 1, place, keyword);
      if (keyword == "type") require(of_type(value, argument), place, keyword);
      if (keyword == "required" && value.is_object()) {
        for (const auto& name : argument) require(value.contains(name), place, name);
      }
    }
    if (value.is_array() && rule.contains("items")) {
      for (const json& item : value) visit(item, rule["items"], place + "/*");
    }
    if (value.is_object()) visit_members(value, rule, place);
  }
  void visit_members(const json& value, const json& rule, const std::string& place) {
    for (const auto& [name, member] : value.items()) {
      if (rule.contains("properties") && rule["properties"].contains(name)) {
        visit(member, rule["properties"][name], place + "/" + name);
      } else if (rule.contains("additionalProperties")) {
        const json& others = rule["additionalProperties"];
        require(others != json(false), place + "/" + name, "additionalProperties");
        if (others.is_object()) visit(member, others, place + "/" + name);
      }
    }
  }
  static json::json_pointer pointer(const std::string& reference) {
    return json::json_pointer(reference.substr(1));
  }
  static bool of_type(const json& value, const json& types) {
    if (types.is_string()) return has_type(value, types);
    return std::any_of(
        types.begin(), types.end(), [&](const json& type) { return has_type(value, type); });
  }

  json root_;
  std::string problems_;
};

/// Places in the schema where properties are declared and not all of them are required, or others
/// are allowed; one per line.
inline std::string not_exact(const nlohmann::json& rule, const std::string& place = "") {
  std::string problems;
  if (rule.is_object() && rule.contains("properties") && rule["properties"].is_object()) {
    std::set<std::string> declared;
    for (const auto& [name, member] : rule["properties"].items()) declared.insert(name);
    const bool exact = rule.contains("required") &&
                       declared == rule["required"].get<std::set<std::string>>() &&
                       rule.value("additionalProperties", true) == false;
    if (!exact) problems += place + "\n";
  }
  if (rule.is_structured()) {
    for (const auto& [name, part] : rule.items()) problems += not_exact(part, place + "/" + name);
  }
  return problems;
}

/// What of `document` breaks the schema in this file, one problem per line; empty for nothing.
inline std::string schema_problems(const std::string& schema, const nlohmann::json& document) {
  return SchemaChecker(read_schema(schema)).check(document);
}

}  // namespace scaleworth
