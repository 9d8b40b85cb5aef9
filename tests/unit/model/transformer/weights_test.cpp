// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/weights.h"

#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const TransformerModel& known(const char* id) {
  return find_model(model_catalogue(), id);
}

}  // namespace

TEST_CASE("each model's shapes reproduce its published parameters", "[transformer]") {
  CHECK(model_catalogue().size() >= 25);
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    REQUIRE_THAT(parameter_count(model), WithinRel(model.published_parameters, 0.01));
  }
}

TEST_CASE("published active parameters count the input embedding, or leave it out",
          "[transformer]") {
  // Within 3 %: most are published with two digits.
  for (const TransformerModel& model : model_catalogue()) {
    if (!model.published_active_parameters) continue;
    INFO(model.id);
    const double with = active_parameter_count(model);
    const double without = with - weights(model).input_embedding;
    CHECK(*model.published_active_parameters < 1.03 * with);
    CHECK(*model.published_active_parameters > 0.97 * without);
  }
}

TEST_CASE("Llama 3.1 8B has 8 030 261 248 parameters", "[transformer]") {
  // 32 (2 4096^2 + 2 4096 1024 + 3 4096 14336 + 2 4096) + 2 128256 4096 + 4096
  REQUIRE(parameter_count(known("llama-3.1-8b")) == 8030261248.0);
}

TEST_CASE("Mixtral: 46.7 billion parameters, 12.9 of them for each token", "[transformer]") {
  REQUIRE_THAT(parameter_count(known("mixtral-8x7b")), WithinRel(46.7e9, 0.001));
  REQUIRE_THAT(active_parameter_count(known("mixtral-8x7b")), WithinRel(12.9e9, 0.005));
}

TEST_CASE("the attention of DeepSeek-V3 has 187 million weights in a layer", "[transformer]") {
  // 1536 (7168 + 128 192) + 7168 (512 + 64) + 512 128 256 + 7168 128 128
  const double layer = 1536.0 * (7168 + 24576) + 7168.0 * 576 + 512.0 * 32768 + 7168.0 * 16384;
  REQUIRE(weights(known("deepseek-v3")).attention == 61.0 * layer);
}

TEST_CASE("the weights of a token's products are all but input embedding, norms and idle experts",
          "[transformer]") {
  const TransformerModel& model = known("mixtral-8x7b");
  const Weights part = weights(model);
  CHECK_THAT(product_weight_count(model),
             WithinRel(active_parameter_count(model) - part.input_embedding - part.norms, 1e-12));
}

TEST_CASE("a tied head is multiplied with, though it adds no weights", "[transformer]") {
  const TransformerModel& model = known("gpt2");
  CHECK(weights(model).head == 0.0);
  CHECK(head_weight_count(model) == 50257.0 * 768.0);
}
