// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"

#include "src/core/error.h"
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

TEST_CASE("a table is read line by line with its places", "[csv]") {
  CsvReader reader("\xEF\xBB\xBF# note\r\na, \"b,\"\"c\"\"\" ,\r\n\n1,2", "t.csv");
  REQUIRE(reader.next() == std::vector<std::string>{"a", "b,\"c\"", ""});
  REQUIRE(reader.place() == "t.csv:2");
  REQUIRE(reader.next() == std::vector<std::string>{"1", "2"});
  REQUIRE(reader.place() == "t.csv:4");
  REQUIRE_FALSE(reader.next());
}

TEST_CASE("cells may be divided by another character, and empty at the end", "[csv]") {
  CsvReader semicolons("a;\"b;c\" ; d\n", "t.csv", ';');
  CHECK(semicolons.next() == std::vector<std::string>{"a", "b;c", "d"});
  CsvReader tabs("a\t\tb c\t\r\n\t\t\n\n1\t2", "t.csv", '\t');
  CHECK(tabs.next() == std::vector<std::string>{"a", "", "b c", ""});
  CHECK(tabs.next() == std::vector<std::string>{"1", "2"});
  CHECK(tabs.place() == "t.csv:4");
}

TEST_CASE("a quoted cell without an end is refused with its line", "[csv]") {
  CsvReader reader("a\n\"b", "t.csv");
  reader.next();
  REQUIRE_THROWS_AS(reader.next(), UserError);
}

TEST_CASE("infinity and NaN are no numbers of a cell or a flag", "[csv]") {
  for (const char* text : {"nan", "-nan", "inf", "-infinity", "1e999", "", "1 ", "0x10"})
    CHECK_FALSE(parse_number<double>(text));
  CHECK(parse_number<double>("-1.5e3") == -1500.0);
  CHECK(parse_number<int>("-7") == -7);
}
