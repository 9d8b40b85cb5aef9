// SPDX-License-Identifier: Apache-2.0
#include "src/cli/typed_command.h"

#include "tests/catch.h"

using namespace scaleworth::cli;

TEST_CASE("a command is said again without the format that it asked for", "[cli]") {
  CHECK(typed_command({"decide", "t.csv", "--format", "json", "--price", "2", "--details"}) ==
        "scaleworth decide t.csv --price 2");
  CHECK(typed_command({"mfu", "--format=md", "--budget", "1e6"}) == "scaleworth mfu --budget 1e6");
  CHECK(typed_command({"decide", "t.csv", "--format"}) == "scaleworth decide t.csv");
}

TEST_CASE("words that a shell would take apart are quoted", "[cli]") {
  CHECK(typed_command({"decide", "my table.csv", "--where", "model=16B (v2)"}) ==
        "scaleworth decide 'my table.csv' --where 'model=16B (v2)'");
  CHECK(typed_command({"decide", "it's.csv"}) == "scaleworth decide 'it'\\''s.csv'");
  CHECK(typed_command({"decide", ""}) == "scaleworth decide ''");
}
