// SPDX-License-Identifier: Apache-2.0
/// One product described to cuBLASLt: descriptor, layouts, algorithms.
#pragma once

#include "cuda/gemm/gemm_session.h"
#include "cuda/gemm/recipe.h"
#include "cuda/runtime/memory.h"
#include "probes/gpu/device.h"

#include <cstddef>
#include <vector>

namespace scaleworth::gpu {
/// The same array in every set, at addresses that are multiples of 256 bytes.
class RotatingArray {
 public:
  RotatingArray() = default;
  /// `bytes` per set, uninitialised.
  RotatingArray(const DeviceHealth& health, std::size_t bytes, int sets);
  std::byte* at(int set) const;
  std::size_t bytes() const { return bytes_; }  // of one set
  std::size_t all_bytes() const { return stride_ * static_cast<std::size_t>(sets_); }

 private:
  DeviceBuffer memory_;
  std::size_t bytes_ = 0;
  std::size_t stride_ = 0;
  int sets_ = 0;
};

/// Operands and results of one product, in several sets that together exceed twice the L2 cache.
struct GemmOperands {
  /// Fills operands and scales. Throws OutOfMemory naming the sizes, gpu::Error.
  GemmOperands(const GemmContext& context, const GemmRecipe& recipe, const GemmProblem& problem);
  /// Operands of such data; scales as ever.
  void fill(const GemmContext& context, const GemmRecipe& recipe, OperandData data) const;

  int sets;
  RotatingArray a;
  RotatingArray b;
  RotatingArray d;
  RotatingArray a_scales;  // empty without scales
  RotatingArray b_scales;
};

struct ProposedAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
  int rank = 0;  // in the library's order
};

class GemmProduct {
 public:
  /// Throws what GemmOperands throw, NothingToMeasure when this version of the library does not
  /// know the format's scales, LibraryError otherwise. `context` and `problem` must outlive it.
  GemmProduct(const GemmContext& context, const GemmProblem& problem);

  const GemmOperands& operands() const { return operands_; }
  void fill(OperandData data) const { operands_.fill(context_, recipe_, data); }

  /// Empty when the library has no such product.
  std::vector<ProposedAlgorithm> propose(int wanted, std::size_t workspace_bytes) const;

  /// Queues one product of a set of operands. Throws LibraryError.
  void enqueue(int set,
               const ProposedAlgorithm& algorithm,
               void* workspace,
               cudaStream_t stream) const;

  /// Fills D of the first set with a pattern that no result has, computes once, and looks for words
  /// that still have it, are infinite or no numbers; then compares 32 x 32 elements, one in each
  /// stretch of rows and columns, with fp64 sums of the operands as they lie in memory. Throws
  /// ProbeFailure.
  void verify(const ProposedAlgorithm& algorithm, void* workspace) const;

 private:
  void describe_scales(int set) const;

  const GemmContext& context_;
  const GemmProblem& problem_;
  const GemmRecipe& recipe_;
  GemmOperands operands_;
  std::size_t alignment_;  // of every product of the batch, bytes
  LtDescriptor descriptor_;
  LtLayout a_;
  LtLayout b_;
  LtLayout d_;
};
}  // namespace scaleworth::gpu
