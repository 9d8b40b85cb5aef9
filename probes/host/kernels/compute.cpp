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
constexpr std::int64_t largest_block = 512;

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

/// At 512 FMAs per element a piece still takes below a millisecond.
constexpr std::int64_t smallest_piece_bytes = 256 << 10;
constexpr std::int64_t checked_elements = 8;  // per worker

template <class T>
constexpr TargetContent::Kind recurrence_content = sizeof(T) == sizeof(float)
                                                       ? TargetContent::Kind::fp32_recurrence
                                                       : TargetContent::Kind::fp64_recurrence;

/// Writes start_value(0), start_value(1), ... at memory speed: a block of whole periods, copied.
template <class T>
void write_start_values(T* data, std::int64_t elements) {
  constexpr std::int64_t period = start_period * 64;
  for (std::int64_t i = 0; i < std::min(period, elements); ++i) data[i] = start_value<T>(i);
  for (std::int64_t i = period; i < elements; i += period) {
    std::memcpy(
        data + i, data, static_cast<std::size_t>(std::min(period, elements - i)) * sizeof(T));
  }
}

/// One worker's data and how far its endless sweep has come.
template <class T>
struct alignas(128) Updater {
  T* data = nullptr;
  Sweep sweep;
  std::int64_t first_piece = 0;
  std::int64_t visits = 0;

  void prepare(TargetContent& content) {
    const auto bytes = static_cast<std::size_t>(sweep.elements()) * sizeof(T);
    if (content.kind != recurrence_content<T> || content.bytes < bytes) {
      write_start_values(data, sweep.elements());
      content = {recurrence_content<T>, bytes, 0};
    }
    first_piece = static_cast<std::int64_t>(content.next_byte / sizeof(T)) / sweep.piece;
    first_piece %= sweep.pieces;
    for (std::int64_t k = 0; k < checked_elements; ++k) {
      const std::int64_t i = sweep.checked(k, checked_elements);
      data[i] = start_value<T>(i);
    }
  }

  std::int64_t next_element() const { return (first_piece + visits) % sweep.pieces * sweep.piece; }

  void update(const ComputeKernels<T>& kernels, int steps, std::int64_t units) {
    for (std::int64_t unit = 0; unit < units; ++unit, ++visits) {
      kernels.update(data + next_element(), sweep.piece, steps);
    }
  }

  void verify(int steps, const char* what) const {
    for (std::int64_t k = 0; k < checked_elements; ++k) {
      const std::int64_t i = sweep.checked(k, checked_elements);
      const std::int64_t turns = sweep.visits_of(i / sweep.piece, first_piece, visits);
      const T expected = reference_value<T>(i, turns * steps, compute_isas().back().fused);
      require_equal<T>(std::span(&data[i], 1), std::span(&expected, 1), what);
    }
  }
};

template <class T>
Measured time_updates(const IntensityWork& work, const Target& target, ArrayPool& pool) {
  const ComputeKernels<T>& kernels = kernels_of<T>(compute_isas().back());
  const auto elements = static_cast<std::int64_t>(work.working_set.value() / sizeof(T));
  const Sweep sweep = cut_sweep(
      elements, smallest_piece_bytes / static_cast<std::int64_t>(sizeof(T)), kernels.block);

  WorkerTeam team(work.workers);
  pool.reserve(team, 0, static_cast<std::size_t>(sweep.elements()) * sizeof(T));
  std::vector<Updater<T>> updaters(static_cast<std::size_t>(work.workers));
  team.run([&](int worker) {
    Updater<T>& updater = updaters[static_cast<std::size_t>(worker)];
    updater = {.data = static_cast<T*>(pool.target(worker)), .sweep = sweep};
    updater.prepare(pool.target_content(worker));
  });
  const UnitWork updates{static_cast<double>(sweep.pieces), [&](int worker, std::int64_t units) {
                           updaters[static_cast<std::size_t>(worker)].update(
                               kernels, work.fma_per_element, units);
                         }};
  Measured measured;
  measured.samples = take_samples(team, updates, target);
  const std::string what = fmt::format(
      "{} update with {} FMAs per element", key_of(work.precision), work.fma_per_element);
  for (int worker = 0; worker < work.workers; ++worker) {
    const Updater<T>& updater = updaters[static_cast<std::size_t>(worker)];
    updater.verify(work.fma_per_element, what.c_str());
    pool.target_content(worker).next_byte =
        static_cast<std::size_t>(updater.next_element()) * sizeof(T);
  }

  const double updated = static_cast<double>(sweep.elements()) * work.workers;
  measured.flops = Flops(2.0 * work.fma_per_element * updated);
  measured.bytes = Bytes(2.0 * sizeof(T) * updated);
  measured.bytes_real = measured.bytes;
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
  return work.precision == NumberFormat::fp32 ? time_chains<float>(work, target, isa)
                                              : time_chains<double>(work, target, isa);
}

Measured time_intensity(const IntensityWork& work, const Target& target, ArrayPool& pool) {
  return work.precision == NumberFormat::fp32 ? time_updates<float>(work, target, pool)
                                              : time_updates<double>(work, target, pool);
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
  std::vector<T> result(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    result[static_cast<std::size_t>(i)] = i < start_period
                                              ? reference_value<T>(i, steps, fused)
                                              : result[static_cast<std::size_t>(i - start_period)];
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
