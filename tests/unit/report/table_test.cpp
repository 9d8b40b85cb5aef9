// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include "report/document.h"
#include "report/render.h"
#include "report/run/run_report.h"
#include "tests/catch.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

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

TEST_CASE("a tile is a printed cell with its unit and its note; an absent cell makes none",
          "[table]") {
  Table table = times();
  table.rows.front().detail = true;
  table.rows.push_back({{std::string("none"), Cell{}}});
  // Of the rows that are printed; a detail, an absent cell, no such column, no such row.
  table.tiles = {{1, "time", "Step time", "scaling", "mode"},
                 {0, "time", "Detail"},
                 {2, "time", "Absent"},
                 {1, "cost", "Unknown"},
                 {7, "time", "Beyond"}};
  const std::vector<KeyFigure> figures = key_figures(with(table));
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].label == "Step time");
  CHECK(figures[0].value == "2.00 ms");
  CHECK(figures[0].note == "weak scaling");
}

TEST_CASE("the CSV has a column for every parameter of the tables in it, each once", "[csv]") {
  Document document = with(times());
  Table& other = document.sections.front().tables.emplace_back(times());
  other.columns[0].id = "unheard_of";
  const std::string csv = render_csv(document, "USD");
  REQUIRE(csv.starts_with("section,quantity,unit,mode,unheard_of,value,low,high,samples\n"));
  other.in_csv = false;
  REQUIRE(render_csv(document, "USD").starts_with("section,quantity,unit,mode,value,"));
}

namespace {
struct Inner {
  std::string name;
  std::optional<double> share;
};
struct Outer {
  int rank = 0;
  std::vector<Inner> inner;
};

/// Two outer rows, the first with two inner ones.
Table nested_table(const std::vector<Outer>& outers) {
  return make_table(
      "t",
      "title",
      nested(outers, &Outer::inner),
      {{parameter("rank", "rank", Unit::count), &Outer::rank},
       {parameter("name", "name").in_summary("Name"), &Inner::name},
       {measure("share", "share", Unit::percent).if_present(), &Inner::share},
       {measure("both", "both"),
        [](const Outer& outer, const Inner& inner) {
          return fmt::format("{} of {}", inner.name, outer.rank);
        }},
       {measure("size", "size").only_in_summary(), path(&Inner::name, &std::string::size)}},
      {"a note"},
      [](const auto& row) { return std::get<0>(row.levels)->rank > 1; });
}
}  // namespace

TEST_CASE("a table has one row per element of each list, its columns of either level", "[table]") {
  const std::vector<Outer> outers{{1, {{"a", 0.5}, {"bc", {}}}}, {2, {{"d", {}}}}};
  const Printed printed = print_table(nested_table(outers), true);
  CHECK(printed.headers == std::vector<std::string>{"rank", "name", "share (%)", "both", "size"});
  REQUIRE(printed.rows.size() == 3);
  CHECK(printed.rows[1] == std::vector<std::string>{"1", "bc", "n/a", "bc of 1", "2"});
  CHECK(print_table(nested_table(outers), false).rows.size() == 2);
}

TEST_CASE("a column without any value is left out where it is optional", "[table]") {
  const Printed printed = print_table(nested_table({{1, {{"a", {}}}}}), true);
  CHECK(printed.headers == std::vector<std::string>{"rank", "name", "both", "size"});
}

TEST_CASE("a column that is printed unless it is zero needs one cell that is not", "[table]") {
  const auto headers = [](std::vector<double> cells) {
    const Table table = make_table<double>(
        "", "", cells, {{measure("time_s", "time", Unit::seconds).unless_zero(), [](double cell) {
                           return cell < 0.0 ? Cell{} : Cell{number(cell)};
                         }}});
    CHECK(table.columns.size() == 1);  // a CSV has it
    return print_table(table, true).headers.size();
  };
  CHECK(headers({0.0, 0.0}) == 0);
  CHECK(headers({0.0, 1e-9}) == 1);
  CHECK(headers({0.0, -1.0}) == 1);  // n/a says something else than 0
}

TEST_CASE("the summary has the columns that are flagged for it and no detail", "[table]") {
  const std::vector<Outer> outers{{1, {{"a", 0.5}, {"bc", {}}}}, {2, {{"d", {}}}}};
  Table table = nested_table(outers);
  const Table summary = summary_of(table);
  CHECK(summary.rows.size() == 2);
  const Printed printed = print_table(summary, false);
  CHECK(printed.headers == std::vector<std::string>{"Name", "size"});
  drop_summary_columns(table);
  CHECK(table.columns.size() == 4);
  table.columns[1].summary.clear();
  CHECK(summary_of(table).columns.empty());
}
