// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/text.h"

#include "tests/catch.h"

using namespace scaleworth::probes::host;

TEST_CASE("a CPU list holds single numbers and ranges", "[facts]") {
  CHECK(parse_cpu_list("0-3,8\n") == std::vector<int>{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("5") == std::vector<int>{5});
  CHECK(parse_cpu_list("2,0-2") == std::vector<int>{0, 1, 2});
  CHECK(parse_cpu_list("") == std::vector<int>{});
}

TEST_CASE("a malformed CPU list is absent, not guessed", "[facts]") {
  for (const char* text : {"3-0", "a", "1-", "-1", "1,,2", "1,", "0-99999999", "1;2", "0x1"}) {
    INFO(text);
    CHECK_FALSE(parse_cpu_list(text).has_value());
  }
}

TEST_CASE("an integer must be the whole text", "[facts]") {
  CHECK(parse_integer(" 42\n") == 42);
  CHECK(parse_integer("-7") == -7);
  CHECK_FALSE(parse_integer("").has_value());
  CHECK_FALSE(parse_integer("12 kB").has_value());
  CHECK_FALSE(parse_integer("99999999999999999999").has_value());
}

TEST_CASE("a file that cannot be read is absent, a long one is cut", "[facts]") {
  CHECK_FALSE(read_text("/nonexistent/file").has_value());
  CHECK_FALSE(read_text("/proc").has_value());  // a folder
  CHECK(read_text("/dev/zero", 10000)->size() == 10000);
}
