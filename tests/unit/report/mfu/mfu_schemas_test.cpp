// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"
#include "tests/schema_check.h"

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::report;
using nlohmann::json;

namespace {

json served(const model::ServingQuestion& question) {
  return json::parse(
      render_serving({question, model::serve(question), fixture::server_names(), {Format::json}}));
}

json budgeted(const model::TrainingQuestion& question) {
  return json::parse(render_budget(
      {question, model::plan_training(question), fixture::budget_names(), {Format::json}}));
}

}  // namespace

TEST_CASE("the JSON of a served model follows its schema, which knows every key", "[mfu]") {
  CHECK(schema_problems(SCALEWORTH_MFU_INFERENCE_SCHEMA, served(fixture::loaded_server())) == "");
  CHECK(schema_problems(SCALEWORTH_MFU_INFERENCE_SCHEMA, served(fixture::too_small_server())) ==
        "");
  CHECK(not_exact(read_schema(SCALEWORTH_MFU_INFERENCE_SCHEMA)).empty());
}

TEST_CASE("the JSON of a training budget follows its schema, which knows every key", "[mfu]") {
  CHECK(schema_problems(SCALEWORTH_MFU_BUDGET_SCHEMA, budgeted(fixture::million_dollars())) == "");
  model::TrainingQuestion flops;
  flops.flops = Flops(1e21);
  CHECK(schema_problems(SCALEWORTH_MFU_BUDGET_SCHEMA, budgeted(flops)) == "");
  CHECK(not_exact(read_schema(SCALEWORTH_MFU_BUDGET_SCHEMA)).empty());
}

TEST_CASE("a served model's JSON tells prices per GPU and per group, and the range of real servers",
          "[mfu]") {
  const json document = served(fixture::loaded_server());
  CHECK_THAT(document["load"]["price_usd_per_gpu_hour"].get<double>(), WithinRel(2.5, 1e-12));
  CHECK_THAT(document["load"]["price_usd_per_group_hour"].get<double>(), WithinRel(10.0, 1e-12));
  CHECK(document["basis"]["times"] == "roof");
  const json& batch = document["batches"][3];
  // Break-even / 0.75 and / 0.34, the published parts of the roof.
  const double at_roof = batch["break_even_utilisation"].get<double>();
  CHECK_THAT(batch["real_break_even_utilisation"]["low"].get<double>(),
             WithinRel(at_roof / 0.75, 1e-12));
  CHECK_THAT(batch["real_break_even_utilisation"]["high"].get<double>(),
             WithinRel(at_roof / 0.34, 1e-12));
}

TEST_CASE("a served model's amounts carry the currency in every format", "[mfu]") {
  const auto question = fixture::loaded_server();
  const auto answer = model::serve(question);
  for (const Format format : {Format::text, Format::markdown, Format::csv, Format::json}) {
    const std::string text = render_serving(
        {question, answer, fixture::server_names(), {format, false, 100, true, "EUR"}});
    CHECK(text.find("EUR") != std::string::npos);
    CHECK(text.find("USD") == std::string::npos);
  }
}

TEST_CASE("measured times have no range of real servers", "[mfu]") {
  model::ServingQuestion question = fixture::loaded_server();
  question.batches = {32};
  question.measured.decode_step = Seconds(12e-3);
  const json document = served(question);
  CHECK(schema_problems(SCALEWORTH_MFU_INFERENCE_SCHEMA, document) == "");
  CHECK(document["basis"]["times"] == "measured");
  CHECK(document["basis"]["measured_step_s"] == 12e-3);
  CHECK(document["batches"][0]["real_break_even_utilisation"].is_null());
}

TEST_CASE("a budget in FLOPs without a price has no dollars, not zero of them", "[mfu]") {
  model::TrainingQuestion question;
  question.flops = Flops(1e21);
  question.means = model::TrainingMeans{DollarsPerSecond(0.0), FlopPerSecond(1e15), 0.4, 10};
  const json document = budgeted(question);
  CHECK(document["budget_usd"].is_null());
  CHECK(document["means"]["price_usd_per_gpu_hour"].is_null());
  CHECK(document["means"]["cost_usd"].is_null());
  // 1e21 / (1e15 x 0.4) = 2.5e6 s on one GPU.
  CHECK_THAT(document["means"]["time_s"].get<double>(), WithinRel(2.5e5, 1e-12));
}
