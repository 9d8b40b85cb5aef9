// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_events.h"

#include "tests/catch.h"

using scaleworth::trace::bare_token;
using scaleworth::trace::parse_decimal;
using scaleworth::trace::parse_identifier;
using scaleworth::trace::parse_integer;

TEST_CASE("microseconds become nanoseconds without losing a digit", "[trace][number]") {
  // As a double, this many microseconds have steps of 0.25.
  CHECK(parse_decimal("1712195495505582.988", 3) == 1712195495505582988);
  CHECK(parse_decimal("1694128201442995", 3) == 1694128201442995000);
  CHECK(parse_decimal("-0.001", 3) == -1);
  CHECK(parse_decimal("0", 3) == 0);
}

TEST_CASE("digits beyond the nanosecond round to the nearest", "[trace][number]") {
  CHECK(parse_decimal("848671.6747283936", 3) == 848671675);
  CHECK(parse_decimal("0.0005", 3) == 1);
  CHECK(parse_decimal("0.00049999", 3) == 0);
  CHECK(parse_decimal("-2.0005", 3) == -2001);
}

TEST_CASE("exponents, quotes and white space around a number are understood", "[trace][number]") {
  CHECK(parse_decimal("1.5e3", 3) == 1500000);
  CHECK(parse_decimal("1.7E+15", 3) == 1700000000000000000);
  CHECK(parse_decimal("25e-1", 0) == 3);
  CHECK(parse_decimal("\"4458676522690.655\" \n", 3) == 4458676522690655);
  CHECK(bare_token("  \"a b\"\n") == "a b");
}

TEST_CASE("what is no number, or beyond 2^61, is absent", "[trace][number]") {
  CHECK_FALSE(parse_decimal({}, 0));
  for (const char* text : {"NaN",
                           "Infinity",
                           "-Infinity",
                           "",
                           "\"\"",
                           "-",
                           ".",
                           "1e",
                           "12x",
                           "1.2.3",
                           "true",
                           "1e999999999999",
                           "99999999999999999999",
                           "2305843009213693953"})
    CHECK_FALSE(parse_decimal(text, 0));
  CHECK(parse_integer("2305843009213693952") == std::int64_t{1} << 61);
  CHECK_FALSE(parse_decimal("2305843009213694", 3));
  CHECK(parse_decimal("1e-999999999", 0) == 0);
  CHECK(parse_decimal("0e999", 0) == 0);
}

TEST_CASE("an identifier that ran over 32 bits keeps its low bits", "[trace][number]") {
  CHECK(parse_identifier("41662") == 41662);
  CHECK(parse_identifier("-1") == 4294967295);
  CHECK(parse_identifier("-2147483648") == 2147483648);
  CHECK(parse_identifier("17179869184") == 17179869184);
  CHECK_FALSE(parse_identifier("1.5"));
  CHECK_FALSE(parse_identifier("none"));
}
