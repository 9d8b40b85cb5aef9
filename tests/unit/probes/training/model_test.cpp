// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/model.h"

#include "probes/host/training/optimizer.h"
#include "probes/training/data.h"
#include "probes/training/shape_counts.h"
#include "tests/catch.h"
#include "tests/unit/probes/training/plain_blas.h"

#include <cmath>
#include <limits>
#include <set>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;
using probes::model_flops;
using probes::parameter_count;
using scaleworth::testing::PlainBlas;

namespace {

constexpr probes::TransformerShape small{
    .layers = 1, .width = 16, .heads = 2, .sequence = 8, .vocabulary = 32};

/// A product counted instead of computed.
class CountingBlas : public PlainBlas {
 public:
  using PlainBlas::gemm;
  void gemm(const GemmArguments<float>& g) const override {
    flops += 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
    PlainBlas::gemm(g);
  }
  mutable double flops = 0.0;
};

void step(Transformer& model) {
  for (const Stage& stage : model.forward()) stage.run();
  for (const Stage& stage : model.backward()) stage.run();
}

}  // namespace

TEST_CASE("the parameter count of GPT-2 small with an untied, bias-free head", "[training]") {
  // GPT-2 small has 124,439,808 parameters with the head tied to the token embedding; untying adds
  // 50257 * 768 = 38,597,376.
  REQUIRE(parameter_count(
              {.layers = 12, .width = 768, .heads = 12, .sequence = 1024, .vocabulary = 50257}) ==
          163'037'184);
}

TEST_CASE("the counted parameters are those that the model holds", "[training]") {
  REQUIRE(ParameterLayout(small).total == static_cast<std::size_t>(parameter_count(small)));
}

TEST_CASE("model FLOPs by hand, and as Korthikanti's formula has them", "[training]") {
  // per token forward: 24 * 16^2 + 4 * 8 * 16 = 6656; head 2 * 16 * 32 = 1024; 7680 * 3 = 23040
  // 2 sequences of 8 tokens: 23040 * 16 = 368640
  REQUIRE(model_flops(small, 2).value() == 368640.0);
  const double b = 2, s = 8, l = 1, d = 16, v = 32;
  REQUIRE_THAT(72 * b * s * l * d * d * (1 + s / (6 * d) + v / (12 * l * d)),
               WithinRel(368640.0, 1e-12));
}

TEST_CASE("the products of one step carry exactly the counted FLOPs", "[training]") {
  CountingBlas blas;
  const probes::TransformerShape shape{
      .layers = 3, .width = 12, .heads = 3, .sequence = 7, .vocabulary = 19};
  Transformer model(blas, shape, 2, 14);
  step(model);
  REQUIRE(blas.flops == model_flops(shape, 2).value());
}

TEST_CASE("an untrained model knows nothing: its loss is ln(vocabulary)", "[training]") {
  PlainBlas blas;
  Transformer model(blas, small, 4, 32);
  initialise(model.layout(), 1, model.parameters());
  fill_batch(small, 1, 0, model.tokens());
  for (const Stage& stage : model.forward()) stage.run();
  // logits are about 0.02 * sqrt(16) = 0.08 wide, which shifts the mean loss by less than 0.05
  REQUIRE_THAT(model.loss(), WithinAbs(std::log(32.0), 0.05));
}

TEST_CASE("training lowers the loss", "[training]") {
  PlainBlas blas;
  Transformer model(blas, small, 8, 64);
  initialise(model.layout(), 1, model.parameters());
  Adam adam(model.layout().total);
  double first = 0.0;
  for (std::uint64_t i = 0; i < 150; ++i) {
    fill_batch(small, 1, 8 * i, model.tokens());
    step(model);
    if (i == 0) first = model.loss();
    adam.update(model.gradients(), model.parameters());
  }
  REQUIRE(model.loss() < 0.8 * first);
}

TEST_CASE("gradients of the halves of a batch add up to the gradient of the batch", "[training]") {
  PlainBlas blas;
  Transformer whole(blas, small, 4, 32);
  Transformer half(blas, small, 2, 32);
  initialise(whole.layout(), 1, whole.parameters());
  initialise(half.layout(), 1, half.parameters());
  fill_batch(small, 1, 40, whole.tokens());
  step(whole);
  std::vector<double> sum(half.layout().total);
  double loss = 0.0;
  for (const std::uint64_t first : {40, 42}) {
    fill_batch(small, 1, first, half.tokens());
    step(half);
    loss += half.loss();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += half.gradients()[i];
  }
  REQUIRE_THAT(loss, WithinRel(whole.loss(), 1e-6));
  double worst = 0.0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    worst = std::max(worst, std::abs(sum[i] - static_cast<double>(whole.gradients()[i])));
  }
  REQUIRE(worst < 1e-6);  // fp32 rounding of gradients below 0.1
}

TEST_CASE("one not-a-number among the weights reaches the loss", "[training]") {
  PlainBlas blas;
  Transformer model(blas, small, 2, 16);
  initialise(model.layout(), 1, model.parameters());
  model.parameters()[model.layout().layers[0].up.offset] = std::numeric_limits<float>::quiet_NaN();
  step(model);
  REQUIRE(std::isnan(model.loss()));
}

TEST_CASE("a sample is the same whoever draws it, and most successors are fixed", "[training]") {
  const std::size_t length = 9;
  std::vector<std::int32_t> all(200 * length);
  std::vector<std::int32_t> part(2 * length);
  fill_batch(small, 5, 100, all);
  fill_batch(small, 5, 103, part);
  REQUIRE(std::equal(part.begin(), part.end(), all.begin() + 3 * length));
  REQUIRE(*std::max_element(all.begin(), all.end()) < 32);
  REQUIRE(*std::min_element(all.begin(), all.end()) >= 0);
  int followed = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const bool inside = i % length + 1 < length;
    if (inside && all[i + 1] == (5 * all[i] + 3) % 32) ++followed;
  }
  // 1600 pairs, each with probability 7/8 + 1/8/32 = 0.879: 1406 +- 13
  REQUIRE(followed > 1350);
  REQUIRE(followed < 1460);
}

TEST_CASE("the first step of Adam moves each weight by the rate against its gradient",
          "[training]") {
  // m = 0.1 g, mhat = g; v = 0.001 g^2, vhat = g^2: the step is rate * sign(g)
  Adam adam(3);
  std::vector<float> weights{1.0F, 1.0F, 1.0F};
  adam.update(std::vector<float>{0.5F, -2.0F, 0.0F}, weights);
  REQUIRE_THAT(weights[0], WithinAbs(0.999F, 1e-6));
  REQUIRE_THAT(weights[1], WithinAbs(1.001F, 1e-6));
  REQUIRE(weights[2] == 1.0F);
}

TEST_CASE("buckets cover all gradients in order and close at their size", "[training]") {
  const ParameterLayout layout(small);
  const auto buckets = make_buckets(layout, Bytes(4096));
  std::size_t covered = 0;
  for (const Bucket& bucket : buckets) {
    REQUIRE(bucket.offset == covered);
    covered = bucket.end();
    REQUIRE((bucket.size * 4 >= 4096 || covered == layout.total));
  }
  REQUIRE(covered == layout.total);
  REQUIRE(make_buckets(layout, Bytes(1e9)).size() == 1);
  REQUIRE(make_buckets(layout, Bytes(0)).size() == layout.entries.size());
}
