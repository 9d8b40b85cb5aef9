// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics.h"
#include "cuda/gemm/product.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <vector>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
constexpr int sampled_sides = 32;
constexpr int sampled_products = 2;  // of a batch

using HostBytes = std::vector<std::byte>;

/// Copies of a GPU's memory; there once the stream has been waited for.
class Fetch {
 public:
  explicit Fetch(const GemmContext& context) : context_(context) {}
  HostBytes bytes(const std::byte* from, std::size_t count) const {
    HostBytes copy(count);
    check(cudaMemcpyAsync(copy.data(), from, count, cudaMemcpyDeviceToHost, context_.stream));
    context_.timer.wait("fetching samples of a product");
    return copy;
  }

 private:
  const GemmContext& context_;
};

void require_written(const GemmContext& context,
                     const GemmRecipe& recipe,
                     const GemmOperands& operands,
                     const Sentinel& sentinel) {
  const DeviceBuffer count = allocate_device(context.health, sizeof(unsigned long long));
  check(cudaMemsetAsync(count.get(), 0, sizeof(unsigned long long), context.stream));
  const std::size_t words = operands.d().bytes() / static_cast<std::size_t>(recipe.d_bytes);
  check(launch_count_words(operands.d().at(0),
                           recipe.d_bytes,
                           words,
                           sentinel.mask,
                           sentinel.pattern,
                           static_cast<unsigned long long*>(count.get()),
                           context.stream));
  unsigned long long broken = 0;
  check(
      cudaMemcpyAsync(&broken, count.get(), sizeof broken, cudaMemcpyDeviceToHost, context.stream));
  context.timer.wait("checking a product");
  if (broken == 0) return;
  throw ProbeFailure(fmt::format(
      "wrong result: {} of {} elements are NaN, infinite or were never written", broken, words));
}

/// One operand as the host sees it: `outer` rows of k numbers, scaled.
struct HostOperand {
  const RotatingArray& memory;
  const RotatingArray& scales;
  OperandEncoding encoding;
  ScaleLayout layout;
  ScaledExtent extent;
};

std::vector<std::vector<double>> sampled_rows(const Fetch& fetch,
                                              const HostOperand& operand,
                                              const std::vector<std::int64_t>& places,
                                              std::int64_t product) {
  const HostBytes scales = operand.scales.bytes() > 0
                               ? fetch.bytes(operand.scales.at(0), operand.scales.bytes())
                               : HostBytes{};
  const auto k = static_cast<std::size_t>(operand.extent.k);
  const std::size_t row_bytes = k * static_cast<std::size_t>(encoded_bits(operand.encoding)) / 8;
  std::vector<std::vector<double>> rows;
  for (const std::int64_t place : places) {
    const auto row = static_cast<std::size_t>(product * operand.extent.outer + place);
    const HostBytes encoded = fetch.bytes(operand.memory.at(0) + row * row_bytes, row_bytes);
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
std::vector<double> sampled_results(const Fetch& fetch,
                                    const GemmRecipe& recipe,
                                    const probes::GemmProblem& problem,
                                    const GemmOperands& operands,
                                    const SampledProduct& sample,
                                    std::int64_t product) {
  const auto column_bytes =
      static_cast<std::size_t>(problem.m) * static_cast<std::size_t>(recipe.d_bytes);
  std::vector<double> results(sample.rows.size() * sample.columns.size());
  for (std::size_t j = 0; j < sample.columns.size(); ++j) {
    const auto column = static_cast<std::size_t>(product * problem.n + sample.columns[j]);
    const HostBytes stored = fetch.bytes(operands.d().at(0) + column * column_bytes, column_bytes);
    for (std::size_t i = 0; i < sample.rows.size(); ++i) {
      results[i * sample.columns.size() + j] =
          decoded_result(recipe, stored, static_cast<std::size_t>(sample.rows[i]));
    }
  }
  return results;
}
}  // namespace

void verify_product(const GemmContext& context,
                    const GemmRecipe& recipe,
                    const probes::GemmProblem& problem,
                    const GemmOperands& operands,
                    const DescribedProduct& product,
                    const ProposedAlgorithm& algorithm,
                    void* workspace) {
  const Sentinel sentinel = sentinel_of(recipe);
  check(cudaMemsetAsync(operands.d().at(0), sentinel.byte, operands.d().bytes(), context.stream));
  product.enqueue(operands, 0, algorithm, workspace, context.stream);
  require_written(context, recipe, operands, sentinel);

  const Fetch fetch(context);
  SampledProduct sample;
  sample.rows = sampled_places(problem.m, sampled_sides, 1);
  sample.columns = sampled_places(problem.n, sampled_sides, 2);
  for (const std::int64_t index : sampled_places(problem.batch, sampled_products, 3)) {
    sample.a = sampled_rows(
        fetch,
        {operands.a(), operands.a_scales(), recipe.a, recipe.a_scale, {problem.m, problem.k}},
        sample.rows,
        index);
    sample.b = sampled_rows(
        fetch,
        {operands.b(), operands.b_scales(), recipe.b, recipe.b_scale, {problem.n, problem.k}},
        sample.columns,
        index);
    sample.d = sampled_results(fetch, recipe, problem, operands, sample, index);
    if (const auto reason = deviation(recipe, sample)) throw ProbeFailure(*reason);
  }
}
}  // namespace scaleworth::gpu
