// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/compute.h"
#include "probes/host/compute/kernels.h"
#include "probes/host/compute/reference.h"
#include "probes/host/memory/sweep.h"
#include "probes/host/workers/sampling.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

/// At 512 FMAs per element a piece still takes below a millisecond.
constexpr std::int64_t smallest_piece_bytes = 256 << 10;
constexpr std::int64_t checked_elements = 8;  // per worker

template <class T>
const ComputeKernels<T>& widest_kernels() {
  const ComputeIsa& isa = compute_isas().back();
  if constexpr (sizeof(T) == sizeof(float)) {
    return isa.fp32;
  } else {
    return isa.fp64;
  }
}

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
      data[checked_index(k)] = start_value<T>(checked_index(k));
    }
  }

  std::int64_t next_element() const { return (first_piece + visits) % sweep.pieces * sweep.piece; }

  void update(const ComputeKernels<T>& kernels, int steps, std::int64_t units) {
    for (std::int64_t unit = 0; unit < units; ++unit, ++visits) {
      kernels.update(data + next_element(), sweep.piece, steps);
    }
  }

  /// The first, the last and some between.
  std::int64_t checked_index(std::int64_t k) const {
    return k * (sweep.elements() - 1) / (checked_elements - 1);
  }

  void verify(int steps, const char* what) const {
    for (std::int64_t k = 0; k < checked_elements; ++k) {
      const std::int64_t i = checked_index(k);
      const std::int64_t turns = sweep.visits_of(i / sweep.piece, first_piece, visits);
      const T expected = reference_value<T>(i, turns * steps, compute_isas().back().fused);
      require_equal<T>(std::span(&data[i], 1), std::span(&expected, 1), what);
    }
  }
};

template <class T>
Measured time_updates(const IntensityWork& work, const Target& target, ArrayPool& pool) {
  const ComputeKernels<T>& kernels = widest_kernels<T>();
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
      "{} update with {} FMAs per element", precision_name(work.precision), work.fma_per_element);
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

Measured time_intensity(const IntensityWork& work, const Target& target, ArrayPool& pool) {
  return work.precision == Precision::fp32 ? time_updates<float>(work, target, pool)
                                           : time_updates<double>(work, target, pool);
}

Measured time_intensity(const IntensityWork& work, const Target& target) {
  ArrayPool pool;
  return time_intensity(work, target, pool);
}

}  // namespace scaleworth::probes::host
