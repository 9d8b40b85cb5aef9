// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/session/operands.h"

#include "cuda/gemm/numerics/encoding.h"
#include "cuda/gemm/numerics/scales.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/gemm/shape_rules.h"

namespace scaleworth::gpu {
namespace {

constexpr std::size_t alignment = 256;

std::size_t encoded_bytes(OperandEncoding encoding, std::size_t numbers) {
  return (numbers * static_cast<std::size_t>(encoded_bits(encoding)) + 7) / 8;
}

std::size_t elements(std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) *
         static_cast<std::size_t>(batch);
}

RotatingArray scales(const DeviceHealth& health,
                     ScaleLayout layout,
                     const ScaledExtent& extent,
                     int sets) {
  const std::size_t count = scale_count(layout, extent);
  if (count == 0) return {};
  return {health, encoded_bytes(scale_encoding(layout), count), sets};
}

}  // namespace

RotatingArray::RotatingArray(const DeviceHealth& health, std::size_t bytes, int sets)
    : bytes_(bytes), stride_((bytes + alignment - 1) / alignment * alignment), sets_(sets) {
  memory_ = allocate_device(health, all_bytes());
}

std::byte* RotatingArray::at(int set) const {
  return static_cast<std::byte*>(memory_.get()) + stride_ * static_cast<std::size_t>(set);
}

GemmOperands::GemmOperands(const GemmGround& ground,
                           const GemmRecipe& recipe,
                           const probes::GemmProblem& problem)
    : sets_(probes::rotating_sets(probes::gemm_footprint(problem), ground.description.l2_cache)),
      a_(ground.health,
         encoded_bytes(recipe.a, elements(problem.m, problem.k, problem.batch)),
         sets_),
      b_(ground.health,
         encoded_bytes(recipe.b, elements(problem.k, problem.n, problem.batch)),
         sets_),
      d_(ground.health,
         elements(problem.m, problem.n, problem.batch) * static_cast<std::size_t>(recipe.d_bytes),
         sets_),
      a_scales_(scales(ground.health, recipe.a_scale, {problem.m, problem.k}, sets_)),
      b_scales_(scales(ground.health, recipe.b_scale, {problem.n, problem.k}, sets_)) {
  fill(ground, a_, recipe.a);
  fill(ground, b_, recipe.b);
  if (a_scales_.bytes() > 0) fill(ground, a_scales_, scale_encoding(recipe.a_scale));
  if (b_scales_.bytes() > 0) fill(ground, b_scales_, scale_encoding(recipe.b_scale));
  ground.timer.wait("filling the operands of a product");
}

void GemmOperands::fill(const GemmGround& ground,
                        const RotatingArray& array,
                        OperandEncoding encoding) {
  const auto numbers = array.all_bytes() * 8 / static_cast<std::size_t>(encoded_bits(encoding));
  check(launch_fill_operands(array.at(0), encoding, numbers, seed_++, ground.stream));
}

}  // namespace scaleworth::gpu
