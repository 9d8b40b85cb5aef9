// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/model.h"
#include "probes/training/data.h"
#include "probes/training/random.h"
#include "tests/catch.h"
#include "tests/unit/probes/training/plain_blas.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;
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
