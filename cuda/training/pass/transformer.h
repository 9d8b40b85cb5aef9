// SPDX-License-Identifier: Apache-2.0
/// The reference transformer for GPUs: forward, backward and update as lists of named stages, said
/// in TrainingOperations. What the host's model computes in fp32, in bf16.
#pragma once

#include "cuda/training/pass/buffers.h"
#include "cuda/training/pass/operations.h"
#include "probes/ranks.h"
#include "probes/training/parameters.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// A piece of the step. After it, the first `ready` elements of the gradients are final (0 in the
/// forward pass).
struct TrainingStage {
  std::string name;
  std::function<void(TrainingOperations&)> run;
  std::size_t ready = 0;
};

/// Throws UserError naming the value unless width, head width, sequence and vocabulary are
/// multiples of 8: what a thread reads at once.
void check_device_shape(const probes::TransformerShape& shape);

/// Decoder-only, pre-norm, full attention, GELU MLP of 4 x width, untied head, learned positions.
/// bf16 weights, gradients and activations; fp32 sums, statistics, loss, optimizer and its weights.
class DeviceTransformer {
 public:
  /// `sequences` of this rank; the loss is the mean over `global_tokens`, so that sums over ranks
  /// are means over the global batch. `memory` outlives this. Throws what check_device_shape
  /// throws.
  DeviceTransformer(const probes::TransformerShape& shape,
                    std::int64_t sequences,
                    std::int64_t global_tokens,
                    TrainingMemory& memory);
  DeviceTransformer(const DeviceTransformer&) = delete;
  DeviceTransformer& operator=(const DeviceTransformer&) = delete;

  const probes::ParameterLayout& layout() const { return layout_; }
  const TrainingBuffers& buffers() const { return buffers_; }

  /// The same starting weights as the host's.
  void initialise(TrainingOperations& operations, std::uint64_t seed) const;
  /// Once the step's input lies in buffers().input: run all of forward in order, then all of
  /// backward, then the update.
  const std::vector<TrainingStage>& forward() const { return forward_; }
  const std::vector<TrainingStage>& backward() const { return backward_; }
  void update(TrainingOperations& operations) const;

 private:
  struct Dense {
    probes::Weight weight;
    probes::Weight bias;  // size 0: none
    std::int64_t in = 0;
    std::int64_t out = 0;
  };

  void list_stages();
  Dense qkv(std::size_t layer) const;
  Dense output(std::size_t layer) const;
  Dense up(std::size_t layer) const;
  Dense down(std::size_t layer) const;
  Dense head() const;
  Heads heads(std::int64_t parts, Bfloat16* rows, Bfloat16* matrices) const;
  GemmCall per_head(std::int64_t n, std::int64_t k, Operand a, Operand b, Bfloat16* result) const;
  Bfloat16* output_of(std::size_t layer) const;
  template <class T>
  const T* input_at(std::size_t offset) const {
    return reinterpret_cast<const T*>(buffers_.input + offset);
  }

  void dense_forward(TrainingOperations& operations,
                     const Dense& dense,
                     const Bfloat16* x,
                     const Bfloat16* residual,
                     Bfloat16* y) const;
  void dense_backward(TrainingOperations& operations,
                      const Dense& dense,
                      const Bfloat16* x,
                      const Bfloat16* dy,
                      Bfloat16* dx) const;
  /// A norm by its gain (the bias follows it in memory), input and statistics.
  struct Norm {
    probes::Weight gain;
    const Bfloat16* x = nullptr;
    float* mean = nullptr;
    float* inverse = nullptr;
  };
  Norm norm1(std::size_t layer) const;
  Norm norm2(std::size_t layer) const;
  Norm final_norm() const;
  void norm_forward(TrainingOperations& operations, const Norm& norm, Bfloat16* y) const;
  void norm_backward(TrainingOperations& operations, const Norm& norm, bool add) const;

  void embed(TrainingOperations& operations) const;
  void attend(TrainingOperations& operations, std::size_t layer) const;
  void mix_heads(TrainingOperations& operations, std::size_t layer) const;
  void expand(TrainingOperations& operations, std::size_t layer) const;
  void predict(TrainingOperations& operations) const;
  void backward_head(TrainingOperations& operations) const;
  void backward_down(TrainingOperations& operations, std::size_t layer) const;
  void backward_up(TrainingOperations& operations, std::size_t layer) const;
  void backward_output(TrainingOperations& operations, std::size_t layer) const;
  void backward_attention(TrainingOperations& operations, std::size_t layer) const;
  void backward_qkv(TrainingOperations& operations, std::size_t layer) const;
  void backward_embedding(TrainingOperations& operations) const;

  probes::TransformerShape shape_;
  std::int64_t sequences_;
  std::int64_t tokens_;  // of this rank
  float loss_scale_;
  probes::ParameterLayout layout_;
  TrainingBuffers buffers_;
  std::vector<TrainingStage> forward_;
  std::vector<TrainingStage> backward_;
};

}  // namespace scaleworth::gpu
