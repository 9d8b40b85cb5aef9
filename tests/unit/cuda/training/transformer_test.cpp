// SPDX-License-Identifier: Apache-2.0
// The whole step for GPUs, computed by plain C++, against the host's model in fp32.
#include "cuda/training/pass/transformer.h"

#include "probes/host/training/model.h"
#include "probes/host/training/optimizer.h"
#include "probes/training/data.h"
#include "probes/training/shape_counts.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/cuda/training/plain_operations.h"
#include "tests/unit/probes/training/plain_blas.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

using namespace scaleworth;
using gpu::Bfloat16;
using gpu::to_float;
using testing::PlainBlas;
using testing::PlainMemory;
using testing::PlainOperations;

namespace {

// Every size differs from the others, so that none can stand for another unnoticed.
constexpr probes::TransformerShape shape{
    .layers = 2, .width = 48, .heads = 3, .sequence = 24, .vocabulary = 40};
constexpr std::int64_t sequences = 2;
constexpr std::int64_t global_tokens = 3 * 24;  // a third sequence is another rank's

/// Both models with the same weights, which bf16 can hold, and the same data.
class Pair {
 public:
  explicit Pair(std::uint64_t seed = 3)
      : host(blas, shape, sequences, global_tokens),
        device(shape, sequences, global_tokens, memory) {
    device.initialise(operations, seed);
    const auto& buffers = device.buffers();
    for (std::size_t i = 0; i < device.layout().total; ++i) {
      // Larger weights than a fresh model's, so that every path carries a gradient.
      const float value = to_float(gpu::to_bfloat16(4.0F * buffers.master[i]));
      buffers.master[i] = value;
      buffers.weights[i] = gpu::to_bfloat16(value);
      host.parameters()[i] = value;
    }
    data(0);
  }

  void data(int step) {
    const auto& buffers = device.buffers();
    gpu::fill_step_input(shape,
                         buffers.input_layout,
                         {.seed = 7, .first_sample = 10, .step = step},
                         {buffers.input, buffers.input_layout.bytes});
    probes::fill_batch(shape, 7, 10, host.tokens());
  }

  void run() {
    for (const auto* stages : {&host.forward(), &host.backward()}) {
      for (const auto& stage : *stages) stage.run();
    }
    for (const auto* stages : {&device.forward(), &device.backward()}) {
      for (const auto& stage : *stages) stage.run(operations);
    }
  }

  double device_loss() const { return device.buffers().loss[0]; }

  /// |device - host| / |host| over the elements of a weight's gradient.
  double gradient_error(probes::Weight weight) {
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t i = weight.offset; i < weight.end(); ++i) {
      const double expected = host.gradients()[i];
      const double found = to_float(device.buffers().gradients[i]);
      difference += (found - expected) * (found - expected);
      norm += expected * expected;
    }
    return std::sqrt(difference / norm);
  }

  PlainBlas blas;
  probes::host::Transformer host;
  PlainMemory memory;
  PlainOperations operations;
  gpu::DeviceTransformer device;
};

}  // namespace

TEST_CASE("the step for GPUs has the host's loss within bf16", "[gpu training]") {
  Pair pair;
  pair.run();
  // Logits are rounded to 8 bits: 0.4 % of about 1 each, averaged over 48 tokens.
  REQUIRE_THAT(pair.device_loss(), WithinAbs(pair.host.loss(), 5e-3));
}

TEST_CASE("every weight's gradient is the host's within bf16", "[gpu training]") {
  Pair pair;
  pair.run();
  for (const auto& entry : pair.device.layout().entries) {
    INFO(entry.name);
    // Dozens of roundings of 0.4 % along the path, 5 % at worst; a wrong operand or index gives an
    // error near 1. The key's bias moves all scores of a row alike: its true gradient is zero,
    // which is noise here, a third of the QKV bias.
    REQUIRE(pair.gradient_error(entry.weight) < 0.1);
  }
}

TEST_CASE("products of the step carry exactly the model's FLOPs", "[gpu training]") {
  Pair pair;
  pair.run();
  REQUIRE(pair.operations.flops == probes::model_flops(shape, sequences).value());
}

