// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_events.h"

#include "tests/catch.h"

using scaleworth::trace::repair_event;

TEST_CASE("well-formed events stay as they are", "[trace][repair]") {
  const std::string event =
      R"({"ph": "X", "name": "a \"b\" \\ \u00e9 ü", "args": {"list": ["x", "y"], "n": 1}})";
  CHECK(repair_event(event) == event);
}

TEST_CASE("quotes inside of names are escaped", "[trace][repair]") {
  CHECK(repair_event(R"({"name": "load "a.txt" now", "pid": 1})") ==
        R"({"name": "load \"a.txt\" now", "pid": 1})");
}

TEST_CASE("backslashes that escape nothing are escaped, at a name's end too", "[trace][repair]") {
  CHECK(repair_event(R"({"name": "C:\data\x", "pid": 1})") ==
        R"({"name": "C:\\data\\x", "pid": 1})");
  CHECK(repair_event(R"({"name": "C:\", "pid": 1})") == R"({"name": "C:\\", "pid": 1})");
}

TEST_CASE("control characters and broken UTF-8 are replaced", "[trace][repair]") {
  CHECK(repair_event("{\"name\": \"a\tb\xff\xc3 (\", \"pid\": 1}") ==
        "{\"name\": \"a b?? (\", \"pid\": 1}");
}
