// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/pass/buffers.h"

#include "cuda/kernels/training/share.h"
#include "probes/training/shape_counts.h"

#include <algorithm>

namespace scaleworth::gpu {
namespace {

LayerBuffers make_layer(const probes::TransformerShape& shape,
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

}  // namespace

TrainingBuffers::TrainingBuffers(const probes::TransformerShape& shape,
                                 std::int64_t sequences,
                                 TrainingMemory& memory)
    : input_layout(shape, sequences) {
  const std::int64_t tokens = sequences * shape.sequence;
  const std::int64_t d = shape.width;
  const std::int64_t parameters = probes::parameter_count(shape);
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

Bytes training_bytes(const probes::TransformerShape& shape, std::int64_t sequences) {
  CountingMemory memory;
  const TrainingBuffers buffers(shape, sequences, memory);
  return Bytes(static_cast<double>(memory.bytes()));
}

}  // namespace scaleworth::gpu
