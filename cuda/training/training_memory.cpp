// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/share.h"
#include "cuda/runtime/error.h"
#include "cuda/training/transformer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace scaleworth::gpu {
namespace {
LayerBuffers make_layer(const TransformerShape& shape,
                        std::int64_t tokens,
                        TrainingMemory& memory) {
  LayerBuffers layer;
  const std::int64_t d = shape.width;
  for (auto* one : {&layer.input, &layer.normed1, &layer.context, &layer.middle, &layer.normed2}) {
    *one = memory.make<Bfloat16>(tokens * d);
  }
  layer.qkv = memory.make<Bfloat16>(tokens * 3 * d);
  for (auto* wide : {&layer.up, &layer.gelu}) *wide = memory.make<Bfloat16>(tokens * 4 * d);
  layer.probabilities = memory.make<Bfloat16>(tokens * shape.heads * shape.sequence);
  for (auto* one : {&layer.mean1, &layer.inverse1, &layer.mean2, &layer.inverse2}) {
    *one = memory.make<float>(tokens);
  }
  return layer;
}

/// Of the step numbered from 0: the rate and the corrections of Adam, as on the host.
AdamFactors adam_factors(int step) {
  const int count = step + 1;
  return {static_cast<float>(adam_rate / (1.0 - std::pow(adam_beta1, count))),
          static_cast<float>(1.0 / (1.0 - std::pow(adam_beta2, count)))};
}

// Counting sort of the tokens by what they are; equal ones keep their order.
void sort_tokens(std::span<const std::int32_t> text,
                 std::size_t sequence,
                 std::span<std::int32_t> starts,
                 std::span<std::int32_t> order) {
  std::fill(starts.begin(), starts.end(), 0);
  const auto word = [&](std::size_t token) {
    return static_cast<std::size_t>(text[token / sequence * (sequence + 1) + token % sequence]);
  };
  for (std::size_t token = 0; token < order.size(); ++token) ++starts[word(token) + 1];
  for (std::size_t row = 1; row < starts.size(); ++row) starts[row] += starts[row - 1];
  std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
  for (std::size_t token = 0; token < order.size(); ++token) {
    order[next[word(token)]++] = static_cast<std::int32_t>(token);
  }
}

template <class T>
std::span<T> part(std::span<std::byte> block, std::size_t start, std::size_t end) {
  return {reinterpret_cast<T*>(block.data() + start), (end - start) / sizeof(T)};
}
}  // namespace

TrainingBuffers::TrainingBuffers(const TransformerShape& shape,
                                 std::int64_t sequences,
                                 TrainingMemory& memory)
    : input_layout(shape, sequences) {
  const std::int64_t tokens = sequences * shape.sequence;
  const std::int64_t d = shape.width;
  const std::int64_t parameters = parameter_count(shape);
  input = memory.make<std::byte>(static_cast<std::int64_t>(input_layout.bytes));
  for (auto* one : {&master, &first, &second}) *one = memory.make<float>(parameters);
  for (auto* one : {&weights, &gradients}) *one = memory.make<Bfloat16>(parameters);
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    layers.push_back(make_layer(shape, tokens, memory));
  }
  for (auto* one : {&stream, &normed, &dstream, &dnormed, &context_matrices}) {
    *one = memory.make<Bfloat16>(tokens * d);
  }
  logits = memory.make<Bfloat16>(tokens * shape.vocabulary);
  for (auto* one : {&mean, &inverse, &losses}) *one = memory.make<float>(tokens);
  loss = memory.make<float>(2);
  dwide = memory.make<Bfloat16>(tokens * 4 * d);
  for (auto* one : {&packed, &dqkv}) *one = memory.make<Bfloat16>(tokens * 3 * d);
  dscores = memory.make<Bfloat16>(tokens * shape.heads * shape.sequence);
  partial = memory.make<float>(column_chunks * 4 * d);
}

Bytes training_bytes(const TransformerShape& shape, std::int64_t sequences) {
  CountingMemory memory;
  const TrainingBuffers buffers(shape, sequences, memory);
  return Bytes(static_cast<double>(memory.bytes()));
}

StepInputLayout::StepInputLayout(const TransformerShape& shape, std::int64_t sequences) {
  const auto words = [](std::int64_t count) { return static_cast<std::size_t>(count) * 4; };
  starts = text + words(sequences * (shape.sequence + 1));
  order = starts + words(shape.vocabulary + 1);
  factors = order + words(sequences * shape.sequence);
  stop = factors + sizeof(AdamFactors);
  bytes = stop + sizeof(float);
}

void fill_step_input(const TransformerShape& shape,
                     const StepInputLayout& layout,
                     const StepData& data,
                     std::span<std::byte> block) {
  const auto text = part<std::int32_t>(block, layout.text, layout.starts);
  fill_batch(shape, data.seed, data.first_sample, text);
  sort_tokens(text,
              static_cast<std::size_t>(shape.sequence),
              part<std::int32_t>(block, layout.starts, layout.order),
              part<std::int32_t>(block, layout.order, layout.factors));
  part<AdamFactors>(block, layout.factors, layout.stop).front() = adam_factors(data.step);
  part<float>(block, layout.stop, layout.bytes).front() = data.stop ? 1.0F : 0.0F;
}

DeviceArena::DeviceArena(const DeviceHealth& health, std::size_t bytes, cudaStream_t stream)
    : memory_(allocate_device(health, bytes)), bytes_(bytes) {
  check(cudaMemsetAsync(memory_.get(), 0, bytes, stream));
}

void* DeviceArena::allocate(std::size_t bytes) {
  const std::size_t start = used_;
  used_ += aligned(bytes);
  if (used_ > bytes_) throw std::logic_error("the training needs more memory than was counted");
  return static_cast<std::byte*>(memory_.get()) + start;
}
}  // namespace scaleworth::gpu
