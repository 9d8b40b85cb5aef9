// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/economics.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/inference/servers.h"

using namespace scaleworth;
using namespace scaleworth::inference;

namespace {

constexpr Request chat{1024.0, 256.0, 0.0};

}  // namespace

TEST_CASE("a batch in steady state shares its steps, not its prompts", "[inference]") {
  // Step at context 1152: (15,009,849,344 + 32 * 150,994,944) B / 3.35e12 B/s = 5.92289 ms.
  // One request: 14.7265 ms + 255 * 5.92289 ms / 32 = 61.9245 ms.
  const OperatingPoint point = operate(example::server("llama-3.1-8b"), chat, 32.0);
  CHECK_THAT(point.step.time.value(), WithinRel(5.92289e-3, 1e-5));
  CHECK_THAT(point.prefill_per_request.value(), WithinRel(14.7265e-3, 1e-5));
  CHECK_THAT(point.output_tokens_per_s, WithinRel(256.0 / 61.9245e-3, 1e-5));
  CHECK_THAT(point.input_tokens_per_s, WithinRel(4.0 * point.output_tokens_per_s, 1e-12));
  // 31 prompts of others among 255 tokens: 5.92289 + 31 * 14.7265 / 255 = 7.71317 ms.
  CHECK_THAT(point.time_per_output_token->value(), WithinRel(7.71317e-3, 1e-5));
  CHECK(point.fits == true);
  CHECK(point.ceiling_output_tokens_per_s > point.output_tokens_per_s);
}

TEST_CASE("prompts of a group wait for each other and save each other's weights", "[inference]") {
  // Three prompts of 128 tokens in a pass of 5.434 ms: 1.811 ms each instead of 4.486.
  const Server server = example::server("llama-3.1-8b");
  const OperatingPoint point = operate(server, {128.0, 128.0, 0.0}, 32.0);
  CHECK(point.group == 3.0);
  CHECK_THAT(point.prefill_per_request.value(), WithinAbs(1.811e-3, 1e-6));
  CHECK_THAT(point.time_to_first_token.value(), WithinAbs(5.434e-3, 2e-6));
  CHECK(operate(server, {128.0, 128.0, 0.0}, 1.0).group == 1.0);
}

TEST_CASE("one token of output is the prompt's alone", "[inference]") {
  const OperatingPoint point = operate(example::server("llama-3.1-8b"), {1024.0, 1.0, 0.0}, 8.0);
  CHECK(point.decode_per_request.value() == 0.0);
  CHECK_FALSE(point.time_per_output_token.has_value());
  CHECK_THAT(point.ceiling_output_tokens_per_s, WithinRel(point.output_tokens_per_s, 1e-12));
}

TEST_CASE("input pays for its prompt's pass and output for the steps", "[inference]") {
  // 2.50 USD/h: 14.7265e-3 s / 1024 tokens and 47.1980e-3 s / 256 tokens, times 1e6.
  const OperatingPoint point = operate(example::server("llama-3.1-8b"), chat, 32.0);
  const TokenCost cost = token_cost(point, chat, dollars_per_hour(2.5));
  CHECK_THAT(cost.per_million_input.value(), WithinRel(0.00998705, 1e-5));
  CHECK_THAT(cost.per_million_output.value(), WithinRel(0.128033, 1e-5));
  CHECK_THAT(
      cost.per_request.value(),
      WithinRel(
          (1024 * cost.per_million_input.value() + 256 * cost.per_million_output.value()) / 1e6,
          1e-12));
  // 40 % duty is 2.5 times the cost, a peak of twice the mean doubles it again.
  const TokenCost idle = token_cost(point, chat, dollars_per_hour(2.5), {0.4, 2.0});
  CHECK_THAT(idle.per_request.value(), WithinRel(5.0 * cost.per_request.value(), 1e-12));
}

TEST_CASE("measured times take the place of the roof's", "[inference]") {
  const Server server = example::server("llama-3.1-8b");
  MeasuredTimes measured;
  measured.prefill = Seconds(0.030);
  measured.decode_step = Seconds(0.010);
  // 30 + 255 * 10 / 32 = 109.6875 ms.
  const OperatingPoint timed = operate(server, chat, 32.0, measured);
  CHECK_THAT(timed.output_tokens_per_s, WithinRel(256.0 / 0.1096875, 1e-9));
  measured = {};
  measured.output_tokens_per_s = 1000.0;
  const OperatingPoint rated = operate(server, chat, 32.0, measured);
  CHECK_THAT(rated.output_tokens_per_s, WithinRel(1000.0, 1e-12));
  // The division among prompt and steps stays that of the model: 14.7265 of 61.9245.
  CHECK_THAT(rated.prefill_per_request.value(), WithinRel(0.256 * 14.7265 / 61.9245, 1e-5));
  measured.output_tokens_per_s = 0.0;
  CHECK_THROWS_AS(operate(server, chat, 32.0, measured), UserError);
}

TEST_CASE("the break-even utilisation is the published one", "[inference]") {
  // 2.50 USD/h, 2500 tokens/s, 0.50 USD per million tokens: 0.556.
  const Dollars request = api_cost({1.0, 100.0, 0.0}, {Dollars(0.0), Dollars(0.5), {}});
  CHECK_THAT(request.value(), WithinRel(50e-6, 1e-12));
  CHECK_THAT(break_even_utilisation(dollars_per_hour(2.5), 25.0, request), WithinAbs(0.5556, 5e-5));
  CHECK_THROWS_AS(break_even_utilisation(dollars_per_hour(2.5), 25.0, Dollars(0)), UserError);
}

TEST_CASE("an API may charge less for what it finds in its cache", "[inference]") {
  // 500 tokens at 1 USD, 500 at 0.10 and 100 of output at 4 USD per million.
  const ApiPrice price{Dollars(1.0), Dollars(4.0), Dollars(0.1)};
  CHECK_THAT(api_cost({1000.0, 100.0, 0.5}, price).value(), WithinRel(950e-6, 1e-12));
}

TEST_CASE("loads and requests without meaning are refused", "[inference]") {
  CHECK_THROWS_AS(load_multiplier({0.0, 1.0}), UserError);
  CHECK_THROWS_AS(load_multiplier({1.1, 1.0}), UserError);
  CHECK_THROWS_AS(load_multiplier({1.0, 0.5}), UserError);
  CHECK_THROWS_AS(check_request({0.0, 1.0, 0.0}), UserError);
  CHECK_THROWS_AS(check_request({1.0, 1.0, 1.0}), UserError);
  CHECK_THROWS_AS(check_request({1e13, 1.0, 0.0}), UserError);
  CHECK_THROWS_AS(operate(example::server("llama-3.1-8b"), chat, 1e13), UserError);
}
