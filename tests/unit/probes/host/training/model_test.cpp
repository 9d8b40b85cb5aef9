// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/model.h"

#include "probes/training/shape.h"
#include "tests/catch.h"
#include "tests/unit/probes/training/plain_blas.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace scaleworth::probes::host;

TEST_CASE("the vector exponential is within 3e-7 of the library's", "[training]") {
  double worst = 0.0;
  for (int i = -86000; i < 88000; ++i) {
    const float x = static_cast<float>(i) * 1e-3F;
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(exponential(x)) / exact - 1.0));
  }
  REQUIRE(worst < 3e-7);
  REQUIRE(exponential(0.0F) == 1.0F);
}

TEST_CASE("the exponential is clamped, and not-a-number stays so", "[training]") {
  REQUIRE(std::isfinite(exponential(1e30F)));
  REQUIRE(exponential(-1e30F) < 1e-37F);
  REQUIRE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("GELU in its tanh form and its slope", "[training]") {
  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) at 1: 0.841192; slope by central difference
  const std::vector<float> x{1.0F, -2.0F, 0.0F};
  std::vector<float> y(3);
  gelu_forward(3, x.data(), y.data());
  const auto exact = [](double v) {
    return 0.5 * v * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  REQUIRE_THAT(y[0], WithinAbs(0.841192F, 1e-6F));
  REQUIRE_THAT(y[1], WithinAbs(exact(-2.0), 1e-6));
  REQUIRE(y[2] == 0.0F);
  std::vector<float> slope{1.0F, 1.0F, 1.0F};
  gelu_backward(3, x.data(), slope.data(), slope.data());
  for (std::size_t i = 0; i < 3; ++i) {
    const double h = 1e-5;
    REQUIRE_THAT(slope[i], WithinAbs((exact(x[i] + h) - exact(x[i] - h)) / (2.0 * h), 1e-5));
  }
}

TEST_CASE("cross-entropy of two logits by hand", "[training]") {
  // softmax(ln 3, 0) = (3/4, 1/4); target 1: -ln(1/4) = 1.386294; gradient (3/4, 1/4 - 1), times 2
  std::vector<float> logits{std::log(3.0F), 0.0F};
  const std::int32_t target = 1;
  REQUIRE_THAT(cross_entropy(1, 2, &target, 2.0F, logits.data()), WithinAbs(2.0 * 1.386294, 1e-5));
  REQUIRE_THAT(logits[0], WithinAbs(1.5F, 1e-6F));
  REQUIRE_THAT(logits[1], WithinAbs(-1.5F, 1e-6F));
}

using namespace scaleworth;
using namespace scaleworth::probes;
using scaleworth::testing::PlainBlas;

namespace {
constexpr probes::TransformerShape tiny{
    .layers = 2, .width = 8, .heads = 2, .sequence = 5, .vocabulary = 11};

class TinyModel {
 public:
  TinyModel() : model_(blas_, tiny, 3, 15) {
    // Far larger weights than a fresh model has: every path then carries a gradient.
    for (std::size_t i = 0; i < model_.layout().total; ++i) {
      model_.parameters()[i] = 0.4F * random_normal(3, i) + 0.1F;
    }
    fill_batch(tiny, 7, 0, model_.tokens());
  }

  double loss() {
    for (const Stage& stage : model_.forward()) stage.run();
    return model_.loss();
  }
  std::vector<float> gradients() {
    loss();
    for (const Stage& stage : model_.backward()) stage.run();
    return {model_.gradients().begin(), model_.gradients().end()};
  }
  /// (loss(theta + h d) - loss(theta - h d)) / 2h for a direction d that is zero outside `weight`.
  double slope(const Weight& weight, const std::vector<double>& direction) {
    const std::vector<float> start(model_.parameters().begin(), model_.parameters().end());
    const auto at = [&](double h) {
      for (std::size_t i = 0; i < weight.size; ++i) {
        model_.parameters()[weight.offset + i] =
            static_cast<float>(start[weight.offset + i] + h * direction[i]);
      }
      const double value = loss();
      std::copy(start.begin(), start.end(), model_.parameters().begin());
      return value;
    };
    constexpr double h = 4e-3;
    // Richardson's combination of two central differences: error O(h^4).
    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
  }
  const ParameterLayout& layout() const { return model_.layout(); }

 private:
  PlainBlas blas_;
  Transformer model_;
};

std::vector<double> random_direction(std::size_t size, std::uint64_t seed) {
  std::vector<double> direction(size);
  double square = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    direction[i] = random_normal(seed, i);
    square += direction[i] * direction[i];
  }
  for (double& one : direction) one /= std::sqrt(square);
  return direction;
}
}  // namespace

// Tolerance: the loss carries about 1e-6 of fp32 rounding, divided by 12 h / (8 + 8 + 1 + 1) that
// is 4e-4 at worst; directions are unit vectors and slopes about 0.01 to 1.
TEST_CASE("the gradient of every weight agrees with finite differences in random directions",
          "[training]") {
  TinyModel model;
  const std::vector<float> gradients = model.gradients();
  for (const auto& [name, weight, initial] : model.layout().entries) {
    for (std::uint64_t seed = 10; seed < 14; ++seed) {
      const std::vector<double> direction = random_direction(weight.size, seed);
      double expected = 0.0;
      for (std::size_t i = 0; i < weight.size; ++i) {
        expected += direction[i] * static_cast<double>(gradients[weight.offset + i]);
      }
      INFO(name);
      REQUIRE_THAT(model.slope(weight, direction),
                   WithinAbs(expected, 5e-4 + 0.005 * std::abs(expected)));
    }
  }
}

TEST_CASE("moving a weight along its gradient changes the loss by the gradient's norm",
          "[training]") {
  TinyModel model;
  const std::vector<float> gradients = model.gradients();
  for (const auto& [name, weight, initial] : model.layout().entries) {
    std::vector<double> direction(gradients.begin() + static_cast<std::ptrdiff_t>(weight.offset),
                                  gradients.begin() + static_cast<std::ptrdiff_t>(weight.end()));
    double square = 0.0;
    for (const double g : direction) square += g * g;
    const double norm = std::sqrt(square);
    for (double& g : direction) g /= norm;
    INFO(name);
    REQUIRE(norm > 1e-3);
    REQUIRE_THAT(model.slope(weight, direction), WithinAbs(norm, 5e-4 + 0.005 * norm));
  }
}

TEST_CASE("gradients are final where a stage says so", "[training]") {
  PlainBlas blas;
  Transformer model(blas, tiny, 2, 10);
  initialise(model.layout(), 1, model.parameters());
  fill_batch(tiny, 1, 0, model.tokens());
  for (const Stage& stage : model.forward()) stage.run();
  std::vector<float> seen;
  for (const Stage& stage : model.backward()) {
    stage.run();
    seen.insert(seen.end(),
                model.gradients().begin() + static_cast<std::ptrdiff_t>(seen.size()),
                model.gradients().begin() + static_cast<std::ptrdiff_t>(stage.ready));
  }
  REQUIRE(seen.size() == model.layout().total);
  REQUIRE(std::equal(seen.begin(), seen.end(), model.gradients().begin()));
}

using probes::model_flops;
using probes::parameter_count;

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
