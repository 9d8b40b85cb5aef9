// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/serving.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/inference/servers.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::inference;

namespace {

ServingQuestion question(const std::string& model, int gpus) {
  ServingQuestion asked;
  asked.server = example::server(model, example::h100(gpus));
  return asked;
}

}  // namespace

TEST_CASE("batches go up to what memory holds, which is the cheapest", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.rate = dollars_per_hour(2.0);
  const ServingAnswer answer = serve(asked);
  // 416 requests of 1280 tokens fit, and 462 of 1152 tokens.
  CHECK(answer.memory.full_length_batch == 416);
  CHECK(answer.memory.mean_length_batch == 462);
  REQUIRE(answer.batches.size() == 6);
  CHECK(answer.batches[4].point.batch == 256.0);
  CHECK(answer.batches[5].point.batch == 416.0);
  CHECK(answer.chosen == 5);
  CHECK(answer.batches[5].cost->per_request < answer.batches[0].cost->per_request);
  CHECK(answer.memory.least_gpus == 1);
}

TEST_CASE("a model that does not fit says on how many GPUs it would", "[inference]") {
  // 70.55e9 * 2 B and a request of 0.42e9 B on GPUs of 85.9e9 B.
  const ServingAnswer answer = serve(question("llama-3.1-70b", 1));
  CHECK(answer.memory.least_gpus == 2);
  CHECK_FALSE(answer.chosen.has_value());
  CHECK(answer.batches.front().excluded == "does not fit into memory at full length");
}

TEST_CASE("a limit on the time per token excludes larger batches", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.batches = {256, 16, 64};
  asked.limits.per_token = Seconds(10e-3);
  const ServingAnswer answer = serve(asked);
  // At 64: 7.365 + 63 * 14.73 / 255 = 11.0 ms; at 16: 5.202 + 0.866 ms.
  CHECK(answer.batches[1].excluded == "tokens come too slowly");
  CHECK(answer.chosen == 0);
}

TEST_CASE("limits and links that are no times are refused", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 2);
  asked.limits.per_token = Seconds(std::nan(""));
  CHECK_THROWS_AS(serve(asked), UserError);
  asked.limits = {};
  asked.server.group.link = GroupLink{Seconds(std::nan("")), BytesPerSecond(1e9)};
  CHECK_THROWS_AS(serve(asked), UserError);
}

TEST_CASE("utilisation meets the break-even of the chosen batch", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.batches = {32};
  asked.rate = dollars_per_hour(2.5);
  asked.load = {0.4, 2.0};
  asked.api = ApiPrice{Dollars(0.05), Dollars(0.10), {}};
  const ServingAnswer answer = serve(asked);
  // A request costs the API's buyer 51.2e-6 + 25.6e-6 USD, and us 61.9245e-3 * 2.5 / 3600 = 43e-6.
  CHECK_THAT(answer.api_request->value(), WithinRel(76.8e-6, 1e-12));
  CHECK_THAT(*answer.batches[0].break_even, WithinRel(43.0031e-6 / 76.8e-6, 1e-5));
  CHECK_THAT(answer.utilisation, WithinRel(0.2, 1e-12));
  CHECK_THAT(answer.loaded_cost->per_request.value(), WithinRel(5.0 * 43.0031e-6, 1e-5));
}

TEST_CASE("a measured rate belongs to one batch", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.measured.output_tokens_per_s = 1000.0;
  CHECK_THROWS_AS(serve(asked), UserError);
  asked.batches = {32};
  CHECK_THAT(serve(asked).batches[0].point.output_tokens_per_s, WithinRel(1000.0, 1e-12));
}
