// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

#include "tests/catch.h"
#include "tests/golden/report/fixture.h"
#include "tests/schema_check.h"

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::report;
using nlohmann::json;

namespace {

std::string rendered(const model::TrainingRun& run, Format format) {
  return render_mfu({run, model::use_of_training(run), fixture::mfu_names(), {format}});
}

json parsed(const model::TrainingRun& run) {
  return json::parse(rendered(run, Format::json));
}

}  // namespace

TEST_CASE("the JSON of a utilisation follows its schema, which knows every key", "[mfu]") {
  CHECK(schema_problems(SCALEWORTH_MFU_SCHEMA, parsed(fixture::gpt3_run())).empty());
  CHECK(schema_problems(SCALEWORTH_MFU_SCHEMA, parsed(fixture::gpt3_recomputing_run())).empty());
  CHECK(not_exact(read_schema(SCALEWORTH_MFU_SCHEMA)).empty());
}

TEST_CASE("the parts of a token's FLOPs sum to what the utilisation counts", "[mfu]") {
  const json document = parsed(fixture::gpt3_recomputing_run());
  const json& forward = document["forward_flop_per_token"];
  const double layers = forward["layers"].get<double>() + forward["attention"].get<double>();
  const double pass = layers + forward["head"].get<double>();
  const double model = document["model_flop_per_token"].get<double>();
  CHECK_THAT(model, WithinRel(3.0 * pass, 1e-12));
  CHECK_THAT(document["hardware_flop_per_token"].get<double>(), WithinRel(model + layers, 1e-12));
}

TEST_CASE("a run without price has no dollars, nulls in their place", "[mfu]") {
  const json document = parsed(fixture::gpt3_recomputing_run());
  CHECK(document["cost_per_million_tokens_usd"].is_null());
  CHECK(document["training"]["cost_usd"].is_null());
  CHECK(rendered(fixture::gpt3_recomputing_run(), Format::csv).find("cost_usd") ==
        std::string::npos);
}

TEST_CASE("a utilisation above the peak is said to be impossible", "[mfu]") {
  model::TrainingRun run = fixture::gpt3_run();
  const double mfu = model::use_of_training(run).against.front().mfu;
  run.tokens_per_second *= 1.01 / mfu;  // possible where attention is counted as causal
  const std::string text = rendered(run, Format::text);
  CHECK(text.find("cannot be; check the rate") != std::string::npos);
  CHECK(text.find("more than the peak cannot be") != std::string::npos);
}

TEST_CASE("the page of a utilisation has its tables", "[mfu]") {
  const std::string page = rendered(fixture::gpt3_run(), Format::html);
  CHECK(page.find("torchtitan") != std::string::npos);
}
