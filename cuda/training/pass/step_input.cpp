// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/pass/step_input.h"

#include "probes/training/data.h"

#include <cmath>
#include <vector>

namespace scaleworth::gpu {
namespace {

constexpr double learning_rate = 1e-3;

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
    order[static_cast<std::size_t>(next[word(token)]++)] = static_cast<std::int32_t>(token);
  }
}

template <class T>
std::span<T> part(std::span<std::byte> block, std::size_t start, std::size_t end) {
  return {reinterpret_cast<T*>(block.data() + start), (end - start) / sizeof(T)};
}

}  // namespace

StepInputLayout::StepInputLayout(const probes::TransformerShape& shape, std::int64_t sequences) {
  const auto words = [](std::int64_t count) { return static_cast<std::size_t>(count) * 4; };
  starts = text + words(sequences * (shape.sequence + 1));
  order = starts + words(shape.vocabulary + 1);
  factors = order + words(sequences * shape.sequence);
  stop = factors + sizeof(AdamFactors);
  bytes = stop + sizeof(float);
}

AdamFactors adam_factors(int step) {
  const int count = step + 1;
  return {static_cast<float>(learning_rate / (1.0 - std::pow(0.9, count))),
          static_cast<float>(1.0 / (1.0 - std::pow(0.999, count)))};
}

void fill_step_input(const probes::TransformerShape& shape,
                     const StepInputLayout& layout,
                     const StepData& data,
                     std::span<std::byte> block) {
  const auto text = part<std::int32_t>(block, layout.text, layout.starts);
  probes::fill_batch(shape, data.seed, data.first_sample, text);
  sort_tokens(text,
              static_cast<std::size_t>(shape.sequence),
              part<std::int32_t>(block, layout.starts, layout.order),
              part<std::int32_t>(block, layout.order, layout.factors));
  part<AdamFactors>(block, layout.factors, layout.stop).front() = adam_factors(data.step);
  part<float>(block, layout.stop, layout.bytes).front() = data.stop ? 1.0F : 0.0F;
}

}  // namespace scaleworth::gpu
