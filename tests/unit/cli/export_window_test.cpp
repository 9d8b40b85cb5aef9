// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands.h"
#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace std::chrono_literals;

TEST_CASE("A window of an export is a range of seconds that may be open at either end",
          "[export]") {
  CHECK_FALSE(cli::parse_window("").has_value());
  const auto closed = cli::parse_window("1.5:2");
  REQUIRE(closed.has_value());
  CHECK(closed->start == 1500ms);
  CHECK(closed->end == 2000ms);
  CHECK(cli::parse_window(":2")->start == 0ms);
  CHECK(cli::parse_window("2:")->start == 2000ms);
}

TEST_CASE("Ranks to export are numbers and ranges", "[export]") {
  CHECK(cli::parse_ranks("").empty());
  CHECK(cli::parse_ranks("3-5,0,4") == std::vector{Rank{0}, Rank{3}, Rank{4}, Rank{5}});
  for (const char* text : {",", "1,", "a", "-1", "3-", "5-3", "0-99999999", "1;2", "1,,2"})
    CHECK_THROWS_AS(cli::parse_ranks(text), UserError);
}

TEST_CASE("A window that is no range is refused", "[export]") {
  for (const char* text : {"2", "2:1", "1:1", "a:b", "-1:2", "1:nan", "1:1e300", "1:2:3"})
    CHECK_THROWS_AS(cli::parse_window(text), UserError);
}
