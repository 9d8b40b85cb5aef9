// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <string>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

std::string complaint(const std::string& text) {
  try {
    parse_regimes(text, "ways.toml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a file of regimes gives each way to pay its own terms", "[decide]") {
  const auto regimes = parse_regimes(R"(
[[regime]]
name = "committed"
price_part = 0.6
utilisation = 0.8
[[regime]]
name = "other cloud"
price_usd_per_hour = 2.5
[[regime]]
name = "spot"
price_usd_per_hour = 0.9
preemption_per_hour = 0.05
notice_s = 30
[[regime]]
name = "bought"
capex_usd = 30000
lifetime_years = 4
power_kw = 1
pue = 1.3
electricity_usd_per_kwh = 0.08
)",
                                     "ways.toml");
  REQUIRE(regimes.size() == 4);
  const auto& committed = std::get<model::PricePart>(regimes[0].terms);
  CHECK(committed.part == 0.6);
  CHECK(committed.utilisation == 0.8);
  CHECK_THAT(std::get<model::ListPrice>(regimes[1].terms).per_rank.value(),
             WithinRel(2.5 / 3600.0, 1e-12));
  const auto& spot = std::get<model::SpotTerms>(regimes[2].terms);
  CHECK(spot.preemption.per_hour == 0.05);
  CHECK(spot.preemption.notice == Seconds(30));
  CHECK(spot.preemption.checkpoint == model::Preemption{}.checkpoint);
  const auto& bought = std::get<model::OwnedTerms>(regimes[3].terms);
  CHECK(bought.capital == Dollars(30000));
  CHECK(bought.power_usage_effectiveness == 1.3);
  CHECK(bought.utilisation == 1.0);
}

TEST_CASE("spot in a file may have no reclaims, and instances of several ranks", "[decide]") {
  const auto regimes = parse_regimes(
      "[[regime]]\nname = \"spot\"\nprice_usd_per_hour = 0.9\npreemption_per_hour = 0\n"
      "ranks_per_instance = 8\nreacquire_s = 300\nrestart_s = 0\n",
      "ways.toml");
  const auto& terms = std::get<model::SpotTerms>(regimes.front().terms).preemption;
  CHECK(terms.per_hour == 0.0);
  CHECK(terms.ranks_per_instance == 8);
  CHECK(terms.reacquisition == Seconds(300));
  CHECK(terms.restart == Seconds(0));
  CHECK(contains(complaint("[[regime]]\nname = \"spot\"\nprice_usd_per_hour = 0.9\n"
                           "preemption_per_hour = -1\n"),
                 "preemption_per_hour"));
}

TEST_CASE("a regime of no kind, of two kinds or with a key too many is refused in one line",
          "[decide]") {
  CHECK(complaint("").find("no regime in the file") != std::string::npos);
  CHECK(complaint("[[regime]]\nname = \"a\"\n").find("one of price_part") != std::string::npos);
  const std::string two = complaint(
      "[[regime]]\nname = \"a\"\nprice_part = 0.5\ncapex_usd = 100\nlifetime_years = 3\n");
  CHECK(two.find("one of price_part") != std::string::npos);
  CHECK(two.find("ways.toml") == 0);
  const std::string unknown = complaint("[[regime]]\nname = \"a\"\nprice_part = 0.5\ncolor = 3\n");
  CHECK(unknown.find("color") != std::string::npos);
  CHECK(unknown.find('\n') == std::string::npos);
}

TEST_CASE("brackets without partners are refused, whatever the parser assumes of them",
          "[decide]") {
  for (const char* text :
       {"x = [}\n", "x = [1, }\n", "x = {[\n", "x = [[[\n", "[[regime]]\nname = [ ] }\n"}) {
    INFO(text);
    CHECK(complaint(text).find("ways.toml") == 0);
  }
}
