// SPDX-License-Identifier: Apache-2.0
#include "src/cli/flags.h"

#include "src/cli/measure/plan.h"
#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::cli;

TEST_CASE("a straggler is a rank and a factor", "[cli]") {
  const auto straggler = parse_straggler("3:1.5");
  REQUIRE(straggler.rank == Rank{3});
  REQUIRE(straggler.factor == 1.5);
}

TEST_CASE("a straggler of another form is refused", "[cli]") {
  for (const char* text :
       {"", "1", "1:", ":2", "a:2", "1:b", "1:2x", "-1:2", "1:0.5", "1:nan", "1:inf", "1 :2"}) {
    INFO(text);
    REQUIRE_THROWS_AS(parse_straggler(text), UserError);
  }
}

TEST_CASE("a matrix product is three sizes and perhaps a batch", "[cli]") {
  const auto plain = parse_shape("64,4096,1024");
  REQUIRE(plain.m == 64);
  REQUIRE(plain.n == 4096);
  REQUIRE(plain.k == 1024);
  REQUIRE(plain.batch == 1);
  REQUIRE(parse_shape("32,32,32,100").batch == 100);
  REQUIRE(parse_shape("64x4096x1024").n == 4096);
}

TEST_CASE("a matrix product of another form is refused", "[cli]") {
  for (const char* text : {"",
                           "64",
                           "64,64",
                           "64,64,",
                           "64,64,64,",
                           "0,64,64",
                           "-1,2,3",
                           "1,2,3,4,5",
                           "a,b,c",
                           "1 ,2,3"}) {
    INFO(text);
    REQUIRE_THROWS_AS(parse_shape(text), UserError);
  }
}

TEST_CASE("a compute rate carries its unit", "[cli]") {
  REQUIRE_THAT(parse_compute_rate("95GFLOP/s").value(), WithinRel(95e9, 1e-12));
  REQUIRE_THAT(parse_compute_rate("0.989 PFLOP/s").value(), WithinRel(989e12, 1e-12));
  REQUIRE_THAT(parse_compute_rate("19.5TF").value(), WithinRel(19.5e12, 1e-12));
}

TEST_CASE("a compute rate without a unit, or that is none, is refused", "[cli]") {
  for (const char* text :
       {"", "95", "GFLOP/s", "0GFLOP/s", "-3TF", "1e400TF", "nanTF", "95 GB/s", "95GFLOP/s/s"}) {
    INFO(text);
    REQUIRE_THROWS_AS(parse_compute_rate(text), UserError);
  }
}

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
