// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace scaleworth::probes::host {
namespace {
/// Steps per repetition: some 30 us, so that loading, storing and comparing the chains costs
/// below 0.3 %.
constexpr std::int64_t steps_per_unit = 1 << 14;
constexpr std::int64_t largest_block = 512;  // AVX-512 fp32: 24 chains of 16, and room

const ComputeIsa& find_isa(const std::string& name) {
  const auto isas = compute_isas();
  const auto found = std::ranges::find_if(isas, [&](const auto& isa) { return isa.name == name; });
  if (found != isas.end()) return *found;
  throw ProbeFailure(
      "no kernel for instruction set '{}' here; there are: {}", name, fmt::join(host_isas(), ", "));
}

template <class T>
const ComputeKernels<T>& kernels_of(const ComputeIsa& isa) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return isa.fp32;
  } else {
    return isa.fp64;
  }
}

template <class T>
struct alignas(64) Chains {
  std::array<T, largest_block> values{};
};

template <class T>
Measured time_chains(const FmaWork& work, const Target& target, const ComputeIsa& isa) {
  const ComputeKernels<T>& kernels = kernels_of<T>(isa);
  const auto block = static_cast<std::size_t>(kernels.block);
  const std::vector<T> expected = reference_chains<T>(kernels.block, steps_per_unit, isa.fused);
  Chains<T> start;
  for (std::size_t i = 0; i < block; ++i) {
    start.values[i] = start_value<T>(static_cast<std::int64_t>(i));
  }
  const std::string what =
      fmt::format("{} {} multiply-add chains", isa.name, key_of(work.precision));

  WorkerTeam team(work.workers);
  const UnitWork chains{
      1.0, [&](int, std::int64_t units) {
        Chains<T> result;
        for (std::int64_t i = 0; i < units; ++i) {
          kernels.chains(start.values.data(), result.values.data(), steps_per_unit);
          require_equal<T>(std::span(result.values).first(block), expected, what.c_str());
        }
      }};
  Measured measured;
  measured.samples = take_samples(team, chains, target);
  measured.flops = Flops(2.0 * static_cast<double>(kernels.block) * steps_per_unit * work.workers);
  return measured;
}

}  // namespace

std::vector<std::string> host_isas() {
  return mapped(compute_isas(), [](const ComputeIsa& isa) { return std::string(isa.name); });
}

Measured time_fma(const FmaWork& work, const Target& target) {
  const ComputeIsa& isa = find_isa(work.isa);
  return work.precision == NumberFormat::fp32 ? time_chains<float>(work, target, isa)
                                              : time_chains<double>(work, target, isa);
}

template <class T>
T start_value(std::int64_t index) {
  return T(0.5) + static_cast<T>(index % start_period) / static_cast<T>(start_period - 1);
}

template <class T>
T reference_value(std::int64_t index, std::int64_t steps, bool fused) {
  T x = start_value<T>(index);
  for (std::int64_t i = 0; i < steps; ++i) {
    x = fused ? std::fma(x, Recurrence<T>::a, Recurrence<T>::b)
              : x * Recurrence<T>::a + Recurrence<T>::b;
  }
  return x;
}

template <class T>
std::vector<T> reference_chains(std::int64_t count, std::int64_t steps, bool fused) {
  std::vector<T> result(count);
  for (std::int64_t i = 0; i < count; ++i) {
    result[i] = i < start_period ? reference_value<T>(i, steps, fused) : result[i - start_period];
  }
  return result;
}

template <class T>
void require_equal(std::span<const T> result, std::span<const T> reference, const char* what) {
  if (std::memcmp(result.data(), reference.data(), reference.size_bytes()) == 0) return;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (std::memcmp(&result[i], &reference[i], sizeof(T)) == 0) continue;
    throw ProbeFailure("{}: element {} is {} instead of {}: the kernel or the CPU computes wrongly",
                       what,
                       i,
                       result[i],
                       reference[i]);
  }
}

template float start_value<float>(std::int64_t);
template double start_value<double>(std::int64_t);
template float reference_value<float>(std::int64_t, std::int64_t, bool);
template double reference_value<double>(std::int64_t, std::int64_t, bool);
template std::vector<float> reference_chains<float>(std::int64_t, std::int64_t, bool);
template std::vector<double> reference_chains<double>(std::int64_t, std::int64_t, bool);
template void require_equal<float>(std::span<const float>, std::span<const float>, const char*);
template void require_equal<double>(std::span<const double>, std::span<const double>, const char*);
}  // namespace scaleworth::probes::host
