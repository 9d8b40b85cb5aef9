// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/files/fields.h"
#include "src/core/files/run_directory.h"
#include "tests/catch.h"
#include "tests/unit/core/run_builder.h"
#include "tests/unit/core/temporary_directory.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

using namespace scaleworth;

namespace {

/// The text of a full run with one member, given by JSON pointer, replaced.
std::string with(const char* pointer, nlohmann::json value) {
  auto document = nlohmann::json::parse(run_to_json(full_run()));
  document[nlohmann::json::json_pointer(pointer)] = std::move(value);
  return document.dump();
}

std::string refusal(const std::string& text) {
  return message_of<UserError>([&] { run_from_json(text, "run.json"); });
}

}  // namespace

TEST_CASE("a run survives writing and reading to the last bit", "[run]") {
  const std::string text = run_to_json(full_run());
  const Run read = run_from_json(text, "run.json");
  REQUIRE(run_to_json(read) == text);
  REQUIRE(read.probes[0].points[0].samples == full_point().samples);
  REQUIRE(read.probes[0].points[0].setting == full_point().setting);
  REQUIRE(read.probes[1].status == ProbeStatus::failed);
  REQUIRE_FALSE(read.environment[0].facts[1].value);
  REQUIRE(read.interruption == full_run().interruption);
  REQUIRE(read.probes[0].points[0].stop_reason == full_point().stop_reason);
  REQUIRE(read.warnings == full_run().warnings);
}

TEST_CASE("an empty run survives writing and reading", "[run]") {
  const std::string text = run_to_json(Run{});
  REQUIRE(run_to_json(run_from_json(text, "run.json")) == text);
  REQUIRE(text.find("\"interruption\": null") != std::string::npos);
}

TEST_CASE("a finding keeps the types of its arguments", "[run]") {
  Run run;
  const Estimate<double> estimate{2.0, Interval<double>{1.5, 2.5}, 7};
  run.warnings = {{FindingId::stated,
                   3,
                   3.0,
                   -1e300,
                   "3",
                   estimate,
                   Estimate<double>{1.0, std::nullopt, 1},
                   Finding(FindingId::some_rank),
                   std::vector<Finding>{{FindingId::rank_number, 1}, FindingId::some_rank},
                   std::vector<Finding>{}}};
  REQUIRE(run_from_json(run_to_json(run), "run.json").warnings == run.warnings);
  run.warnings = {{FindingId::by_percent, std::numeric_limits<double>::infinity()}};
  const Run read = run_from_json(run_to_json(run), "run.json");
  REQUIRE(std::isnan(std::get<double>(read.warnings.at(0).arguments.at(0).value)));
}

TEST_CASE("a finding of another version is kept by its name", "[run]") {
  const auto later = nlohmann::json::parse(R"({"id": "of_next_year", "arguments": [1, [{}]]})");
  const auto refused = nlohmann::json::parse(R"({"id": "of_next_year", "arguments": [1, []]})");
  REQUIRE(refusal(with("/warnings/0", later)).find("lacks \"id\"") != std::string::npos);
  const Run read = run_from_json(with("/warnings/0", refused), "run.json");
  REQUIRE(read.warnings == std::vector<Finding>{{FindingId::finding_not_known, "of_next_year"}});
}

TEST_CASE("a finding with an estimate of impossible size is read as one of possible size",
          "[run]") {
  const auto odd = nlohmann::json::parse(
      R"({"id": "stated", "arguments": [{"value": 1, "low": null, "high": 5, "samples": 1e300}]})");
  const std::string text = run_to_json(run_from_json(with("/warnings/0", odd), "run.json"));
  REQUIRE(run_to_json(run_from_json(text, "run.json")) == text);
}

TEST_CASE("what is no finding is refused with its place", "[run]") {
  const auto refused = [](const char* text) {
    return refusal(with("/probes/1/reason", nlohmann::json::parse(text)));
  };
  for (const char* text : {R"("a sentence")",
                           "7",
                           "[]",
                           "{}",
                           R"({"id": 7, "arguments": []})",
                           R"({"id": "stated"})",
                           R"({"id": "stated", "arguments": {}})",
                           R"({"id": "stated", "arguments": [true]})",
                           R"({"id": "stated", "arguments": [{"value": "2"}]})",
                           R"({"id": "stated", "arguments": [{"value": 2, "low": null}, [2]]})"}) {
    CAPTURE(text);
    CHECK(refused(text).starts_with("run.json: /probes/1/reason"));
  }
}

TEST_CASE("sentences of version 2 become findings that state them", "[run]") {
  auto document = nlohmann::json::parse(run_to_json(full_run()));
  document["schema_version"] = 2;
  document["interruption"] = "killed";
  document["warnings"] = {"one", "two"};
  document["probes"][0]["reason"] = nullptr;
  document["probes"][1]["reason"] = "no memory";
  document["probes"][1]["warnings"] = nlohmann::json::array();
  document["probes"][0]["points"][0]["stop_reason"] = "converged";
  document["probes"][0]["points"][0]["warnings"] = {"drift"};
  const Run read = run_from_json(document.dump(), "run.json");
  const auto stated = [](const char* text) { return Finding(FindingId::stated, text); };
  CHECK(read.interruption == stated("killed"));
  CHECK(read.warnings == std::vector{stated("one"), stated("two")});
  CHECK_FALSE(read.probes[0].reason);
  CHECK(read.probes[1].reason == stated("no memory"));
  CHECK(read.probes[0].points[0].stop_reason == std::vector{stated("converged")});
  CHECK(read.probes[0].points[0].warnings == std::vector{stated("drift")});
  document["probes"][0]["points"][0]["stop_reason"] = nullptr;
  CHECK(run_from_json(document.dump(), "run.json").probes[0].points[0].stop_reason.empty());
}

