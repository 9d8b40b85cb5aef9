// SPDX-License-Identifier: Apache-2.0
#include "report/currency.h"

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

TEST_CASE("the name that the user gave a file keeps its letters", "[report]") {
  Json json = Json::parse(R"({"input": "prices in USD.csv", "why": "USD"})");
  label_amounts(json, "EUR");
  CHECK(json == Json::parse(R"({"input": "prices in USD.csv", "why": "EUR"})"));
}

TEST_CASE("a chart's sentences and axes take the label", "[report]") {
  Chart chart{"cost", "counts", "Cost in USD", "USD up", Json::array({"cost (USD)"}), "no USD"};
  label_amounts(chart, "EUR");
  CHECK(chart.title == "Cost in EUR");
  CHECK(chart.how_to_read == "EUR up");
  CHECK(chart.spec[0] == "cost (EUR)");
  CHECK(chart.missing == "no EUR");
}

TEST_CASE("a document with another label says that nothing is converted", "[report]") {
  Document document;
  document.subtitle = "four counts";
  document.verdict.lines = {"costs 3 USD"};
  label_amounts(document, "EUR");
  CHECK(document.subtitle == "four counts; amounts in EUR as given, nothing is converted");
  CHECK(document.verdict.lines[0] == "costs 3 EUR");
}
