// SPDX-License-Identifier: Apache-2.0
/// Operands and results of one product in a GPU's memory, several sets of them.
#pragma once

#include "cuda/gemm/recipe.h"
#include "cuda/gemm/session/ground.h"
#include "cuda/runtime/memory.h"
#include "probes/gpu/work.h"

#include <cstddef>

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

/// Together the sets exceed twice the L2 cache. Results rotate as well.
class GemmOperands {
 public:
  /// Fills operands and scales. Throws OutOfMemory naming the sizes, gpu::Error.
  GemmOperands(const GemmGround& ground,
               const GemmRecipe& recipe,
               const probes::GemmProblem& problem);
  int sets() const { return sets_; }
  const RotatingArray& a() const { return a_; }
  const RotatingArray& b() const { return b_; }
  const RotatingArray& d() const { return d_; }
  const RotatingArray& a_scales() const { return a_scales_; }  // empty without scales
  const RotatingArray& b_scales() const { return b_scales_; }

 private:
  void fill(const GemmGround& ground, const RotatingArray& array, OperandEncoding encoding);

  int sets_;
  std::uint64_t seed_ = 1;
  RotatingArray a_;
  RotatingArray b_;
  RotatingArray d_;
  RotatingArray a_scales_;
  RotatingArray b_scales_;
};

}  // namespace scaleworth::gpu
