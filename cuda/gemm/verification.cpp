// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics.h"
#include "cuda/gemm/product.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

namespace scaleworth::gpu {
namespace {
// Rows and columns, so 1,024 elements in every tile row and column of usual products; all would
// take minutes on the host.
constexpr int sampled_sides = 32;
constexpr int sampled_products = 2;  // of a batch

using HostBytes = std::vector<std::byte>;

/// A copy of a GPU's memory; waits for the stream.
HostBytes fetch_bytes(const GemmContext& context, const std::byte* from, std::size_t count) {
  HostBytes copy(count);
  check(cudaMemcpyAsync(copy.data(), from, count, cudaMemcpyDeviceToHost, context.bench.stream()));
  context.bench.timer().wait("fetching samples of a product");
  return copy;
}

void require_written(const GemmContext& context,
                     const GemmRecipe& recipe,
                     const RotatingArray& d,
                     const Sentinel& sentinel) {
  const DeviceBuffer count = allocate_device(context.bench.health(), sizeof(unsigned long long));
  check(cudaMemsetAsync(count.get(), 0, sizeof(unsigned long long), context.bench.stream()));
  const std::size_t words = d.bytes() / static_cast<std::size_t>(recipe.d_bytes);
  check(launch_count_words(d.at(0),
                           recipe.d_bytes,
                           words,
                           sentinel.mask,
                           sentinel.pattern,
                           static_cast<unsigned long long*>(count.get()),
                           context.bench.stream()));
  unsigned long long broken = 0;
  check(cudaMemcpyAsync(
      &broken, count.get(), sizeof broken, cudaMemcpyDeviceToHost, context.bench.stream()));
  context.bench.timer().wait("checking a product");
  if (broken == 0) return;
  throw ProbeFailure(
      "wrong result: {} of {} elements are NaN, infinite or were never written", broken, words);
}

/// One operand as the host sees it: `outer` rows of k numbers, scaled.
struct HostOperand {
  const RotatingArray& memory;
  const RotatingArray& scales;
  OperandEncoding encoding;
  ScaleLayout layout;
  ScaledExtent extent;
};

std::vector<std::vector<double>> sampled_rows(const GemmContext& context,
                                              const HostOperand& operand,
                                              const std::vector<std::int64_t>& places,
                                              std::int64_t product) {
  const HostBytes scales = operand.scales.bytes() > 0
                               ? fetch_bytes(context, operand.scales.at(0), operand.scales.bytes())
                               : HostBytes{};
  const auto k = static_cast<std::size_t>(operand.extent.k);
  const std::size_t row_bytes = k * static_cast<std::size_t>(encoded_bits(operand.encoding)) / 8;
  std::vector<std::vector<double>> rows;
  for (const std::int64_t place : places) {
    const auto row = static_cast<std::size_t>(product * operand.extent.outer + place);
    const HostBytes encoded =
        fetch_bytes(context, operand.memory.at(0) + row * row_bytes, row_bytes);
    std::vector<double> values(k);
    for (std::size_t i = 0; i < k; ++i) {
      values[i] = decoded(operand.encoding, encoded, i);
      if (scales.empty()) continue;
      const std::size_t index =
          scale_index(operand.layout, operand.extent, place, static_cast<std::int64_t>(i));
      values[i] *= decoded(scale_form(operand.layout).encoding, scales, index);
    }
    rows.push_back(std::move(values));
  }
  return rows;
}

/// Elements of D, column-major in memory, where rows and columns meet.
std::vector<double> sampled_results(const GemmContext& context,
                                    const GemmRecipe& recipe,
                                    const GemmProblem& problem,
                                    const RotatingArray& d,
                                    const SampledProduct& sample,
                                    std::int64_t product) {
  const auto column_bytes =
      static_cast<std::size_t>(problem.m) * static_cast<std::size_t>(recipe.d_bytes);
  std::vector<double> results(sample.rows.size() * sample.columns.size());
  for (std::size_t j = 0; j < sample.columns.size(); ++j) {
    const auto column = static_cast<std::size_t>(product * problem.n + sample.columns[j]);
    const HostBytes stored = fetch_bytes(context, d.at(0) + column * column_bytes, column_bytes);
    for (std::size_t i = 0; i < sample.rows.size(); ++i) {
      results[i * sample.columns.size() + j] =
          decoded_result(recipe, stored, static_cast<std::size_t>(sample.rows[i]));
    }
  }
  return results;
}
}  // namespace

void GemmProduct::verify(const ProposedAlgorithm& algorithm, void* workspace) const {
  const RotatingArray& d = operands_.d;
  const Sentinel sentinel = sentinel_of(recipe_);
  check(cudaMemsetAsync(d.at(0), sentinel.byte, d.bytes(), context_.bench.stream()));
  enqueue(0, algorithm, workspace, context_.bench.stream());
  require_written(context_, recipe_, d, sentinel);

  const HostOperand a{
      operands_.a, operands_.a_scales, recipe_.a, recipe_.a_scale, {problem_.m, problem_.k}};
  const HostOperand b{
      operands_.b, operands_.b_scales, recipe_.b, recipe_.b_scale, {problem_.n, problem_.k}};
  SampledProduct sample;
  sample.rows = sampled_places(problem_.m, sampled_sides, 1);
  sample.columns = sampled_places(problem_.n, sampled_sides, 2);
  for (const std::int64_t index : sampled_places(problem_.batch, sampled_products, 3)) {
    sample.a = sampled_rows(context_, a, sample.rows, index);
    sample.b = sampled_rows(context_, b, sample.columns, index);
    sample.d = sampled_results(context_, recipe_, problem_, d, sample, index);
    if (const auto reason = deviation(recipe_, sample)) throw ProbeFailure(*reason);
  }
}
}  // namespace scaleworth::gpu
