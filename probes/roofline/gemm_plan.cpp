// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/gemm_plan.h"

#include "probes/roofline/costs.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

namespace scaleworth::probes {
namespace {

constexpr double batched_operands_bytes = 32.0 * 1024 * 1024;

/// The grids of one suite. `layer` is n = k of "tokens"; `face` is m = n of "rank-k".
struct Grids {
  std::vector<std::int64_t> squares;
  std::vector<std::int64_t> tokens;
  std::int64_t layer = 0;
  std::vector<std::int64_t> ranks;
  std::int64_t face = 0;
  std::vector<std::int64_t> batched;
};

Grids grids(Suite suite) {
  if (suite == Suite::quick) {
    return {{128, 512, 1024}, {1, 16, 256}, 1024, {4, 32}, 1024, {32}};
  }
  return {{64, 128, 256, 512, 1024, 2048},
          {1, 4, 16, 64, 256, 1024},
          2048,
          {2, 8, 32, 128, 512},
          1024,
          {16, 32, 64, 128}};
}

double element_bytes(Precision precision) {
  return precision == Precision::fp32 ? sizeof(float) : sizeof(double);
}

double elements(const GemmWork& work) {
  return static_cast<double>(work.m * work.k + work.k * work.n + work.m * work.n) *
         static_cast<double>(work.batch);
}

/// A whole number of products per worker, at least one.
std::int64_t batch_for(std::int64_t side, Precision precision, int workers) {
  const double one = 3.0 * static_cast<double>(side * side) * element_bytes(precision);
  const double per_worker = batched_operands_bytes / one / workers;
  return std::max<std::int64_t>(1, std::llround(per_worker)) * workers;
}

/// The families for one precision and worker count; the batched one goes to the front.
std::vector<GemmShape> families(const Grids& grid, Precision precision, int workers) {
  std::vector<GemmShape> shapes;
  const auto add = [&](const char* family, std::int64_t m, std::int64_t n, std::int64_t k) {
    shapes.push_back({family, {precision, m, n, k, 1, workers}});
  };
  for (const std::int64_t side : grid.batched) {
    const std::int64_t batch = batch_for(side, precision, workers);
    shapes.push_back({"batched", {precision, side, side, side, batch, workers}});
  }
  for (const std::int64_t side : grid.squares) add("square", side, side, side);
  for (const std::int64_t tokens : grid.tokens) add("tokens", tokens, grid.layer, grid.layer);
  for (const std::int64_t rank : grid.ranks) add("rank-k", grid.face, grid.face, rank);
  return shapes;
}

std::vector<GemmShape> all_shapes(const Setting& setting) {
  const Grids grid = grids(setting.suite);
  std::mt19937 random(1);
  std::vector<GemmShape> plan;
  for (const int workers : worker_counts(setting)) {
    std::vector<GemmShape> group = families(grid, Precision::fp32, workers);
    for (GemmShape& shape : families(grid, Precision::fp64, workers)) group.push_back(shape);
    std::shuffle(group.begin(), group.end(), random);
    std::stable_partition(
        group.begin(), group.end(), [](const GemmShape& s) { return s.family == "batched"; });
    plan.insert(plan.end(), group.begin(), group.end());
  }
  return plan;
}

bool fits(const GemmWork& work, Bytes available) {
  return elements(work) * element_bytes(work.precision) <= available.value() / 4.0;
}

/// One operation at round rates of a server core with AVX2 to AVX-512 and of its memory.
Seconds operation_time(const GemmWork& work) {
  const FlopPerSecond rate(work.precision == Precision::fp32 ? 120e9 : 60e9);
  const Flops flops(2.0 * static_cast<double>(work.m * work.n) * static_cast<double>(work.k) *
                    static_cast<double>(work.batch));
  const Bytes bytes(elements(work) * element_bytes(work.precision));
  return std::max(flops / (effective_workers(work.workers) * rate),
                  bytes / sweep_rate(work.workers));
}

}  // namespace

std::vector<GemmShape> gemm_plan(const Setting& setting) {
  std::vector<GemmShape> plan = all_shapes(setting);
  std::erase_if(plan, [&](const GemmShape& s) { return !fits(s.work, setting.available_memory); });
  return plan;
}

std::size_t gemm_shapes_left_out(const Setting& setting) {
  return all_shapes(setting).size() - gemm_plan(setting).size();
}

Pace gemm_pace(Suite suite) {
  if (suite == Suite::quick) return {Seconds(0.13), 7};
  return {Seconds(0.35), 9};
}

Seconds gemm_time(const GemmWork& work, const Pace& pace) {
  // Random numbers into fresh pages; one calibrating run; a reference of four rows and four
  // columns of up to three products.
  const Seconds fill(elements(work) * 3e-9);
  const double checked = static_cast<double>(std::min<std::int64_t>(work.batch, 3)) * 4.0 *
                         static_cast<double>((work.m + work.n) * work.k);
  const Seconds check(checked * 1.5e-9);
  const Seconds samples = static_cast<double>(pace.minimum_samples) * operation_time(work);
  // The stopping rule gives the minimum up at four times the budget, after one sample at least.
  return fill + check + operation_time(work) +
         std::max(operation_time(work),
                  std::clamp(samples, time_per_setting(pace), 4.0 * pace.budget));
}

}  // namespace scaleworth::probes
