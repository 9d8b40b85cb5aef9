// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"
#include "report/render.h"
#include "report/words.h"
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"

#include <regex>
#include <set>
#include <sstream>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {

std::string text(bool details, bool price = false) {
  return render(fixture::complete_run(),
                fixture::two_core_analysis(price),
                fixture::options(Format::text, details));
}

std::set<std::string> numbers(const std::string& report) {
  static const std::regex number("[0-9]+([.][0-9]+)?");
  std::set<std::string> found;
  for (std::sregex_iterator one(report.begin(), report.end(), number), end; one != end; ++one) {
    found.insert(one->str());
  }
  return found;
}

std::string printed(const std::string& name, const Value& value) {
  const NamedValue fact = printed_fact({name, value, "/proc/stat"});
  return fact.name + " " + fact.value;
}

}  // namespace

TEST_CASE("the summary of a complete run fits one page", "[summary]") {
  for (const bool price : {false, true}) {
    std::istringstream lines(text(false, price));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      INFO(line);
      CHECK(display_width(line) <= 100);
    }
    CHECK(count <= 60);
  }
}

TEST_CASE("every value of the summary is in the details", "[summary]") {
  // The summary prints the longer arm of an interval where the details print both ends.
  static const std::regex arm("± <?[0-9.]+");
  const auto details = numbers(text(true));
  for (const std::string& number : numbers(std::regex_replace(text(false), arm, ""))) {
    INFO(number);
    CHECK(details.count(number) == 1);
  }
}

TEST_CASE("an uneven interval becomes one that is wider, unless its arm exceeds half of the value",
          "[summary]") {
  Table table;
  table.rows.push_back({{Cell{Number{10.0, Interval<double>{9.0, 12.0}, 20}},
                         Cell{Number{10.0, Interval<double>{9.0, 16.0}, 20}}},
                        false});
  symmetric_intervals(table);
  const auto& near = std::get<Number>(table.rows[0].cells[0]);
  CHECK(near.interval->low == 8.0);  // 10 - (12 - 10)
  CHECK(near.interval->high == 12.0);
  const auto& far = std::get<Number>(table.rows[0].cells[1]);
  CHECK(far.interval->low == 9.0);
  CHECK(far.interval->high == 16.0);
}

TEST_CASE("the summary says how to see the rest", "[summary]") {
  CHECK(text(false).find("scaleworth report scaleworth-runs/2026-11-21 --details") !=
        std::string::npos);
  CHECK(text(true).find("--details  #") == std::string::npos);
}

TEST_CASE("the summary marks extrapolated counts and names what was not measured", "[summary]") {
  CHECK(render(fixture::complete_run(),
               fixture::two_core_analysis(false),
               fixture::options(Format::markdown, false))
            .find("| extrapolated |") != std::string::npos);
  CHECK(text(false).find("Not measured: roofline.gemm_bf16 skipped") != std::string::npos);
}

TEST_CASE("facts that are fractions print as per cent with two digits", "[names]") {
  CHECK(printed("steal_fraction", 0.0131415926) == "steal 1.3 %");
  CHECK(printed("steal_fraction_since_boot", 0.0014747) == "steal since boot 0.15 %");
  CHECK(printed("other_cpu_fraction", 0.4133868) == "other cpu 41 %");
  CHECK(printed("steal_fraction", 0.0) == "steal 0.0 %");
}

TEST_CASE("facts in seconds have three digits", "[names]") {
  CHECK(printed("watched_cpu_seconds", 388.880000000001) == "watched cpu 389 s");
}
