// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/product.h"

#include "cuda/gemm/numerics.h"
#include "cuda/libraries/library.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/gemm.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
/// alpha and beta in host memory, in the type that the recipe names.
struct Factor {
  double f64;
  float f32;
  std::int32_t i32;
  const void* as(cudaDataType_t type) const {
    if (type == CUDA_R_64F) return &f64;
    if (type == CUDA_R_32I) return &i32;
    return &f32;
  }
};
constexpr Factor one{1.0, 1.0F, 1};
constexpr Factor zero{0.0, 0.0F, 0};

/// Column-major without gaps; the products of a batch follow each other.
LtLayout make_layout(const GemmContext& context,
                     cudaDataType_t type,
                     std::int64_t rows,
                     std::int64_t columns,
                     std::int64_t batch) {
  return make_lt_layout(context.library, {type, rows, columns, rows, batch, rows * columns});
}

/// The largest power of two up to 256 that divides the address of every product of the batch.
std::size_t batch_alignment(const GemmRecipe& recipe, const probes::GemmProblem& problem) {
  std::size_t alignment = 256;
  if (problem.batch == 1) return alignment;
  const std::int64_t bits = ((problem.m * problem.k * encoded_bits(recipe.a)) |
                             (problem.k * problem.n * encoded_bits(recipe.b)) |
                             (problem.m * problem.n * recipe.d_bytes * 8));
  while (alignment > 1 && bits % static_cast<std::int64_t>(8 * alignment) != 0) alignment /= 2;
  return alignment;
}
}  // namespace

DescribedProduct::DescribedProduct(const GemmContext& context,
                                   const GemmRecipe& recipe,
                                   const probes::GemmProblem& problem,
                                   const GemmOperands& operands)
    : context_(context),
      recipe_(recipe),
      alignment_(batch_alignment(recipe, problem)),
      descriptor_(make_lt_descriptor(context.library, recipe.compute, recipe.scale_type)),
      a_(make_layout(context, recipe.a_type, problem.k, problem.m, problem.batch)),
      b_(make_layout(context, recipe.b_type, problem.k, problem.n, problem.batch)),
      d_(make_layout(context, recipe.d_type, problem.m, problem.n, problem.batch)) {
  // A's rows lie one after another: to a column-major library that is its transpose.
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{CUBLAS_OP_T});
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{CUBLAS_OP_N});
  if (recipe.chooses_accumulation) {
    set_attribute(
        descriptor_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{problem.fast_accumulation});
  }
  if (problem.multiprocessors > 0) {
    set_attribute(
        descriptor_, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, std::int32_t{problem.multiprocessors});
  }
  if (is_block_scaled(recipe)) {
    try {
      set_attribute(descriptor_,
                    CUBLASLT_MATMUL_DESC_A_SCALE_MODE,
                    static_cast<std::int32_t>(scale_form(recipe.a_scale).mode));
      set_attribute(descriptor_,
                    CUBLASLT_MATMUL_DESC_B_SCALE_MODE,
                    static_cast<std::int32_t>(scale_form(recipe.b_scale).mode));
    } catch (const LibraryError&) {
      throw NothingToMeasure(fmt::format("cuBLASLt {} does not know the scales of {}",
                                         context.library->version,
                                         probes::number_format_name(recipe.format)));
    }
  }
  describe_scales(operands, 0);
}

void DescribedProduct::describe_scales(const GemmOperands& operands, int set) const {
  if (operands.a_scales().bytes() == 0) return;
  const void* a = operands.a_scales().at(set);
  const void* b = operands.b_scales().at(set);
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a);
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b);
}

std::vector<ProposedAlgorithm> DescribedProduct::propose(int wanted,
                                                         std::size_t workspace_bytes) const {
  const CublasLt& library = *context_.library;
  const LtPreference preference =
      make_lt_preference(context_.library, workspace_bytes, static_cast<std::uint32_t>(alignment_));
  std::vector<cublasLtMatmulHeuristicResult_t> results(
      static_cast<std::size_t>(std::max(wanted, 1)));
  int returned = 0;
  const cublasStatus_t status = library.heuristic(context_.handle,
                                                  descriptor_.get(),
                                                  a_.get(),
                                                  b_.get(),
                                                  d_.get(),
                                                  d_.get(),
                                                  preference.get(),
                                                  static_cast<int>(results.size()),
                                                  results.data(),
                                                  &returned);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) return {};
  library.check(status);
  std::vector<ProposedAlgorithm> proposed;
  for (int rank = 0; rank < returned; ++rank) {
    const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(rank)];
    if (result.state != CUBLAS_STATUS_SUCCESS) continue;
    proposed.push_back({result.algo, result.workspaceSize, result.wavesCount, rank});
  }
  return proposed;
}

void DescribedProduct::enqueue(const GemmOperands& operands,
                               int set,
                               const ProposedAlgorithm& algorithm,
                               void* workspace,
                               cudaStream_t stream) const {
  describe_scales(operands, set);
  std::byte* d = operands.d().at(set);
  context_.library->check(context_.library->matmul(context_.handle,
                                                   descriptor_.get(),
                                                   one.as(recipe_.scale_type),
                                                   operands.a().at(set),
                                                   a_.get(),
                                                   operands.b().at(set),
                                                   b_.get(),
                                                   zero.as(recipe_.scale_type),
                                                   d,
                                                   d_.get(),
                                                   d,
                                                   d_.get(),
                                                   &algorithm.algorithm,
                                                   workspace,
                                                   algorithm.workspace_bytes,
                                                   stream));
}

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
  return {health, encoded_bytes(scale_form(layout).encoding, count), sets};
}
}  // namespace

RotatingArray::RotatingArray(const DeviceHealth& health, std::size_t bytes, int sets)
    : bytes_(bytes), stride_((bytes + alignment - 1) / alignment * alignment), sets_(sets) {
  memory_ = allocate_device(health, all_bytes());
}

std::byte* RotatingArray::at(int set) const {
  return static_cast<std::byte*>(memory_.get()) + stride_ * static_cast<std::size_t>(set);
}

GemmOperands::GemmOperands(const GemmContext& context,
                           const GemmRecipe& recipe,
                           const probes::GemmProblem& problem)
    : sets_(probes::rotating_sets(probes::gemm_footprint(problem), context.description.l2_cache)),
      a_(context.health,
         encoded_bytes(recipe.a, elements(problem.m, problem.k, problem.batch)),
         sets_),
      b_(context.health,
         encoded_bytes(recipe.b, elements(problem.k, problem.n, problem.batch)),
         sets_),
      d_(context.health,
         elements(problem.m, problem.n, problem.batch) * static_cast<std::size_t>(recipe.d_bytes),
         sets_),
      a_scales_(scales(context.health, recipe.a_scale, {problem.m, problem.k}, sets_)),
      b_scales_(scales(context.health, recipe.b_scale, {problem.n, problem.k}, sets_)) {
  fill(context, a_, recipe.a);
  fill(context, b_, recipe.b);
  if (a_scales_.bytes() > 0) fill(context, a_scales_, scale_form(recipe.a_scale).encoding);
  if (b_scales_.bytes() > 0) fill(context, b_scales_, scale_form(recipe.b_scale).encoding);
  context.timer.wait("filling the operands of a product");
}

void GemmOperands::fill(const GemmContext& context,
                        const RotatingArray& array,
                        OperandEncoding encoding) {
  const auto numbers = array.all_bytes() * 8 / static_cast<std::size_t>(encoded_bits(encoding));
  check(launch_fill_operands(array.at(0), encoding, numbers, seed_++, context.stream));
}
}  // namespace scaleworth::gpu
