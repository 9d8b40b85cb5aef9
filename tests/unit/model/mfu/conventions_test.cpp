// SPDX-License-Identifier: Apache-2.0
#include "src/model/mfu/conventions.h"

#include "src/core/error.h"
#include "src/model/transformer/weights.h"
#include "tests/catch.h"

#include <cstring>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const TransformerModel& known(const char* id) {
  return find_model(model_catalogue(), id);
}

/// Full over causal attention by the parts of the PaLM formula.
double full_over_causal(const char* id, std::int64_t sequence) {
  ForwardFlops forward = forward_flops(Convention::palm, known(id), sequence);
  const double full = forward.total();
  forward.attention /= 2.0;
  return full / forward.total();
}

}  // namespace

TEST_CASE("every convention is found by its name, and a wrong one brings a suggestion", "[mfu]") {
  for (const ConventionWords& words : conventions()) {
    CHECK(parse_convention(words.name) == words.convention);
    CHECK(words_of(words.convention).counts == words.counts);
  }
  CHECK_THROWS_AS(parse_convention("plam"), UserError);
}

TEST_CASE("the closed formulas hold for blocks of GPT", "[mfu]") {
  const TransformerModel& gpt = known("gpt3-175b");
  const double s = 2048;
  const double h = 12288;
  const double layers = 96;
  const double vocabulary = 50257;
  const double square = layers * h * h;
  CHECK_THAT(quoted_flops(Convention::narayanan, gpt, 2048),
             WithinRel(96 * square * (1 + s / (6 * h) + vocabulary / (16 * layers * h)), 1e-12));
  CHECK_THAT(model_flops(Convention::korthikanti, gpt, 2048),
             WithinRel(72 * square * (1 + s / (6 * h) + vocabulary / (12 * layers * h)), 1e-12));
  CHECK_THAT(hardware_flops(Convention::korthikanti, gpt, 2048, Recomputation::selective),
             WithinRel(72 * square * (1 + s / (3 * h) + vocabulary / (12 * layers * h)), 1e-12));
  const double parameters = parameter_count(gpt);
  CHECK_THAT(model_flops(Convention::palm, gpt, 2048),
             WithinRel(6 * parameters + 12 * layers * h * s, 1e-12));
  CHECK_THAT(model_flops(Convention::llm_foundry, gpt, 2048),
             WithinRel(6 * parameters + 12 * layers * h * s, 1e-12));
  CHECK_THAT(hardware_flops(Convention::llm_foundry, gpt, 2048, Recomputation::none),
             WithinRel(6 * parameters + 12 * layers * h * s, 1e-12));
  CHECK_THAT(model_flops(Convention::torchtitan, gpt, 2048),
             WithinRel(6 * (parameters - (50257 + 2048) * h) + 12 * layers * h * s, 1e-12));
  CHECK_THAT(model_flops(Convention::six_nd, gpt, 2048), WithinRel(6 * 175e9, 1e-12));
  // 50257 is padded to 393 x 128 = 50304.
  CHECK_THAT(model_flops(Convention::megatron, gpt, 2048),
             WithinRel(72 * square * (1 + s / (12 * h) + 50304 / (12 * layers * h)), 1e-12));
}

TEST_CASE("llm-foundry counts the stream's width where heads are narrower or wider", "[mfu]") {
  // Qwen3 32B: 64 heads of 128 = 8192 on 5120; 12 L s (8192 - 5120) between the two.
  const TransformerModel& model = known("qwen3-32b");
  CHECK_THAT(model_flops(Convention::palm, model, 4096) -
                 model_flops(Convention::llm_foundry, model, 4096),
             WithinRel(12.0 * 64 * 4096 * 3072, 1e-9));
}

TEST_CASE("6 N of experts are the published active parameters", "[mfu]") {
  CHECK(model_flops(Convention::six_nd, known("deepseek-v3"), 4096) == 6 * 37e9);
}

TEST_CASE("full attention over causal grows with the sequence as published", "[mfu]") {
  CHECK_THAT(full_over_causal("llama-3.1-8b", 8192), WithinAbs(1.118, 1e-3));
  CHECK_THAT(full_over_causal("llama-3.1-8b", 32768), WithinAbs(1.348, 1e-3));
  CHECK_THAT(full_over_causal("llama-3.1-8b", 131072), WithinAbs(1.681, 1e-3));
  CHECK_THAT(full_over_causal("llama-3.1-405b", 8192), WithinAbs(1.040, 1e-3));
  CHECK_THAT(full_over_causal("llama-3.1-405b", 32768), WithinAbs(1.143, 1e-3));
  CHECK_THAT(full_over_causal("llama-3.1-405b", 131072), WithinAbs(1.400, 1e-3));
}

TEST_CASE("6 N alone misses a fifth of what 8B computes at 8192 tokens", "[mfu]") {
  const TransformerModel& model = known("llama-3.1-8b");
  const double missed = 1.0 - model_flops(Convention::six_nd, model, 8192) /
                                  model_flops(Convention::palm, model, 8192);
  CHECK_THAT(missed, WithinAbs(0.21, 0.002));
}

TEST_CASE("formulas count the whole sequence where windows end attention", "[mfu]") {
  const TransformerModel& mistral = known("mistral-7b");  // a window of 4096
  const double inside = forward_flops(Convention::full, mistral, 16384).attention;
  CHECK(forward_flops(Convention::palm, mistral, 16384).attention == 4.0 * inside);
  CHECK(forward_flops(Convention::megatron, mistral, 16384).attention == 2.0 * inside);
}

TEST_CASE("no convention lies outside 6 N and the products with recomputation", "[mfu]") {
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    const double most = quoted_flops(Convention::narayanan, model, model.sequence) +
                        6.0 * (weights(model).input_embedding + weights(model).positions +
                               weights(model).norms + weights(model).relative_positions);
    for (const ConventionWords& words : conventions()) {
      INFO(words.name);
      const double quoted = quoted_flops(words.convention, model, model.sequence);
      CHECK(quoted > 0.0);
      // Windows are counted as whole sequences by some, which only that bound leaves aside.
      if (model.window == 0) CHECK(quoted <= most * 1.02);
    }
  }
}
