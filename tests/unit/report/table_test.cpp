// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include "report/document.h"
#include "report/render.h"
#include "report/run/run_report.h"
#include "tests/catch.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {

Table times() {
  return {"times",
          "Times",
          {parameter("mode", "mode"), measure("time", "time", Unit::seconds)},
          {{{std::string("strong"), number(0.012)}}, {{std::string("weak"), number(0.002)}, true}},
          {}};
}

Document with(const Table& table) {
  Document document;
  document.sections = {{"times", "Times", {}, {}, {table}}};
  return document;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, display_width(line));
  }
  return widest;
}

}  // namespace

TEST_CASE("a column takes one scale and its header names the unit", "[table]") {
  const Printed printed = print_table(times(), true);
  REQUIRE(printed.headers == std::vector<std::string>{"mode", "time (ms)"});
  REQUIRE(printed.rows[0] == std::vector<std::string>{"strong", "12.0"});
  REQUIRE(printed.rows[1] == std::vector<std::string>{"weak", "2.00"});
}

TEST_CASE("detail rows stay out of the short form", "[table]") {
  REQUIRE(print_table(times(), false).rows.size() == 1);
}

TEST_CASE("an absent cell prints n/a and its column stays one of numbers", "[table]") {
  Table table = times();
  table.rows = {{{std::string("strong"), Cell{}}}};
  const Printed printed = print_table(table, false);
  REQUIRE(printed.rows[0][1] == "n/a");
  REQUIRE(printed.right[1]);
}

TEST_CASE("a row with a missing cell is a programming error", "[table]") {
  Table table = times();
  table.rows.push_back({{std::string("strong")}});
  REQUIRE_THROWS_AS(print_table(table, true), std::logic_error);
}

TEST_CASE("text wraps at spaces but never inside brackets", "[text]") {
  REQUIRE(wrap("1.04 [1.03, 1.06]", 13) == std::vector<std::string>{"1.04", "[1.03, 1.06]"});
  REQUIRE(wrap("", 10) == std::vector<std::string>{""});
  REQUIRE(wrap("extraordinarily long", 5) == std::vector<std::string>{"extraordinarily", "long"});
}

TEST_CASE("a table wider than the page breaks its cells", "[text]") {
  Table table{"t", "", {measure("a", "a"), measure("b", "b")}, {}, {}};
  std::string words = "a word";
  for (int i = 0; i < 30; ++i) {
    words += " and a word";
  }
  table.rows = {{{words, words}}};
  RenderOptions options;
  options.width = 60;
  REQUIRE(widest_line(render_text(with(table), options)) <= 60);
}

TEST_CASE("text has colour codes only when asked for", "[text]") {
  RenderOptions options;
  REQUIRE(render_text(with(times()), options).find('\033') == std::string::npos);
  options.colour = true;
  REQUIRE(render_text(with(times()), options).find("\033[") != std::string::npos);
}

TEST_CASE("Markdown escapes what would break a table", "[markdown]") {
  Table table{"t", "", {measure("a", "a")}, {{{std::string("x|y\n*z")}}}, {}};
  REQUIRE(render_markdown(with(table)).find("| x\\|y \\*z |") != std::string::npos);
}

TEST_CASE("the CSV has one line per number with base units and empty cells for absent ones",
          "[csv]") {
  Table table = times();
  table.rows = {{{std::string("a,\"b\""), Number{0.012, Interval<double>{0.011, 0.014}, 9}}},
                {{std::string("none"), Cell{}}}};
  const std::string csv = render_csv(Run{}, with(table));
  REQUIRE(csv.find("\ntimes,time,s,\"a,\"\"b\"\"\",") != std::string::npos);
  REQUIRE(csv.find(",0.012,0.011,0.014,9\n") != std::string::npos);
  REQUIRE(csv.find("times,time,s,none,") != std::string::npos);
}

TEST_CASE("every CSV line has as many cells as the header", "[csv]") {
  std::istringstream lines(render_csv(Run{}, with(times())));
  std::string header;
  std::getline(lines, header);
  for (std::string line; std::getline(lines, line);) {
    REQUIRE(std::count(line.begin(), line.end(), ',') ==
            std::count(header.begin(), header.end(), ','));
  }
}

TEST_CASE("a parameter that the CSV does not know is a programming error", "[csv]") {
  Table table = times();
  table.columns[0].id = "unheard_of";
  REQUIRE_THROWS_AS(render_csv(Run{}, with(table)), std::logic_error);
}
