// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/attention.h"

#include "tests/catch.h"

#include <string>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const TransformerModel& known(const char* id) {
  return find_model(model_catalogue(), id);
}

}  // namespace

TEST_CASE("the kind of attention follows from the heads of keys", "[transformer]") {
  CHECK(attention_kind(known("gpt3-175b")) == AttentionKind::multi_head);
  CHECK(attention_kind(known("llama-3.1-8b")) == AttentionKind::grouped_query);
  CHECK(attention_kind(known("palm-540b")) == AttentionKind::multi_query);
  CHECK(attention_kind(known("deepseek-v3")) == AttentionKind::latent);
  CHECK(std::string(attention_kind_name(AttentionKind::latent)) == "latent");
}

TEST_CASE("attention of GPT-3 has 4 L h s operations for a token, half of them causal",
          "[transformer]") {
  const double full = 4.0 * 96 * 12288 * 2048;
  CHECK(attention_flops(known("gpt3-175b"), 2048, AttentionSpan::full) == full);
  CHECK(attention_flops(known("gpt3-175b"), 2048, AttentionSpan::causal) == full / 2);
}

TEST_CASE("latent attention meets keys of 192 and values of 128", "[transformer]") {
  // 2 128 (192 + 128) 4096 in each of 61 layers
  CHECK(attention_flops(known("deepseek-v3"), 4096, AttentionSpan::full) ==
        2.0 * 128 * 320 * 4096 * 61);
}

TEST_CASE("a window bounds the keys that a token meets", "[transformer]") {
  const TransformerModel& mistral = known("mistral-7b");  // 32 layers, each with a window of 4096
  CHECK(keys_met(mistral, 2048, AttentionSpan::causal) == 32 * 1024.0);
  CHECK(keys_met(mistral, 8192, AttentionSpan::full) == 32 * 4096.0);
  // The first 4096 tokens meet 2048 on average, the others 4096.
  CHECK(keys_met(mistral, 8192, AttentionSpan::causal) == 32 * 3072.0);
  // Gemma 3: 52 layers with 1024, 10 without.
  CHECK(keys_met(known("gemma-3-27b"), 4096, AttentionSpan::full) == 52 * 1024.0 + 10 * 4096.0);
}

TEST_CASE("a token leaves keys and values in the cache, or one compressed vector",
          "[transformer]") {
  // Llama 3.1 8B: 2 x 8 x 128 in each of 32 layers: 128 KiB a token in bf16.
  CHECK(2 * cached_elements(known("llama-3.1-8b"), 1) == 131072.0);
  // DeepSeek-V3: 576 in each of 61 layers: 70 272 bytes in bf16.
  CHECK(2 * cached_elements(known("deepseek-v3"), 1) == 70272.0);
  CHECK(cached_elements(known("mistral-7b"), 32768) == cached_elements(known("mistral-7b"), 4096));
}
