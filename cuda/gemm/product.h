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
class GemmOperands {
 public:
  /// Fills operands and scales. Throws OutOfMemory naming the sizes, gpu::Error.
  GemmOperands(const GemmContext& context,
               const GemmRecipe& recipe,
               const probes::GemmProblem& problem);
  int sets() const { return sets_; }
  const RotatingArray& a() const { return a_; }
  const RotatingArray& b() const { return b_; }
  const RotatingArray& d() const { return d_; }
  const RotatingArray& a_scales() const { return a_scales_; }  // empty without scales
  const RotatingArray& b_scales() const { return b_scales_; }

 private:
  void fill(const GemmContext& context, const RotatingArray& array, OperandEncoding encoding);

  int sets_;
  std::uint64_t seed_ = 1;
  RotatingArray a_;
  RotatingArray b_;
  RotatingArray d_;
  RotatingArray a_scales_;
  RotatingArray b_scales_;
};

/// An algorithm that the library proposed.
struct ProposedAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
  double waves = 0.0;
  int rank = 0;  // in the library's order
};

class DescribedProduct {
 public:
  /// Throws NothingToMeasure when this version of the library does not know the format's scales,
  /// LibraryError otherwise.
  DescribedProduct(const GemmContext& context,
                   const GemmRecipe& recipe,
                   const probes::GemmProblem& problem,
                   const GemmOperands& operands);

  /// Empty when the library has no such product.
  std::vector<ProposedAlgorithm> propose(int wanted, std::size_t workspace_bytes) const;

  /// Queues one product of a set of operands. Throws LibraryError.
  void enqueue(const GemmOperands& operands,
               int set,
               const ProposedAlgorithm& algorithm,
               void* workspace,
               cudaStream_t stream) const;

 private:
  void describe_scales(const GemmOperands& operands, int set) const;

  const GemmContext& context_;
  const GemmRecipe& recipe_;
  std::size_t alignment_;  // of every product of the batch, bytes
  LtDescriptor descriptor_;
  LtLayout a_;
  LtLayout b_;
  LtLayout d_;
};

/// Fills D of the first set with a pattern that no result has, computes once, and looks for words
/// that still have it, are infinite or no numbers; then compares 32 x 32 elements, one in each
/// stretch of rows and columns, with fp64 sums of the operands as they lie in memory. Throws
/// ProbeFailure.
void verify_product(const GemmContext& context,
                    const GemmRecipe& recipe,
                    const probes::GemmProblem& problem,
                    const GemmOperands& operands,
                    const DescribedProduct& product,
                    const ProposedAlgorithm& algorithm,
                    void* workspace);
}  // namespace scaleworth::gpu
