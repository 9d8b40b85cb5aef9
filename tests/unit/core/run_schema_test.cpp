// SPDX-License-Identifier: Apache-2.0
/// docs/run.schema.json against what is written, by a checker of just the keywords used there.
#include "src/core/run/json.h"
#include "tests/catch.h"
#include "tests/unit/core/run_builder.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using nlohmann::json;

namespace {

json schema() {
  std::ifstream stream(SCALEWORTH_RUN_SCHEMA);
  return json::parse(stream);
}

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

class Checker {
 public:
  /// Problems found, one per line; empty when `document` follows the schema.
  std::string check(const json& document) {
    visit(document, root_, "");
    return problems_;
  }

 private:
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
                                      "required",
                                      "properties",
                                      "additionalProperties",
                                      "items"};
    for (const auto& [keyword, argument] : rule.items()) {
      if (known.count(keyword) == 0) throw std::runtime_error("unknown keyword " + keyword);
      if (keyword == "$ref") visit(value, root_.at(pointer(argument)), place);
      if (keyword == "const") require(value == argument, place, keyword);
      if (keyword == "enum")
        require(std::count(argument.begin(), argument.end(), value) == 1, place, keyword);
      if (keyword == "type") require(of_type(value, argument), place, keyword);
      if (keyword == "required") {
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

  json root_ = schema();
  std::string problems_;
};

/// Every place in the schema where properties are declared must require all of them.
void require_all_required(const json& rule) {
  if (rule.is_object() && rule.contains("properties") && rule["properties"].is_object()) {
    std::set<std::string> declared;
    for (const auto& [name, member] : rule["properties"].items()) declared.insert(name);
    REQUIRE(declared == rule.at("required").get<std::set<std::string>>());
    REQUIRE(rule.at("additionalProperties") == json(false));
  }
  if (rule.is_structured()) {
    for (const json& part : rule) require_all_required(part);
  }
}

}  // namespace

TEST_CASE("a written run follows the published schema", "[run]") {
  REQUIRE(Checker().check(json::parse(run_to_json(full_run()))).empty());
  REQUIRE(Checker().check(json::parse(run_to_json(Run{}))).empty());
}

TEST_CASE("the schema names exactly the members that are written", "[run]") {
  require_all_required(schema());  // with the case above: nothing more, nothing less
}

TEST_CASE("the schema is for the version that is written", "[run]") {
  REQUIRE(schema()["properties"]["schema_version"]["const"] == run_schema_version);
}

TEST_CASE("the schema check sees a renamed member, a wrong type and an unknown status", "[run]") {
  json document = json::parse(run_to_json(full_run()));
  document["probes"][0]["status"] = "maybe";
  document["suite"] = 3;
  document["extra"] = 1;
  document["probes"][0]["points"][0]["samples"]["wall_s"][0] = nullptr;
  const std::string problems = Checker().check(document);
  REQUIRE(std::count(problems.begin(), problems.end(), '\n') == 4);
}
