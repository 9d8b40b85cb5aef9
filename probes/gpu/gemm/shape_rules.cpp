// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/shape_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

/// Multiples that the sides must be of.
struct Granularity {
  std::int64_t outer = 1;  // m and n
  std::int64_t inner = 1;  // k
};

Granularity granularity(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
    case NumberFormat::int8:
      return {16, 16};
    case NumberFormat::fp8_block:
      return {16, 128};
    case NumberFormat::mxfp8:
    case NumberFormat::nvfp4:
      return {32, 32};
    default:
      return {};
  }
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_fp8(NumberFormat format) {
  return format == NumberFormat::fp8_e4m3 || format == NumberFormat::fp8_e5m2;
}

}  // namespace

Flops gemm_flops(const GemmProblem& problem) {
  return Flops(2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
               static_cast<double>(problem.k) * static_cast<double>(problem.batch));
}

double output_element_bytes(NumberFormat input) {
  switch (input) {
    case NumberFormat::fp64:
      return 8.0;
    case NumberFormat::fp32:
    case NumberFormat::tf32:
    case NumberFormat::int8:
      return 4.0;
    default:
      return 2.0;
  }
}

Bytes gemm_footprint(const GemmProblem& problem) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return Bytes(static_cast<double>(problem.batch) *
               (element_bytes(problem.input) * (m * k + k * n) +
                output_element_bytes(problem.input) * m * n));
}

int rotating_sets(Bytes footprint, Bytes l2_cache) {
  if (footprint.value() <= 0.0) return 2;
  const double sets = std::ceil(2.0 * l2_cache.value() / footprint.value());
  return static_cast<int>(std::clamp(sets, 2.0, 4096.0));
}

Bytes gemm_memory(const GemmProblem& problem, Bytes l2_cache) {
  const Bytes footprint = gemm_footprint(problem);
  return static_cast<double>(rotating_sets(footprint, l2_cache)) * footprint +
         Bytes(2.0 * 256.0 * mebibyte);
}

std::optional<std::string> shape_objection(const GemmProblem& problem) {
  if (problem.m < 1 || problem.n < 1 || problem.k < 1 || problem.batch < 1) {
    return "every side and the batch must be at least 1";
  }
  constexpr std::int64_t greatest = std::numeric_limits<std::int32_t>::max();
  if (std::max({problem.m, problem.n, problem.k, problem.batch}) > greatest) {
    return fmt::format("a side or the batch exceeds {}, the library's limit", greatest);
  }
  const auto [outer, inner] = granularity(problem.input);
  const std::int64_t m = rounded_up(problem.m, outer);
  const std::int64_t n = rounded_up(problem.n, outer);
  const std::int64_t k = rounded_up(problem.k, inner);
  if (m == problem.m && n == problem.n && k == problem.k) return std::nullopt;
  return fmt::format(
      "{} needs m and n in multiples of {} and k in multiples of {}: pad to {} x {} x {}",
      number_format_name(problem.input),
      outer,
      inner,
      m,
      n,
      k);
}

std::string gemm_problem_name(const GemmProblem& problem) {
  std::string name = fmt::format(
      "{} {} x {} x {}", number_format_name(problem.input), problem.m, problem.n, problem.k);
  if (problem.batch > 1) name += fmt::format(", batch {}", problem.batch);
  if (is_fp8(problem.input) && !problem.fast_accumulation) name += ", precise accumulation";
  return name;
}

}  // namespace scaleworth::probes
