// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/kineto_text.h"
#include "trace/formats/json_events.h"

using namespace scaleworth::trace;
using scaleworth::testing::kineto_file;
using scaleworth::testing::kineto_kernel;
using scaleworth::testing::read_kineto_text;
using scaleworth::testing::TextSource;

namespace {

/// `count` kernels with the names k0, k1, ...; number `damaged` is called `name`, as it stands.
std::string kernels(int count, int damaged, const std::string& name) {
  std::string events;
  for (int i = 0; i < count; ++i)
    events += (i == 0 ? "" : ",\n  ") + kineto_kernel(i == damaged ? name : "k" + std::to_string(i),
                                                      std::to_string(10 * i),
                                                      "5",
                                                      i + 1);
  return events;
}

std::string_view name_of(const Recording& recording, std::size_t event) {
  return recording.names.at(recording.device_events.at(event).name);
}

}  // namespace

TEST_CASE("an event with a name that is not escaped is left out, its neighbours unharmed",
          "[trace][kineto]") {
  for (const int damaged : {0, 1, 19, 38, 39}) {
    for (const std::string name :
         {"say \"hi\" twice", "one\" quote", "C:\\dir\\x", "ends\\", "caf\xe9"}) {
      INFO(damaged << " " << name);
      const auto recording = read_kineto_text(kineto_file(kernels(40, damaged, name)));
      REQUIRE(recording.device_events.size() == 39);
      CHECK(name_of(recording, 20) == (damaged > 20 ? "k20" : "k21"));
      CHECK(recording.losses == std::map<std::string, std::int64_t>{{"malformed_events", 1}});
      REQUIRE(recording.remarks.size() == 1);
    }
  }
}

TEST_CASE("an event that is no JSON is left out and counted", "[trace][kineto]") {
  const std::string hopeless = R"(, {"ph": "X", "cat": "kernel", "name": }, )";
  const auto recording =
      read_kineto_text(kineto_file(kernels(20, -1, "") + hopeless + kernels(20, -1, "")));
  CHECK(recording.device_events.size() == 20);  // the second twenty are the first again
  CHECK(recording.losses.at("malformed_events") == 1);
  CHECK(recording.losses.at("duplicate_events") == 20);
}

TEST_CASE("a file that is damaged everywhere costs no more than its length", "[trace][kineto]") {
  std::string events;
  for (int i = 0; i < 20'000; ++i) events += R"({"a":1 "b":2},)";
  const auto recording = read_kineto_text(kineto_file(events + kineto_kernel("k", "1", "1", 1)));
  CHECK(recording.device_events.size() == 1);
  CHECK(recording.losses.at("malformed_events") >= 1);
}

TEST_CASE("what is no event in the array of events is left out", "[trace][kineto]") {
  const auto kernel = kineto_kernel("k", "1", "1", 1);
  const auto recording = read_kineto_text(
      kineto_file("null, 17, \"x\", " + kernel + ", [1, 2], " + kineto_kernel("m", "2", "1", 2)));
  CHECK(recording.device_events.size() == 2);
  CHECK(recording.losses.at("malformed_events") == 4);
}

TEST_CASE("a file that ends anywhere gives the events before", "[trace][kineto]") {
  const auto text = kineto_file(kernels(30, -1, ""));
  const auto events = text.find("traceEvents") + 15;
  for (std::size_t length = events; length < text.size(); length += 7) {
    INFO(length);
    std::size_t whole = 0;
    for (auto at = text.find("}}", events); at != std::string::npos && at + 2 <= length;
         at = text.find("}}", at + 1))
      ++whole;
    if (whole == 0) {
      CHECK_THROWS_AS(read_kineto_text(text.substr(0, length)), scaleworth::UserError);
      continue;
    }
    const auto recording = read_kineto_text(text.substr(0, length));
    CHECK(recording.device_events.size() == whole);
    CHECK(recording.losses.contains("truncated_bytes"));
    CHECK_FALSE(recording.remarks.empty());
  }
}

TEST_CASE("events inside of arguments are arguments", "[trace][kineto]") {
  const std::string nested =
      R"({"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
          "args": {"list": [{"name": 1}, {"name": "},{\"ph\": "}, {"ph": "X"}]}})";
  std::string events = nested;
  for (int i = 0; i < 50; ++i)
    events += "," + kineto_kernel("k", std::to_string(i), "1", i + 1) + "," + nested;
  const auto recording = read_kineto_text(kineto_file(events));
  CHECK(recording.device_events.size() == 50);
  CHECK(recording.losses.empty());
}

TEST_CASE("windows smaller than an event grow, to a limit", "[trace][kineto]") {
  struct Counter final : TraceReader {
    Use event(simdjson::ondemand::object& event) override {
      ++events;
      for (auto field : event)
        if (field.error() != simdjson::SUCCESS) return Use::malformed;
      return Use::kept;
    }
    void member(std::string_view, std::string_view) override { ++members; }
    int events = 0;
    int members = 0;
  };
  const auto text = kineto_file(kernels(50, 25, std::string(20'000, 'x')));
  const WalkOptions small{.batch_bytes = 300, .window_bytes = 1000, .most_bytes = 100'000};
  Counter counter;
  Recording recording;
  TextSource source(text);
  walk_trace(source, counter, recording, small);
  CHECK(counter.events == 50);
  CHECK(counter.members == 2);
  CHECK(recording.losses.empty());
  const WalkOptions too_small{.batch_bytes = 300, .window_bytes = 1000, .most_bytes = 4000};
  Counter fewer;
  Recording damaged;
  TextSource again(text);
  walk_trace(again, fewer, damaged, too_small);
  CHECK(fewer.events >= 25);
  CHECK_FALSE(damaged.losses.empty());
}

TEST_CASE("a file without events is refused in one line", "[trace][kineto]") {
  for (const char* text : {"",
                           "   ",
                           "hello",
                           "{}",
                           "[]",
                           "{\"traceEvents\": []}",
                           "{\"a\": [1, 2]}",
                           "{\"traceEvents\": 3}",
                           "{\"x"})
    CHECK_THROWS_AS(read_kineto_text(text), scaleworth::UserError);
}
