// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "src/model/decision/scaling_table.h"
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"
#include "tests/schema_check.h"
#include "tests/unit/model/decision/tables.h"

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::report;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

json as_json(const model::Decision& decision) {
  return json::parse(render_decision(decision, fixture::table_options("table.csv", Format::json)));
}

/// Every member that a table can fill.
model::Decision full_decision() {
  std::vector<model::TableRow> rows;
  for (const int count : {1, 2, 4}) {
    model::TableRow at = model::example::breakdown(count, 100.0 / count, count, 1.0);
    at.quality = 0.9;
    at.work = 100.0 * count;
    at.energy_j = 500.0;
    at.facts.layout.data = count;
    at.facts.batch = 8.0 * count;
    at.facts.price = dollars_per_hour(2.0);
    at.facts.latencies = {{"ttft_p99", 0.2}};
    rows.push_back(at);
  }
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(2.0);
  return model::decide_table(model::assemble(rows), request);
}

/// Of recordings at 1 and 4 ranks.
model::Decision recorded_decision() {
  return model::decide_table(
      model::attributed_table({model::attributed_count(fixture::lone_recording(), "one/"),
                               model::attributed_count(fixture::straggler_job(), "four/")},
                              model::Scaling::strong),
      {});
}

}  // namespace

TEST_CASE("decisions follow their schema", "[decide]") {
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, as_json(fixture::curve_decision())) == "");
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, as_json(fixture::breakdown_decision())) == "");
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, as_json(fixture::rubric_decision())) == "");
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA,
                        as_json(model::decide_table(
                            model::assemble({model::example::observation(4, 100)}), {}))) == "");
}

TEST_CASE("a decision's JSON tells what the table said of each count", "[decide]") {
  const json document = as_json(full_decision());
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, document) == "");
  CHECK(document["scaling"] == "weak scaling");
  const json& last = document["rows"][2];
  CHECK(last["layout"]["data"] == 4);
  CHECK(last["batch"] == 32.0);
  CHECK(last["latencies_s"]["ttft_p99"] == 0.2);
  CHECK_THAT(last["rate_usd_per_hour"].get<double>(), WithinRel(2.0, 1e-12));
  CHECK(last["gustafson_serial"]["value"].is_number());
}

TEST_CASE("a decision's amounts carry the currency in every format", "[decide]") {
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(2.0);
  request.rubric.currency = "EUR";
  const model::Decision decision =
      model::decide_table(model::assemble({model::example::observation(1, 100),
                                           model::example::observation(2, 60),
                                           model::example::observation(4, 40)}),
                          request);
  for (const Format format : {Format::text, Format::markdown, Format::csv, Format::json}) {
    RenderOptions options = fixture::table_options("table.csv", format);
    options.currency = "EUR";
    options.details = true;
    const std::string text = render_decision(decision, options);
    CHECK(text.find("EUR") != std::string::npos);
    CHECK(text.find("USD") == std::string::npos);
  }
}

TEST_CASE("the schema refuses a decision without its rows, or with numbers as texts", "[decide]") {
  json document = as_json(fixture::breakdown_decision());
  document["rows"][0]["speedup"]["value"] = "1.0";
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, document) != "");
  document = as_json(fixture::breakdown_decision());
  document["rows"][0]["parts"]["other_s"] = 1.0;
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, document) != "");
  document.erase("rows");
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, document) != "");
}

