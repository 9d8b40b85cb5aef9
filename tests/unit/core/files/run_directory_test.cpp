// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/run_directory.h"

#include "src/core/error.h"
#include "src/core/files/atomic_file.h"
#include "tests/catch.h"
#include "tests/schema_check.h"
#include "tests/unit/core/run_builder.h"
#include "tests/unit/core/temporary_directory.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace scaleworth;

namespace {
const Seconds always(0.0);
const Seconds never(3600.0);
}  // namespace

TEST_CASE("a saved run is read back from its directory and from its file", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory directory(temporary.path() / "new" / "run");
  directory.save(full_run());
  REQUIRE(read_run(directory.path()).suite == "quick");
  REQUIRE(read_run(directory.path() / "run.json").probes.size() == 2);
}

TEST_CASE("between milestones points are saved at most once an interval", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory directory(temporary.path(), never);
  Run run = full_run();
  run.complete = false;
  directory.save(run);
  run.probes[0].points.push_back(full_point());
  directory.save(run);
  REQUIRE(read_run(temporary.path()).probes[0].points.size() == 1);
  run.complete = true;  // a milestone is written at once
  directory.save(run);
  REQUIRE(read_run(temporary.path()).probes[0].points.size() == 2);
}

TEST_CASE("the end of a probe and an interruption are written at once", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory directory(temporary.path(), never);
  Run run;
  run.probes.resize(1);
  directory.save(run);
  run.probes[0].status = ProbeStatus::skipped;
  directory.save(run);
  REQUIRE(read_run(temporary.path()).probes[0].status == ProbeStatus::skipped);
  run.interruption = Finding(FindingId::stated, "interrupted by signal 15");
  directory.save(run);
  REQUIRE(read_run(temporary.path()).interruption == run.interruption);
}

TEST_CASE("a directory that holds a run is not written again", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory(temporary.path(), always).save(full_run());
  REQUIRE(message_of<UserError>([&] { RunDirectory again(temporary.path()); }) ==
          temporary.path().string() +
              " already holds a run; choose another directory or remove that one");
}

TEST_CASE("rows are appended below one header", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory directory(temporary.path());
  directory.append_rows("timings.csv", {"rank", "start_ns"}, {{"0", "1"}});
  directory.append_rows("timings.csv", {"rank", "start_ns"}, {{"1", "2"}, {"0", "3"}});
  REQUIRE(contents(temporary.path() / "timings.csv") == "rank,start_ns\n0,1\n1,2\n0,3\n");
}

TEST_CASE("a row of another width and a name that leaves the directory are refused", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory directory(temporary.path());
  REQUIRE_THROWS_AS(directory.append_rows("a.csv", {"rank"}, {{"0", "1"}}), std::invalid_argument);
  REQUIRE_THROWS_AS(directory.append_rows("../a.csv", {"rank"}, {}), std::invalid_argument);
  REQUIRE_THROWS_AS(directory.write_file("run.json", ""), std::invalid_argument);
  REQUIRE(entries(temporary.path()) == 1);  // run.json, which keeps the directory
}

TEST_CASE("a trace is written beside the run, in a folder of its own where named", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory(temporary.path()).write_file("traces/strong-2.json", "{}");
  REQUIRE(contents(temporary.path() / "traces" / "strong-2.json") == "{}");
}

TEST_CASE("what is no run directory is refused with its path", "[run]") {
  const TemporaryDirectory temporary;
  const std::string file = (temporary.path() / "run.json").string();
  REQUIRE(message_of<UserError>([&] { read_run(temporary.path()); }) ==
          "cannot read " + file +
              ": No such file or directory; give a run directory or its run.json");
}

TEST_CASE("a file beyond 1 GiB is refused by its size", "[run]") {
  const TemporaryDirectory temporary;
  const std::filesystem::path file = temporary.path() / "run.json";
  std::ofstream(file) << "{";
  REQUIRE(truncate(file.c_str(), off_t{10} << 30) == 0);  // sparse
  REQUIRE(message_of<UserError>([&] { read_run(file); }) ==
          "cannot read " + file.string() +
              ": more than 1073741824 bytes; give a run directory or its "
              "run.json");
}