TEST_CASE("starting weights are the host's, bit by bit", "[gpu training]") {
  PlainMemory memory;
  PlainOperations operations;
  const gpu::DeviceTransformer device(shape, 1, 24, memory);
  device.initialise(operations, 11);
  std::vector<float> expected(device.layout().total);
  probes::initialise(device.layout(), 11, expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(device.buffers().master[i] == expected[i]);
    REQUIRE(device.buffers().weights[i].bits == gpu::to_bfloat16(expected[i]).bits);
  }
}

TEST_CASE("training for some steps follows the host's losses", "[gpu training]") {
  Pair pair;
  probes::host::Adam adam(pair.device.layout().total);
  for (int step = 0; step < 5; ++step) {
    pair.data(step);
    pair.run();
    // As above, and weights that drift apart by roundings.
    REQUIRE_THAT(pair.device_loss(), WithinAbs(pair.host.loss(), 0.02));
    adam.update(pair.host.gradients(), pair.host.parameters());
    pair.device.update(pair.operations);
  }
  Pair fresh;
  fresh.run();
  REQUIRE(pair.device_loss() < fresh.device_loss() - 0.05);
}

TEST_CASE("gradients become ready in the order of memory, all of them", "[gpu training]") {
  Pair pair;
  std::size_t ready = 0;
  for (const auto& stage : pair.device.backward()) {
    REQUIRE(stage.ready >= ready);
    ready = stage.ready;
  }
  REQUIRE(ready == pair.device.layout().total);
  for (std::size_t i = 0; i < pair.host.backward().size(); ++i) {
    REQUIRE(pair.device.backward()[i].name == pair.host.backward()[i].name);
    REQUIRE(pair.device.backward()[i].ready == pair.host.backward()[i].ready);
  }
}

TEST_CASE("a stage changes no gradient that was ready before it", "[gpu training]") {
  Pair pair;
  for (const auto& stage : pair.device.forward()) stage.run(pair.operations);
  std::vector<std::uint16_t> kept;
  for (const auto& stage : pair.device.backward()) {
    stage.run(pair.operations);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      REQUIRE(pair.device.buffers().gradients[i].bits == kept[i]);
    }
    kept.clear();
    for (std::size_t i = 0; i < stage.ready; ++i) {
      kept.push_back(pair.device.buffers().gradients[i].bits);
    }
  }
}

TEST_CASE("the wish to stop travels beside the loss", "[gpu training]") {
  Pair pair;
  const auto& buffers = pair.device.buffers();
  gpu::fill_step_input(shape,
                       buffers.input_layout,
                       {.seed = 1, .first_sample = 0, .step = 0, .stop = true},
                       {buffers.input, buffers.input_layout.bytes});
  for (const auto& stage : pair.device.forward()) stage.run(pair.operations);
  REQUIRE(buffers.loss[1] == 1.0F);
}

TEST_CASE("a shape that threads cannot read in packs is refused by name", "[gpu training]") {
  PlainMemory memory;
  REQUIRE_THROWS_AS(gpu::DeviceTransformer({.layers = 1, .width = 48, .heads = 4}, 1, 64, memory),
                    UserError);
}

TEST_CASE("the memory of a training is the sum of its buffers", "[gpu training]") {
  // 5 arrays of parameters: three of 4 bytes, two of 2
  const double parameters = 16.0 * static_cast<double>(probes::parameter_count(shape));
  const double empty = gpu::training_bytes(shape, 0).value();
  REQUIRE(empty > parameters);
  // Rest: column sums of 64 x 192 x 4 bytes, the input block, and the rounding to 256 bytes.
  REQUIRE(empty < parameters + 64.0 * 192.0 * 4.0 + 20000.0);
  REQUIRE(gpu::training_bytes(shape, 8).value() > gpu::training_bytes(shape, 4).value());
}

TEST_CASE("the count of memory that plans are made from is that of the buffers", "[gpu training]") {
  const probes::TransformerShape large{
      .layers = 8, .width = 2048, .heads = 16, .sequence = 1024, .vocabulary = 32768};
  for (const std::int64_t count : {1, 4, 7}) {
    const double planned = probes::device_training_memory(large, count).value();
    // 64 MiB stand for column sums and workspace, whatever the shape
    REQUIRE_THAT(gpu::training_bytes(large, count).value() + 64.0 * 1024.0 * 1024.0,
                 WithinRel(planned, 0.01));
  }
}
