// SPDX-License-Identifier: Apache-2.0
/// The reference transformer for GPUs: forward, backward and update as lists of named stages, said
/// in TrainingOperations. What the host's model computes in fp32, in bf16.
#pragma once

#include "cuda/kernels/training/bfloat16.h"
#include "cuda/kernels/training/elementwise.h"
#include "cuda/kernels/training/embedding.h"
#include "cuda/kernels/training/normalization.h"
#include "cuda/runtime/memory.h"
#include "probes/ranks.h"
#include "probes/training/shape.h"
#include "src/core/non_copyable.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// A row-major matrix, `stride` elements from row to row; transposed: what is stored is its
/// transpose. `batch_stride`: from one product of the batch to the next.
struct Operand {
  const Bfloat16* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
  std::int64_t batch_stride = 0;
};

/// Row-major, of the result's shape; strides as in Operand.
struct Result {
  Bfloat16* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t batch_stride = 0;
};

/// result [m, n] = alpha a [m, k] b [k, n] + addend [m, n] + bias [n], sums in fp32, for each of
/// `batch` products. addend (laid out as the result) and bias may be null.
struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0;
  Operand a;
  Operand b;
  Result result;
  const Bfloat16* addend = nullptr;
  const Bfloat16* bias = nullptr;
  float alpha = 1.0F;
  std::int64_t batch = 1;
};

/// A stored column-major matrix of rows x columns; `transpose`: the product reads its transpose.
struct ColumnMajorMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t batch_stride = 0;
  bool transpose = false;
  friend bool operator==(const ColumnMajorMatrix&, const ColumnMajorMatrix&) = default;
};

/// The same product column-major, without addresses: what distinguishes products for the library.
/// d [m, n] = op(a) op(b) with addend and bias [m] along each column, the addend laid out as d. A
/// row-major matrix is the transpose of the column-major one at the same place, and (a b)^T =
/// b^T a^T, so the operands change places: a is the call's b.
struct GemmPlanKey {
  explicit GemmPlanKey(const GemmCall& call);
  std::int64_t m, n, k, batch;
  ColumnMajorMatrix a;
  ColumnMajorMatrix b;
  ColumnMajorMatrix d;
  bool addend;
  bool bias;
  int alignment;  // of all addresses, bytes; at most 256
  friend bool operator==(const GemmPlanKey&, const GemmPlanKey&) = default;
};

/// What computes the training step: a GPU, or plain C++ in tests. Each takes effect in the order of
/// the calls; memory is TrainingMemory's. Only the implementation reads or writes behind the
/// addresses.
class TrainingOperations {
 public:
  virtual ~TrainingOperations() = default;
  virtual void multiply(const GemmCall& call) = 0;
  virtual void layer_norm(const LayerNorm& layer) = 0;
  virtual void layer_norm_gradient(const LayerNormGradient& layer) = 0;
  virtual void gain_gradient(const GainGradient& layer) = 0;
  virtual void bias_gradient(const BiasGradient& layer) = 0;
  virtual void softmax(const Softmax& layer) = 0;
  virtual void softmax_gradient(const SoftmaxGradient& layer) = 0;
  virtual void gelu(const Gelu& layer) = 0;
  virtual void gelu_gradient(const GeluGradient& layer) = 0;
  virtual void embed(const Embedding& layer) = 0;
  virtual void embedding_gradient(const EmbeddingGradient& layer) = 0;
  virtual void split_heads(const Heads& layer) = 0;
  virtual void merge_heads(const Heads& layer) = 0;
  virtual void cross_entropy(const CrossEntropy& layer) = 0;
  virtual void sum_losses(const LossSum& sum) = 0;
  virtual void adam(const Adam& adam) = 0;
  virtual void initialise(const InitialWeights& initial) = 0;
};

/// Memory of the training step, taken once. Lives as long as what was allocated. `allocate` returns
/// zeros, aligned to 256 bytes.
class TrainingMemory {
 public:
  virtual ~TrainingMemory() = default;
  virtual void* allocate(std::size_t bytes) = 0;

  template <class T>
  T* make(std::int64_t count) {
    return static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)));
  }
};