TEST_CASE("times and default directories are UTC", "[run]") {
  const auto time = std::chrono::system_clock::from_time_t(1795252260);  // date -u -d @1795252260
  REQUIRE(utc_text(time) == "2026-11-21T09:11:00Z");
  REQUIRE(default_run_directory(time, "node/7 a") == "scaleworth-runs/20261121T091100Z-node-7-a");
}

TEST_CASE("only relative names without a way up stay inside a directory", "[run]") {
  REQUIRE(stays_inside("a.csv"));
  REQUIRE(stays_inside("traces/a..b.json"));
  REQUIRE_FALSE(stays_inside(""));
  REQUIRE_FALSE(stays_inside("a/../../b"));
  REQUIRE_FALSE(stays_inside("/a"));
  REQUIRE_FALSE(stays_inside("a/"));
  REQUIRE_FALSE(stays_inside(std::string("a\0b", 3)));
}

// docs/run.schema.json against what is written.
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
  json whole = schema();
  json& point = whole["properties"]["probes"]["items"]["properties"]["points"]["items"];
  // A point has of the vocabulary's parameters and metrics those that it was measured with.
  for (const char* member : {"setting", "amounts", "samples", "sampling"}) {
    CHECK(point["properties"][member]["additionalProperties"] == false);
    CHECK(point["properties"][member]["properties"].size() > 30);
    point["properties"].erase(member);
    std::erase(point["required"].get_ref<json::array_t&>(), json(member));
  }
  REQUIRE(not_exact(whole).empty());  // with the case above: nothing more, nothing less
}

TEST_CASE("the schema is for the version that is written", "[run]") {
  REQUIRE(schema()["properties"]["schema_version"]["const"] == run_schema_version);
}

TEST_CASE("the schema check sees a renamed member, a wrong type and an unknown status", "[run]") {
  json document = json::parse(run_to_json(full_run()));
  document["probes"][0]["status"] = "maybe";
  document["suite"] = 3;
  document["extra"] = 1;
  document["interruption"] = "a sentence";
  document["warnings"][0]["arguments"][0] = true;
  document["probes"][0]["points"][0]["samples"]["wall_s"][0] = nullptr;
  const std::string problems = check(document);
  REQUIRE(std::count(problems.begin(), problems.end(), '\n') == 6);
}

TEST_CASE("of two runs that want one directory the second is refused", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory first(temporary.path() / "run");  // has saved nothing yet
  CHECK_THROWS_AS(RunDirectory(temporary.path() / "run"), UserError);
  first.save(full_run());
  CHECK(read_run(first.path()).probes.size() == 2);
}

TEST_CASE("of a run that was killed its ranks' results are read, with a warning", "[run]") {
  const TemporaryDirectory temporary;
  RunDirectory whole(temporary.path() / "run");
  Run run;
  run.probes.resize(2);
  run.probes[0].name = "comm.collectives";
  run.probes[1].name = "roofline.memory";
  run.probes[1].status = ProbeStatus::failed;
  run.probes[1].reason = FindingId::out_of_memory;
  whole.save(run);
  RunDirectory ranks(temporary.path() / "run" / ranks_folder_name);
  Run measured;
  measured.probes.resize(3);
  measured.probes[0].name = "comm.collectives";
  measured.probes[0].status = ProbeStatus::measured;
  measured.probes[0].points.push_back(full_point());
  measured.probes[1].name = "roofline.memory";
  measured.probes[1].status = ProbeStatus::measured;
  measured.probes[2].name = "step.ledger";
  measured.probes[2].status = ProbeStatus::measured;
  measured.warnings = {FindingId::sys_hidden};
  ranks.save(measured);
  const Run read = read_run(whole.path());
  REQUIRE(read.probes.size() == 3);
  CHECK(read.probes[0].points.size() == 1);
  CHECK(read.probes[1].reason == Finding(FindingId::out_of_memory));
  REQUIRE(read.warnings.size() == 2);
  CHECK(read.warnings[0] == Finding(FindingId::sys_hidden));
  CHECK(read.warnings[1] ==
        Finding(FindingId::ranks_not_taken_over, (whole.path() / "ranks" / "run.json").string()));
}

TEST_CASE("a file in memory takes what another process writes by its path", "[run]") {
  const MemoryFile file;
  CHECK(file.size() == 0);
  append_to_file(file.path(), "results", Existing::append);
  CHECK(file.size() == 7);
}
