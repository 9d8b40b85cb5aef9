// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/product.h"

#include "cuda/gemm/numerics.h"
#include "cuda/libraries/library.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/gemm.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstdint>

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
std::size_t batch_alignment(const GemmRecipe& recipe, const GemmProblem& problem) {
  std::size_t alignment = device_alignment;
  if (problem.batch == 1) return alignment;
  const std::int64_t bits = ((problem.m * problem.k * encoded_bits(recipe.a)) |
                             (problem.k * problem.n * encoded_bits(recipe.b)) |
                             (problem.m * problem.n * recipe.d_bytes * 8));
  while (alignment > 1 && bits % static_cast<std::int64_t>(8 * alignment) != 0) alignment /= 2;
  return alignment;
}

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

GemmProduct::GemmProduct(const GemmContext& context, const GemmProblem& problem)
    : context_(context),
      problem_(problem),
      recipe_(gemm_recipe(problem.input)),
      operands_(context, recipe_, problem),
      alignment_(batch_alignment(recipe_, problem)),
      descriptor_(make_lt_descriptor(context.library, recipe_.compute, recipe_.scale_type)),
      a_(make_layout(context, recipe_.a_type, problem.k, problem.m, problem.batch)),
      b_(make_layout(context, recipe_.b_type, problem.k, problem.n, problem.batch)),
      d_(make_layout(context, recipe_.d_type, problem.m, problem.n, problem.batch)) {
  // A's rows lie one after another: to a column-major library that is its transpose.
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{CUBLAS_OP_T});
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{CUBLAS_OP_N});
  if (recipe_.chooses_accumulation) {
    set_attribute(
        descriptor_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{problem.fast_accumulation});
  }
  if (is_block_scaled(recipe_)) {
    try {
      set_attribute(descriptor_, lt_a_scale_mode, scale_form(recipe_.a_scale).mode);
      set_attribute(descriptor_, lt_b_scale_mode, scale_form(recipe_.b_scale).mode);
    } catch (const LibraryError&) {
      throw NothingToMeasure(
          FindingId::scales_not_known, context.library->version, key_of(recipe_.format));
    }
  }
  describe_scales(0);
}

void GemmProduct::describe_scales(int set) const {
  if (operands_.a_scales.bytes() == 0) return;
  const void* a = operands_.a_scales.at(set);
  const void* b = operands_.b_scales.at(set);
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a);
  set_attribute(descriptor_, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b);
}

std::vector<ProposedAlgorithm> GemmProduct::propose(int wanted, std::size_t workspace_bytes) const {
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
    const cublasLtMatmulHeuristicResult_t& result = results[rank];
    if (result.state != CUBLAS_STATUS_SUCCESS) continue;
    proposed.push_back({result.algo, result.workspaceSize, rank});
  }
  return proposed;
}

void GemmProduct::enqueue(int set,
                          const ProposedAlgorithm& algorithm,
                          void* workspace,
                          cudaStream_t stream) const {
  describe_scales(set);
  std::byte* d = operands_.d.at(set);
  context_.library->check(context_.library->matmul(context_.handle,
                                                   descriptor_.get(),
                                                   one.as(recipe_.scale_type),
                                                   operands_.a.at(set),
                                                   a_.get(),
                                                   operands_.b.at(set),
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

RotatingArray::RotatingArray(const DeviceHealth& health, std::size_t bytes, int sets)
    : bytes_(bytes), stride_(aligned(bytes)), sets_(sets) {
  memory_ = allocate_device(health, all_bytes());
}

std::byte* RotatingArray::at(int set) const {
  return static_cast<std::byte*>(memory_.get()) + stride_ * static_cast<std::size_t>(set);
}

GemmOperands::GemmOperands(const GemmContext& context,
                           const GemmRecipe& recipe,
                           const GemmProblem& problem)
    : sets(rotating_sets(gemm_footprint(problem), context.bench.description().l2_cache)),
      a(context.bench.health(),
        encoded_bytes(recipe.a, elements(problem.m, problem.k, problem.batch)),
        sets),
      b(context.bench.health(),
        encoded_bytes(recipe.b, elements(problem.k, problem.n, problem.batch)),
        sets),
      d(context.bench.health(),
        elements(problem.m, problem.n, problem.batch) * static_cast<std::size_t>(recipe.d_bytes),
        sets),
      a_scales(scales(context.bench.health(), recipe.a_scale, {problem.m, problem.k}, sets)),
      b_scales(scales(context.bench.health(), recipe.b_scale, {problem.n, problem.k}, sets)) {
  fill(context, recipe, OperandData::uniform);
}

void GemmOperands::fill(const GemmContext& context,
                        const GemmRecipe& recipe,
                        OperandData data) const {
  std::uint64_t seed = 1;
  const bool normal = data == OperandData::normal;
  const auto draw = [&](const RotatingArray& array, OperandEncoding encoding) {
    if (array.bytes() == 0) return;
    const auto numbers = array.all_bytes() * 8 / static_cast<std::size_t>(encoded_bits(encoding));
    check(launch_fill_operands(
        array.at(0), encoding, numbers, seed++, normal, context.bench.stream()));
  };
  draw(a, recipe.a);
  draw(b, recipe.b);
  draw(a_scales, scale_form(recipe.a_scale).encoding);
  draw(b_scales, scale_form(recipe.b_scale).encoding);
  for (const RotatingArray* array : {&a, &b}) {
    if (data != OperandData::zero) break;
    check(cudaMemsetAsync(array->at(0), 0, array->all_bytes(), context.bench.stream()));
  }
  context.bench.timer().wait("filling the operands of a product");
}
}  // namespace scaleworth::gpu