TEST_CASE("a deadline's forecast follows the schema, told or not", "[decide]") {
  std::vector<model::TableRow> rows;
  // T(K) = 1000 s (0.02 + 0.98/K + 0.0002 (K-1)), rounded.
  const std::vector<std::pair<int, double>> times{
      {1, 1001}, {2, 510}, {4, 265.5}, {8, 144}, {16, 84.2}, {32, 56.9}};
  for (const auto& [count, time] : times) {
    rows.push_back(model::example::observation(count, time));
  }
  model::DecisionRequest request;
  request.metrics.prices = model::example::hourly(2.0);
  for (const double deadline_s : {108.0, 54.0, 30.0}) {
    request.rubric.deadline = Seconds(deadline_s);
    const json document = as_json(model::decide_table(model::assemble(rows), request));
    CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, document) == "");
    CHECK(document["deadline_forecast"]["cheapest_predicted"].is_null() == (deadline_s < 40.0));
  }
  rows.resize(3);
  const json untold = as_json(model::decide_table(model::assemble(rows), request));
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, untold) == "");
  CHECK(untold["deadline_forecast"]["unavailable"].is_string());
  CHECK(untold["deadline_forecast"]["run_noise"].is_null());
  CHECK(untold["deadline_forecast"]["fastest"].is_null());
}

TEST_CASE("a decision on recordings tells its factors and the rank that the others wait for",
          "[decide]") {
  const model::Decision decision = recorded_decision();
  const json document = as_json(decision);
  CHECK(schema_problems(SCALEWORTH_DECISION_SCHEMA, document) == "");
  CHECK(document["ledgers"]["cause_by_factors"] == true);
  CHECK(document["ledgers"]["counts"][0]["factors"]["load_balance"] == 1.0);
  CHECK(document["ledgers"]["counts"][1]["factors"]["useful_s_by_rank"][3] == 0.013);
  auto options = fixture::table_options("one/ four/");
  options.details = true;
  const std::string text = render_decision(decision, options);
  CHECK(text.find("(by the POP factors of the recordings)") != std::string::npos);
  CHECK(text.find("At 4 the others wait for rank 3, 3.99 ms of each step on average; cause: the") !=
        std::string::npos);
  CHECK(text.find("The gap from ideal at each count, by the POP factors of the recordings") !=
        std::string::npos);
}

TEST_CASE("the page gets the coefficients of a count's cost, its gates and the rule at other terms",
          "[decide]") {
  // One hour at 1 rank, half an hour at 2; 3 USD an hour beside the price of a rank.
  const model::ScalingTable table =
      model::assemble({model::example::observation(1, 3600), model::example::observation(2, 1800)});
  model::DecisionRequest request;
  request.metrics.prices = model::Prices{.per_rank = dollars_per_hour(2.0),
                                         .fixed = dollars_per_hour(3.0),
                                         .value_of_time = dollars_per_hour(7.0)};
  request.rubric.budget = Dollars(9.0);
  const auto page = [&] {
    const auto decision = model::decide_table(table, request);
    return decision_page_data({decision, fixture::table_options("table.csv", Format::html)});
  };
  // At 2 ranks: 3 x .5 = 1.5, a USD of price 2 x .5 = 1, a USD of waiting .5.
  const Json row = page()["rows"][1];
  const std::vector<double> coefficients = row["cost"]["value"];
  CHECK_THAT(coefficients[0], WithinRel(1.5, 1e-12));
  CHECK_THAT(coefficients[1], WithinRel(1.0, 1e-12));
  CHECK_THAT(coefficients[2], WithinRel(0.5, 1e-12));
  CHECK(row["cost"]["high"].is_null());
  CHECK(row["gates"].dump() ==
        R"([{"mark":"too late","latest_h":0.5},{"mark":"over budget","budget":9.0}])");
  CHECK(page()["given"].dump() == R"({"price":"2","value":"7","deadline":""})");
  // A budget asks for the fastest; without one the wall clock's price for the cheapest.
  CHECK(page()["objective"][0][0][1] == "time");
  request.rubric.budget.reset();
  CHECK(page()["objective"][0][0].dump() == R"(["balanced","cost"])");
  CHECK(page()["objective"][1][0].dump() == R"(["time","cost"])");
  // With failures the odds of a deadline are not recomputed: no deadline, no gate.
  request.metrics.failures.emplace().failures_per_hour = 0.001;
  CHECK(page()["rows"][1]["gates"].empty());
}
