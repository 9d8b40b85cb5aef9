// SPDX-License-Identifier: Apache-2.0
/// One product described to cuBLASLt: descriptor, layouts, algorithms.
#pragma once

#include "cuda/gemm/recipe.h"
#include "cuda/gemm/session/ground.h"
#include "cuda/gemm/session/operands.h"
#include "probes/gpu/work.h"

#include <cstddef>
#include <vector>

namespace scaleworth::gpu {

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
  DescribedProduct(const GemmGround& ground,
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
  template <class Value>
  void set_attribute(cublasLtMatmulDescAttributes_t attribute, const Value& value) const;

  const GemmGround& ground_;
  const GemmRecipe& recipe_;
  std::size_t alignment_;  // of every product of the batch, bytes
  LtDescriptor descriptor_;
  LtLayout a_;
  LtLayout b_;
  LtLayout d_;
};

}  // namespace scaleworth::gpu
