// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/transformer.h"

#include "probes/host/training/model.h"
#include "probes/training/shape.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/cuda/training/emulated_block.h"
#include "tests/unit/cuda/training/plain_operations.h"
#include "tests/unit/probes/training/plain_blas.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

// The kernels' mathematics, thread after thread, against the host's layers and by hand.

using namespace scaleworth;
using gpu::Bfloat16;
using gpu::to_bfloat16;
using gpu::to_float;
using testing::PlainMemory;
using testing::PlainOperations;

namespace {
std::vector<float> floats(const Bfloat16* values, std::int64_t count) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(to_float(values[i]));
  return result;
}

Bfloat16* random_values(PlainMemory& memory, std::int64_t count, std::uint64_t seed) {
  auto* values = memory.make<Bfloat16>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = to_bfloat16(gpu::random_normal(seed, static_cast<std::uint64_t>(i)));
  }
  return values;
}
}  // namespace

TEST_CASE("bfloat16 rounds to nearest, ties to even, and keeps what it can hold",
          "[gpu training]") {
  REQUIRE(to_bfloat16(1.0F).bits == 0x3F80);
  REQUIRE(to_bfloat16(-2.5F).bits == 0xC020);
  // 1 + 2^-8 lies between 1 and 1 + 2^-7, a tie: even is 1. 1 + 3 x 2^-8 ties to 1 + 2^-6.
  REQUIRE(to_bfloat16(1.00390625F).bits == 0x3F80);
  REQUIRE(to_bfloat16(1.01171875F).bits == 0x3F82);
  REQUIRE(to_bfloat16(1.0048828125F).bits == 0x3F81);
  REQUIRE(std::isinf(to_float(to_bfloat16(3.4e38F))));
  REQUIRE(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("a pack is eight neighbours in order", "[gpu training]") {
  PlainMemory memory;
  auto* values = memory.make<Bfloat16>(16);
  gpu::store_pack(values + 8, {{1, 2, 3, 4, 5, 6, 7, 8}});
  for (int i = 0; i < 8; ++i) {
    REQUIRE(to_float(values[i]) == 0.0F);
    REQUIRE(to_float(values[8 + i]) == static_cast<float>(i + 1));
    REQUIRE(gpu::load_pack(values + 8).values[i] == static_cast<float>(i + 1));
  }
}

TEST_CASE("a block's sum counts each thread once", "[gpu training]") {
  for (const int threads : {32, 128, 512}) {
    const float sum = testing::sum_as_block(
        threads, [](gpu::Share s) { return static_cast<float>(s.thread + 1); });
    REQUIRE(sum == static_cast<float>(threads * (threads + 1) / 2));
  }
}

TEST_CASE("the packs of all threads cover a row once", "[gpu training]") {
  for (const std::int64_t width : {8, 48, 1024, 1032, 4096}) {
    std::vector<int> visits(static_cast<std::size_t>(width));
    testing::as_block(128, [&](gpu::Share share) {
      gpu::for_each_pack(share, width, [&](std::int64_t i) {
        for (std::int64_t j = 0; j < 8; ++j) ++visits[static_cast<std::size_t>(i + j)];
      });
    });
    REQUIRE(visits == std::vector<int>(static_cast<std::size_t>(width), 1));
  }
}

TEST_CASE("the chunks of column sums cover all rows once", "[gpu training]") {
  for (const std::int64_t rows : {1, 63, 64, 1000}) {
    std::int64_t next = 0;
    for (int chunk = 0; chunk < gpu::column_chunks; ++chunk) {
      const gpu::RowRange range = gpu::rows_of_chunk(rows, chunk);
      REQUIRE(range.begin == next);
      REQUIRE(range.end >= range.begin);
      next = range.end;
    }
    REQUIRE(next == rows);
  }
}

TEST_CASE("GELU and its derivative are the host's", "[gpu training]") {
  for (float x = -6.0F; x <= 6.0F; x += 0.37F) {
    float expected = 0.0F;
    probes::host::gelu_forward(1, &x, &expected);
    REQUIRE_THAT(gpu::gelu(x), WithinAbs(expected, 2e-6));
    const float one = 1.0F;
    probes::host::gelu_backward(1, &x, &one, &expected);
    REQUIRE_THAT(gpu::gelu_derivative(x), WithinAbs(expected, 4e-6));
  }
}

TEST_CASE("softmax of rows longer than a block's packs is the host's", "[gpu training]") {
  PlainMemory memory;
  PlainOperations operations;
  const std::int64_t width = 1064;
  Bfloat16* values = random_values(memory, 2 * width, 5);
  std::vector<float> expected = floats(values, 2 * width);
  probes::host::softmax_rows(2, static_cast<std::size_t>(width), expected.data());
  operations.softmax({2, width, values});
  for (std::int64_t i = 0; i < 2 * width; ++i) {
    // half a unit in the last of 8 bits
    REQUIRE_THAT(to_float(values[i]), WithinRel(expected[static_cast<std::size_t>(i)], 0.004F));
  }
}

TEST_CASE("a NaN among scores or logits is not lost", "[gpu training]") {
  PlainMemory memory;
  PlainOperations operations;
  Bfloat16* values = random_values(memory, 16, 5);
  values[3] = to_bfloat16(std::numeric_limits<float>::quiet_NaN());
  operations.softmax({1, 16, values});
  REQUIRE(std::isnan(to_float(values[9])));
}

TEST_CASE("cross-entropy and its gradient are the host's", "[gpu training]") {
  PlainMemory memory;
  PlainOperations operations;
  const std::int64_t vocabulary = 4104;
  const std::vector<std::int32_t> text{0, 17, 4103, 9, 0, 5};  // two sequences of two
  const std::vector<std::int32_t> targets{17, 4103, 0, 5};
  Bfloat16* logits = random_values(memory, 4 * vocabulary, 6);
  std::vector<float> expected = floats(logits, 4 * vocabulary);
  const double loss =
      probes::host::cross_entropy(4, vocabulary, targets.data(), 0.25F, expected.data());
  auto* losses = memory.make<float>(4);
  auto* result = memory.make<float>(2);
  const float stop = 0.0F;
  operations.cross_entropy({4, vocabulary, 2, text.data(), logits, losses, 0.25F});
  operations.sum_losses({4, losses, 0.25F, &stop, result});
  REQUIRE_THAT(result[0], WithinRel(static_cast<float>(loss), 1e-5F));
  for (std::int64_t i = 0; i < 4 * vocabulary; ++i) {
    REQUIRE_THAT(to_float(logits[i]), WithinRel(expected[static_cast<std::size_t>(i)], 0.004F));
  }
}

TEST_CASE("heads are split by hand and merged back", "[gpu training]") {
  PlainMemory memory;
  PlainOperations operations;
  // 2 parts, 2 sequences of 3 positions, 2 heads of 8 columns
  auto* rows = memory.make<Bfloat16>(192);
  auto* matrices = memory.make<Bfloat16>(192);
  for (std::int64_t i = 0; i < 192; ++i) rows[i] = {static_cast<std::uint16_t>(i)};
  operations.split_heads({2, 2, 3, 2, 8, rows, matrices});
  // part 1, sequence 1, head 0, position 2, column 5:
  //   rows ((1 x 3 + 2) x 2 + 1) x 16 + 0 + 5 = 181, matrices (((1 x 2 + 1) x 2 + 0) x 3 + 2) x 8 +
  //   5 = 165
  REQUIRE(matrices[165].bits == 181);
  auto* back = memory.make<Bfloat16>(192);
  operations.merge_heads({2, 2, 3, 2, 8, back, matrices});
  for (std::int64_t i = 0; i < 192; ++i) REQUIRE(back[i].bits == rows[i].bits);
}

TEST_CASE("a product with addend, bias and scale, by hand", "[gpu training]") {
  PlainMemory memory;
  PlainOperations operations;
  const auto fill = [&](std::vector<float> values) {
    auto* data = memory.make<Bfloat16>(static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) data[i] = to_bfloat16(values[i]);
    return data;
  };
  gpu::GemmCall call;
  call.m = 2;
  call.n = 3;
  call.k = 2;
  call.a = {fill({1, 3, 2, 4}), 2, true};          // [[1, 2], [3, 4]], stored transposed
  call.b = {fill({1, 0, 2, -9, 0, 1, 1, -9}), 4};  // [[1, 0, 2], [0, 1, 1]] in rows of 4
  call.result = {fill({0, 0, 0, 0, 0, 0}), 3};
  call.addend = fill({10, 20, 30, 40, 50, 60});
  call.bias = fill({100, 200, 300});
  call.alpha = 2.0F;
  operations.multiply(call);
  // a b = [[1, 2, 4], [3, 4, 10]]; results below 256 are exact in 8 bits when even
  REQUIRE(floats(call.result.data, 6) == std::vector<float>{112, 224, 338, 146, 258, 380});
}

TEST_CASE("the plan of a product knows how its addresses are aligned", "[gpu training]") {
  PlainMemory memory;
  auto* data = memory.make<Bfloat16>(1024);
  gpu::GemmCall call;
  call.m = call.n = call.k = 8;
  call.a = {data, 8};
  call.b = {data + 128, 8};
  call.result = {data + 256, 8};
  REQUIRE(gpu::GemmPlanKey(call).alignment == 256);
  call.b.data = data + 128 + 24;  // 48 bytes further
  REQUIRE(gpu::GemmPlanKey(call).alignment == 16);
  call.b.data = data + 128;
  call.a.batch_stride = 64;  // the second product starts 128 bytes further
  REQUIRE(gpu::GemmPlanKey(call).alignment == 128);
}

TEST_CASE("tokens are sorted by what they are", "[gpu training]") {
  const probes::TransformerShape shape{
      .layers = 1, .width = 8, .heads = 1, .sequence = 16, .vocabulary = 24};
  const gpu::StepInputLayout layout(shape, 3);
  std::vector<std::int32_t> block(layout.bytes / 4);
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(block.data()), layout.bytes);
  gpu::fill_step_input(shape, layout, {.seed = 2, .first_sample = 5, .step = 0}, bytes);
  const std::int32_t* text = block.data() + layout.text / 4;
  const std::int32_t* starts = block.data() + layout.starts / 4;
  const std::int32_t* order = block.data() + layout.order / 4;
  std::vector<std::int32_t> expected_text(3 * 17);
  probes::fill_batch(shape, 2, 5, expected_text);
  REQUIRE(std::equal(expected_text.begin(), expected_text.end(), text));
  REQUIRE(starts[0] == 0);
  REQUIRE(starts[24] == 48);
  std::vector<int> seen(48);
  for (std::int32_t word = 0; word < 24; ++word) {
    for (std::int32_t i = starts[word]; i < starts[word + 1]; ++i) {
      REQUIRE(text[gpu::place_in_text(order[i], 16)] == word);
      ++seen[static_cast<std::size_t>(order[i])];
    }
  }
  REQUIRE(seen == std::vector<int>(48, 1));
}

// The whole step for GPUs, computed by plain C++, against the host's model in fp32.
using testing::PlainBlas;

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
