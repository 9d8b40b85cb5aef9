// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/flops.h"

#include "src/model/transformer/weights.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const TransformerModel& known(const char* id) {
  return find_model(model_catalogue(), id);
}

}  // namespace

TEST_CASE("a forward pass of GPT-3 is 24 L h^2 (1 + s/6h + V/12Lh) operations a token", "[flops]") {
  const ForwardFlops forward = forward_flops(known("gpt3-175b"), 2048, AttentionSpan::full);
  const double layers = 24.0 * 96 * 12288 * 12288;
  CHECK(forward.layers == layers);
  CHECK_THAT(forward.attention, WithinRel(layers * 2048 / (6.0 * 12288), 1e-12));
  CHECK_THAT(forward.head, WithinRel(layers * 50257 / (12.0 * 96 * 12288), 1e-12));
  CHECK(training_flops(forward) == 3.0 * forward.total());
}

TEST_CASE("only the experts that a token takes are counted", "[flops]") {
  // Mixtral: 2 of 8 experts of 3 x 4096 x 14336 in each of 32 layers.
  const ForwardFlops forward = forward_flops(known("mixtral-8x7b"), 1024, AttentionSpan::causal);
  const double experts = 32.0 * 2 * 3 * 4096 * 14336;
  const double attention = 32.0 * (2.0 * 4096 * 4096 + 2.0 * 1024 * 4096);
  const double router = 32.0 * 8 * 4096;
  CHECK_THAT(forward.layers, WithinRel(2.0 * (experts + attention + router), 1e-12));
}

TEST_CASE("recomputation repeats attention or the layers, never the logits", "[flops]") {
  const ForwardFlops forward{100.0, 10.0, 1.0};
  CHECK(recomputed_flops(forward, Recomputation::none) == 0.0);
  CHECK(recomputed_flops(forward, Recomputation::selective) == 10.0);
  CHECK(recomputed_flops(forward, Recomputation::full) == 110.0);
  CHECK(training_flops(forward) == 333.0);
}

TEST_CASE("full attention costs Llama 3.1 8B an eighth more than causal at 8192 tokens",
          "[flops]") {
  // Weights in products W = 8.0303e9 - 128256 4096 - norms = 7.5046e9; attention
  // A = 4 32 4096 8192 = 4.295e9: (2 W + A) / (2 W + A / 2) = 19.304 / 17.157.
  const double full =
      training_flops(forward_flops(known("llama-3.1-8b"), 8192, AttentionSpan::full));
  const double causal =
      training_flops(forward_flops(known("llama-3.1-8b"), 8192, AttentionSpan::causal));
  CHECK_THAT(full / causal, WithinAbs(1.1252, 1e-4));
}
