// SPDX-License-Identifier: Apache-2.0
/// docs/run.schema.json against what is written.
#include "src/core/run/json.h"
#include "tests/catch.h"
#include "tests/schema_check.h"
#include "tests/unit/core/run_builder.h"

#include <algorithm>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using nlohmann::json;

namespace {

json schema() {
  return read_schema(SCALEWORTH_RUN_SCHEMA);
}

std::string check(const json& document) {
  return SchemaChecker(schema()).check(document);
}

}  // namespace

TEST_CASE("a written run follows the published schema", "[run]") {
  REQUIRE(check(json::parse(run_to_json(full_run()))).empty());
  REQUIRE(check(json::parse(run_to_json(Run{}))).empty());
}

TEST_CASE("the schema names exactly the members that are written", "[run]") {
  REQUIRE(not_exact(schema()).empty());  // with the case above: nothing more, nothing less
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
  const std::string problems = check(document);
  REQUIRE(std::count(problems.begin(), problems.end(), '\n') == 4);
}
