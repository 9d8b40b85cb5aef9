// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/compute.h"
#include "probes/host/compute/kernels.h"
#include "probes/host/compute/reference.h"
#include "probes/host/workers/sampling.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

/// Steps per repetition: some 30 us, so that loading, storing and comparing the chains costs
/// below 0.3 %.
constexpr std::int64_t steps_per_unit = 1 << 14;
constexpr std::int64_t largest_block = 512;

const ComputeIsa& find_isa(const std::string& name) {
  const auto isas = compute_isas();
  const auto found = std::ranges::find_if(isas, [&](const auto& isa) { return isa.name == name; });
  if (found != isas.end()) return *found;
  throw ProbeFailure(fmt::format("no kernel for instruction set '{}' here; there are: {}",
                                 name,
                                 fmt::join(host_isas(), ", ")));
}

template <class T>
struct alignas(64) Chains {
  std::array<T, largest_block> values{};
};

template <class T>
Measured time_chains(const FmaWork& work, const Target& target, const ComputeIsa& isa) {
  const ComputeKernels<T>& kernels = [&]() -> const auto& {
    if constexpr (sizeof(T) == sizeof(float)) {
      return isa.fp32;
    } else {
      return isa.fp64;
    }
  }
  ();
  const auto block = static_cast<std::size_t>(kernels.block);
  const std::vector<T> expected = reference_chains<T>(kernels.block, steps_per_unit, isa.fused);
  Chains<T> start;
  for (std::size_t i = 0; i < block; ++i) {
    start.values[i] = start_value<T>(static_cast<std::int64_t>(i));
  }
  const std::string what =
      fmt::format("{} {} multiply-add chains", isa.name, precision_name(work.precision));

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
  std::vector<std::string> names;
  for (const ComputeIsa& isa : compute_isas()) names.emplace_back(isa.name);
  return names;
}

Measured time_fma(const FmaWork& work, const Target& target) {
  const ComputeIsa& isa = find_isa(work.isa);
  return work.precision == Precision::fp32 ? time_chains<float>(work, target, isa)
                                           : time_chains<double>(work, target, isa);
}

}  // namespace scaleworth::probes::host