TEST_CASE("a parameter, a word of a vocabulary and a metric that are not known are refused",
          "[run]") {
  REQUIRE(refusal(with("/probes/0/points/0/setting/colour", "red")).find("is no parameter") !=
          std::string::npos);
  REQUIRE(refusal(with("/probes/0/points/0/setting/isa", "mmx")).find("'mmx' is no isa") !=
          std::string::npos);
  REQUIRE(refusal(with("/probes/0/points/0/setting/workers", 2.0)).find("whole number") !=
          std::string::npos);
  REQUIRE(refusal(with("/probes/0/points/0/amounts/colour", 1.0)).find("is no metric") !=
          std::string::npos);
}

TEST_CASE("each list of samples fills one line, so that a person can read the file", "[run]") {
  const std::string text = run_to_json(full_run());
  const std::size_t start = text.find("\"wall_s\": [");
  REQUIRE(start != std::string::npos);
  REQUIRE(text.find(']', start) < text.find('\n', start));
}

TEST_CASE("a number that is not finite is refused with its place", "[run]") {
  Point point = full_point();
  point.samples[Metric::wall_s][1] = std::numeric_limits<double>::quiet_NaN();
  const std::string expected = "wall_s[1] is nan: the measurement is broken and is not recorded";
  REQUIRE(message_of<ProbeFailure>([&] { require_finite(point); }) == expected);
  Run run = full_run();
  run.probes[0].points[0] = point;
  REQUIRE(message_of<ProbeFailure>([&] { run_to_json(run); }) == expected);
}

TEST_CASE("bytes that are no UTF-8 are replaced rather than lost", "[run]") {
  Run run;
  run.command_line = {"caf\xe9"};
  REQUIRE(run_from_json(run_to_json(run), "run.json").command_line[0] == "caf\xef\xbf\xbd");
}

TEST_CASE("a newer schema version is refused with both versions", "[run]") {
  REQUIRE(refusal(with("/schema_version", 7)) ==
          "run.json: schema version 7 is newer than 3, the newest that this scaleworth reads; "
          "update scaleworth");
  REQUIRE_FALSE(refusal(with("/schema_version", 0)).empty());
  REQUIRE_FALSE(refusal(with("/schema_version", 1.5)).empty());
  REQUIRE_FALSE(refusal(with("/schema_version", 1e300)).empty());
}

TEST_CASE("a truncated file is refused with line and byte", "[run]") {
  REQUIRE(refusal("{\n \"schema_version\": 1,\n \"tool") ==
          "run.json: ends too early (truncated) at line 3, byte 30; restore the file or write it "
          "again with the program that made it");
  REQUIRE_FALSE(refusal("").empty());
}

TEST_CASE("no prefix of a run is taken for a run", "[run]") {
  const std::string text = run_to_json(full_run());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7)
    REQUIRE_FALSE(refusal(text.substr(0, length)).empty());
}

TEST_CASE("NaN tokens and numbers beyond a double are refused with their position", "[run]") {
  REQUIRE(refusal("{\"a\": NaN}").find("is not JSON at line 1, byte 7") != std::string::npos);
  REQUIRE(refusal("{\n\"a\": 1e999}").find("beyond the range of a double at line 2") !=
          std::string::npos);
  REQUIRE_FALSE(refusal("{\"a\": 1} trailing").empty());
}

TEST_CASE("a wrong type is refused with the path to it", "[run]") {
  REQUIRE(refusal(with("/probes/0/points/0/samples/wall_s/2", nullptr)) ==
          "run.json: /probes/0/points/0/samples/wall_s/2: expected a number, found null; restore "
          "the file or measure again");
  REQUIRE(refusal(with("/probes", 3)) ==
          "run.json: /probes: expected an array, found number; restore the file or measure again");
  REQUIRE(refusal(with("/probes/1/status", "maybe")).find("/probes/1/status: is none of") !=
          std::string::npos);
  REQUIRE(refusal("[]").find("the document: expected an object") != std::string::npos);
}

TEST_CASE("a hostile key cannot break the line of the message", "[run]") {
  REQUIRE(refusal(with("/probes/0/losses/a\n\x1b[2J", "x")) ==
          "run.json: /probes/0/losses/a \xEF\xBF\xBD[2J: expected a number, found string; restore "
          "the file or "
          "measure again");
}

TEST_CASE("a missing member is named", "[run]") {
  REQUIRE(refusal(R"({"schema_version": 2})") ==
          "run.json: the document: lacks \"tool_version\"; restore the file or measure again");
}

TEST_CASE("a file name that leads out of the run directory is refused", "[run]") {
  REQUIRE_FALSE(refusal(with("/files/0", "../../etc/passwd")).empty());
  REQUIRE_FALSE(refusal(with("/files/0", "/etc/passwd")).empty());
  REQUIRE(refusal(with("/files/0", "traces/rank0.json")).empty());
}

TEST_CASE("hostile nesting is refused without recursion", "[run]") {
  REQUIRE(refusal(std::string(10'000'000, '[')) ==
          "run.json: nested deeper than 16 levels; it is no file of this program, give another "
          "one");
}

TEST_CASE("a document larger than the memory allowed is refused while it is read", "[run]") {
  std::string text = "[1";
  for (int i = 0; i < 1000; ++i) text += ",1";
  text += "]";
  REQUIRE_THROWS_AS(parse_bounded_json(text, "file", 2000), UserError);
  REQUIRE(parse_bounded_json(text, "file").size() == 1001);
}
