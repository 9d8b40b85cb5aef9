// SPDX-License-Identifier: Apache-2.0
#include "report/decide/money/currency.h"

#include "tests/catch.h"

using namespace scaleworth::report;

namespace {

std::string labelled(std::string text, const std::string& currency) {
  label_amounts(text, currency);
  return text;
}

}  // namespace

TEST_CASE("amounts carry the currency's label, placeholders of commands keep theirs", "[report]") {
  CHECK(labelled("4.173 USD, not 5 USD.", "EUR") == "4.173 EUR, not 5 EUR.");
  CHECK(labelled("USD per USD", "CHF") == "CHF per CHF");
  CHECK(labelled("--price USD_PER_HOUR", "EUR") == "--price USD_PER_HOUR");
  CHECK(labelled("AUSD", "EUR") == "AUSD");
  CHECK(labelled("1 USD", "USD") == "1 USD");
}

TEST_CASE("texts of a JSON take the label, keys and numbers stay", "[report]") {
  Json json = Json::parse(R"({"cost_usd": 3, "lines": ["3 USD", {"why": "2 USD"}]})");
  label_amounts(json, "EUR");
  CHECK(json == Json::parse(R"({"cost_usd": 3, "lines": ["3 EUR", {"why": "2 EUR"}]})"));
}
