// SPDX-License-Identifier: Apache-2.0
#include "src/core/csv.h"

#include "tests/catch.h"

using namespace scaleworth;

TEST_CASE("plain cells are joined by commas", "[csv]") {
  REQUIRE(csv_line({"rank", "start_ns"}) == "rank,start_ns\n");
  REQUIRE(csv_line({"", ""}) == ",\n");
  REQUIRE(csv_line({}) == "\n");
}

TEST_CASE("cells with commas, quotes or line breaks are quoted", "[csv]") {
  REQUIRE(csv_line({"a,b", "say \"x\"", "two\nlines"}) ==
          "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}