/// Takes nothing and adds up what was asked for; addresses must not be followed.
class CountingMemory final : public TrainingMemory {
 public:
  void* allocate(std::size_t bytes) override {
    const std::size_t start = bytes_;
    bytes_ += aligned(bytes);
    return reinterpret_cast<void*>(device_alignment + start);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// Where the parts of the block start, in bytes.
struct StepInputLayout {
  StepInputLayout(const TransformerShape& shape, std::int64_t sequences);

  std::size_t text = 0;     // int32 [sequences, sequence + 1]
  std::size_t starts = 0;   // int32 [vocabulary + 1], see EmbeddingGradient
  std::size_t order = 0;    // int32 [sequences x sequence]
  std::size_t factors = 0;  // AdamFactors
  std::size_t stop = 0;     // float: above 0 asks all ranks to stop
  std::size_t bytes = 0;
};

struct StepData {
  std::uint64_t seed = 1;
  std::uint64_t first_sample = 0;  // of this rank, in this step
  int step = 0;                    // counted from 0, warm-up included
  bool stop = false;
};

/// Fills the block of `layout`. `block` is aligned to 4 bytes.
void fill_step_input(const TransformerShape& shape,
                     const StepInputLayout& layout,
                     const StepData& data,
                     std::span<std::byte> block);

/// What the backward pass of a layer needs again; [tokens, ...] unless noted.
struct LayerBuffers {
  Bfloat16 *input = nullptr, *normed1 = nullptr, *context = nullptr, *middle = nullptr;
  Bfloat16 *normed2 = nullptr, *up = nullptr, *gelu = nullptr;
  Bfloat16* qkv = nullptr;            // [3, sequences, heads, sequence, head width]
  Bfloat16* probabilities = nullptr;  // [sequences, heads, sequence, sequence]
  float *mean1 = nullptr, *inverse1 = nullptr, *mean2 = nullptr, *inverse2 = nullptr;
};

/// Parameters in the order of ParameterLayout.
struct TrainingBuffers {
  TrainingBuffers(const TransformerShape& shape, std::int64_t sequences, TrainingMemory& memory);

  StepInputLayout input_layout;
  std::byte* input = nullptr;
  float *master = nullptr, *first = nullptr, *second = nullptr;  // weights and Adam's moments
  Bfloat16 *weights = nullptr, *gradients = nullptr;
  std::vector<LayerBuffers> layers;
  Bfloat16 *stream = nullptr, *normed = nullptr, *logits = nullptr;  // after the last layer
  float *mean = nullptr, *inverse = nullptr;
  float* losses = nullptr;  // [tokens]
  float* loss = nullptr;    // loss of this rank, request to stop; then their sums over ranks
  // Used by one layer after another:
  Bfloat16 *dstream = nullptr, *dnormed = nullptr, *dwide = nullptr;
  Bfloat16* packed = nullptr;  // [tokens, 3 width]: queries, keys, values or their gradients
  Bfloat16* context_matrices = nullptr;  // [sequences, heads, sequence, head width]
  Bfloat16* dqkv = nullptr;              // like LayerBuffers::qkv
  Bfloat16* dscores = nullptr;           // like LayerBuffers::probabilities
  float* partial = nullptr;              // of column sums
};

/// What TrainingBuffers take.
Bytes training_bytes(const TransformerShape& shape, std::int64_t sequences);

/// A piece of the step. After it, the first `ready` elements of the gradients are final (0 in the
/// forward pass).
struct TrainingStage {
  std::string name;
  std::function<void(TrainingOperations&)> run;
  std::size_t ready = 0;
};

/// Throws UserError naming the value unless width, head width, sequence and vocabulary are
/// multiples of 8: what a thread reads at once.
void check_device_shape(const TransformerShape& shape);

/// Decoder-only, pre-norm, full attention, GELU MLP of 4 x width, untied head, learned positions.
/// bf16 weights, gradients and activations; fp32 sums, statistics, loss, optimizer and its weights.
class DeviceTransformer : NonCopyable {
 public:
  /// `sequences` of this rank; the loss is the mean over `global_tokens`, so that sums over ranks
  /// are means over the global batch. `memory` outlives this. Throws what check_device_shape
  /// throws.
  DeviceTransformer(const TransformerShape& shape,
                    std::int64_t sequences,
                    std::int64_t global_tokens,
                    TrainingMemory& memory);

  const ParameterLayout& layout() const { return layout_; }
  const TrainingBuffers& buffers() const { return buffers_; }

  /// The same starting weights as the host's.
  void initialise(TrainingOperations& operations, std::uint64_t seed) const;
  /// Once the step's input lies in buffers().input: run all of forward in order, then all of
  /// backward, then the update.
  const std::vector<TrainingStage>& forward() const { return forward_; }
  const std::vector<TrainingStage>& backward() const { return backward_; }
  void update(TrainingOperations& operations) const;

 private:
  class Pass;

  TransformerShape shape_;
  std::int64_t sequences_;
  std::int64_t tokens_;  // of this rank
  float loss_scale_;
  ParameterLayout layout_;
  TrainingBuffers buffers_;
  std::vector<TrainingStage> forward_;
  std::vector<TrainingStage> backward_;
};

/// One allocation on a GPU from which all buffers of a training are cut.
class DeviceArena final : public TrainingMemory {
 public:
  /// `bytes` of the current device, zeroed on `stream`. `health` must outlive it. Throws
  /// OutOfMemory or gpu::Error.
  DeviceArena(const DeviceHealth& health, std::size_t bytes, cudaStream_t stream);

  /// Throws std::logic_error when there is not so much left: the count of bytes was wrong.
  void* allocate(std::size_t bytes) override;

 private:
  DeviceBuffer memory_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};
}  // namespace scaleworth::gpu
