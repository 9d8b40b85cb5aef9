// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/table_file.h"
#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

std::string refusal(const std::string& text, bool toml = false) {
  try {
    toml ? parse_toml_table(text, "t.toml") : parse_csv_table(text, "t.csv");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool refused(const std::string& text, const std::string& message) {
  const std::string said = refusal(text);
  INFO(said);
  return said.find(message) != std::string::npos;
}

}  // namespace

TEST_CASE("a scaling table is read with the units of its header", "[decide]") {
  const TableFile file = parse_csv_table(
      "\xEF\xBB\xBF# by hand\r\nGPUs,time (ms),comm_s,compute_ms,comment\r\n"
      "2,430000,30,400000,ok\r\n\r\n1,800000,,800000,\r\n",
      "t.csv");
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[0].count == 1);
  CHECK(file.table.rows[0].time.value == Seconds(800));
  CHECK_FALSE(file.table.rows[0].parts_s[1]);
  CHECK(file.table.rows[1].parts_s[1] == 30.0);
  CHECK(file.ignored == std::vector<std::string>{"comment"});
}

TEST_CASE("hours, quality, work, energy and repeats are read", "[decide]") {
  const TableFile file = parse_csv_table(
      "p,repeat,time_h,quality,items,energy_kwh\n1,1,1,0.9,100,2\n1,2,1.1,0.8,100,2\n", "t.csv");
  REQUIRE(file.table.rows.size() == 1);
  CHECK_THAT(file.table.rows[0].time.value.value(), WithinRel(3780.0, 1e-12));
  CHECK(file.table.rows[0].quality == 0.8);
  CHECK(file.table.rows[0].work == 100.0);
  CHECK(file.table.rows[0].energy_j == 7.2e6);
  CHECK(file.table.rows[0].relative_sd);
}

TEST_CASE("TOML tables are read the same way", "[decide]") {
  const TableFile file = parse_toml_table(
      "[[row]]\np = 1\ntime_s = 800\n[[row]]\np = 2\ntime_s = 430.5\nnote = 1\n", "t.toml");
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[1].time.value == Seconds(430.5));
  CHECK(file.ignored == std::vector<std::string>{"note"});
  CHECK(refusal("[[row]]\np = 0\ntime_s = 1\n", true).find(": the count is 0") !=
        std::string::npos);
  CHECK(refusal("[[row]]\np = 'one'\ntime_s = 1\n", true)
            .find(": column 'p' is 'one', not a number") != std::string::npos);
  CHECK(refusal("x = 1\n", true).starts_with("t.toml: no rows"));
  CHECK(refusal("row = [1]\n", true).find("a row is a table") != std::string::npos);
}

TEST_CASE("bad cells are refused with row and column", "[decide]") {
  CHECK(refused("p,time_s\n0,10\n", "t.csv:2: the count is 0"));
  CHECK(refused("p,time_s\n1,10\n2,5\n2,6\n", "t.csv:4: count 2 stands already at t.csv:3"));
  CHECK(refused("p,time_s\n1,10 ms\n",
                "t.csv:2: column 'time_s' is '10 ms', not a number; the header"));
  CHECK(refused("p,time_s,quality\n1,10,nan\n", "column 'quality' is not a finite number"));
  CHECK(refused("p,time_s\n1,inf\n", "column 'time_s' is not a finite number"));
  CHECK(refused("p,time_s\n1,ten\n", "column 'time_s' is 'ten', not a number"));
  CHECK(refused("p,time_s\n1.5,10\n", "column 'p' is 1.5, not an integer"));
  CHECK(refused("p,time_s\n1e300,10\n", "column 'p' is 1e+300, not an integer"));
  CHECK(refused("p,time_s\n,10\n", "t.csv:2: column 'p' is empty"));
  CHECK(refused("p,time_s\n1,-3\n", "the time is -3 s"));
  CHECK(refused("p,compute_s,comm_s,idle_s\n1,10,1,-2\n", "idle is -2 s"));
  CHECK(refused("p,time_s,compute_s,comm_s\n1,20,10,1\n", "the parts add up to 11 s"));
  CHECK(refused("p,time_s\n1\n", "1 cells under a header of 2"));
  CHECK(refused("p,time_s\n1,\"10\n", "no closing quote"));
}

TEST_CASE("bad headers are refused", "[decide]") {
  CHECK(refused("p,time\n1,10\n", "t.csv:1: column 'time' has no unit"));
  CHECK(refused("p,time_kg\n1,10\n", "needs a column for the time"));
  CHECK(refused("p,time_s,time_ms\n1,10,10000\n",
                "t.csv:1: column 'time_ms' says the same as another"));
  CHECK(refused("p,time_s,time_s\n1,10,10\n", "stands twice"));
  CHECK(refused("time_s\n10\n", "needs a column for the count"));
  CHECK(refused("", "empty; write a header"));
  CHECK(refused("p,time_s\n", "no rows below the header"));
}
