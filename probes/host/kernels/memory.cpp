// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/memory.h"

#include "probes/host/host_facts.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace scaleworth::probes::host {
namespace {
// Bytes of one repetition at least: shorter ones are all clock reading.
constexpr double smallest_stream_piece = 1 << 20;
constexpr std::int64_t vector_doubles = 8;  // doubles in 64 bytes, the widest vector
constexpr std::int64_t page_doubles = 4096 / sizeof(double);  // one touch makes a page resident
constexpr double poison = -1.0;                               // no kernel stores it
// Spread over the array; all would take as long as the samples.
constexpr std::int64_t checked_values = 64;

struct KernelShape {
  int arrays;
  int stored_arrays;
  StreamKernel StoreKernels::*stores;  // null for read
};

const KernelShape& shape_of(MemoryKernel kernel) {
  // In the order of the enumeration.
  static constexpr std::array shapes{KernelShape{1, 0, nullptr},
                                     KernelShape{1, 1, &StoreKernels::write},
                                     KernelShape{2, 1, &StoreKernels::copy},
                                     KernelShape{3, 1, &StoreKernels::triad}};
  return shapes.at(index_of(kernel));
}

StreamKernel choose_kernel(const MemoryWork& work) {
  const StreamIsa& isa = stream_isa();
  const auto stores = shape_of(work.kernel).stores;
  if (stores == nullptr) return isa.read;
  return (work.nontemporal ? isa.nontemporal : isa.regular).*stores;
}

/// One worker's arrays and how far its endless sweep has come.
struct alignas(128) Stream {
  MemoryKernel kind = MemoryKernel::read;
  StreamKernel kernel = nullptr;
  Sweep sweep;
  double* a = nullptr;
  const double* b = nullptr;
  const double* c = nullptr;
  std::int64_t second_source = 0;  // index of c[0] in the source region
  std::int64_t visits = 0;
  std::int64_t sample_start = 0;  // visits before the last sample
  double sample_sum = 0.0;

  /// A region that the kernel has no use for stays null.
  template <class T>
  static T* at(T* region, std::int64_t offset) {
    return region != nullptr ? region + offset : nullptr;
  }

  void run(std::int64_t units) {
    sample_start = visits;
    sample_sum = 0.0;
    if (sweep.pieces == 1) {
      sample_sum = kernel(a, b, c, sweep.piece, units);
    } else {
      for (std::int64_t unit = 0; unit < units; ++unit) {
        const std::int64_t offset = (visits + unit) % sweep.pieces * sweep.piece;
        sample_sum += kernel(at(a, offset), at(b, offset), at(c, offset), sweep.piece, 1);
      }
    }
    visits += units;
  }

  void poison_checked() {
    for (std::int64_t k = 0; k < checked_values; ++k) a[sweep.checked(k, checked_values)] = poison;
  }

  double expected(std::int64_t i) const {
    if (kind == MemoryKernel::write) return stream_scalar;
    if (kind == MemoryKernel::copy) return source_value(i);
    return source_value(i) + stream_scalar * source_value(second_source + i);
  }

  void verify_sum() const {
    double sum = 0.0;
    for (std::int64_t p = 0; p < sweep.pieces; ++p) {
      sum += static_cast<double>(sweep.visits_of(p, sample_start, visits - sample_start)) *
             source_sum(p * sweep.piece, (p + 1) * sweep.piece);
    }
    if (sum == sample_sum) return;
    throw ProbeFailure(
        "memory read: the sum is {} instead of {}: the kernel or the memory is broken",
        sample_sum,
        sum);
  }

  void verify_stores() const {
    for (std::int64_t k = 0; k < checked_values; ++k) {
      const std::int64_t i = sweep.checked(k, checked_values);
      const bool visited = sweep.visits_of(i / sweep.piece, 0, visits) > 0;
      if (a[i] == (visited ? expected(i) : poison)) continue;
      throw ProbeFailure(
          "memory {}: element {} is {} instead of {}: the kernel or the memory is broken",
          key_of(kind),
          i,
          a[i],
          visited ? expected(i) : poison);
    }
  }
};

Sweep stream_sweep(const MemoryWork& work, KernelShape shape) {
  const double array_bytes = work.working_set.value() / shape.arrays;
  return cut_sweep(static_cast<std::int64_t>(array_bytes / sizeof(double)),
                   static_cast<std::int64_t>(smallest_stream_piece / sizeof(double)) / shape.arrays,
                   vector_doubles);
}

/// Those of this machine, read once; empty where it hides them.
const std::vector<Cache>& caches() {
  static const Outcome<Topology> topology = read_topology();
  static const std::vector<Cache> none;
  const auto* known = std::get_if<Topology>(&topology);
  return known != nullptr ? known->caches : none;
}

/// Pieces to visit once so that what the last cache can hold of all sets is in it.
std::int64_t warm_up_pieces(const Sweep& sweep, double all_sets_bytes) {
  const auto last = last_data_cache(caches());
  const double share = last ? last->size.value() * last->count / all_sets_bytes : 1.0;
  return std::min(sweep.pieces,
                  static_cast<std::int64_t>(std::ceil(share * static_cast<double>(sweep.pieces))));
}

std::vector<Stream> place_streams(const MemoryWork& work, WorkerTeam& team, ArrayPool& pool) {
  const KernelShape shape = shape_of(work.kernel);
  const Sweep sweep = stream_sweep(work, shape);
  // Whole pages apart, arrays do not fall on each other's last store within a page_doubles.
  const std::int64_t stride = (sweep.elements() + page_doubles - 1) / page_doubles * page_doubles;
  const auto array_bytes = static_cast<std::size_t>(stride) * sizeof(double);
  pool.reserve(team,
               static_cast<std::size_t>(shape.arrays - shape.stored_arrays) * array_bytes,
               static_cast<std::size_t>(shape.stored_arrays) * array_bytes);
  std::vector<Stream> streams(team.size());
  for (int worker = 0; worker < team.size(); ++worker) {
    Stream& stream = streams[worker];
    stream.kind = work.kernel;
    stream.kernel = choose_kernel(work);
    stream.sweep = sweep;
    stream.a = static_cast<double*>(pool.target(worker));
    stream.b = pool.source(worker);
    stream.c = stream.b;
    if (work.kernel == MemoryKernel::triad) {
      stream.second_source = stride;
      stream.c = stream.b + stride;
    }
  }
  return streams;
}

constexpr std::int64_t loads_per_unit = 64;  // some 100 ns in L1: long against the loop around it
/// Beyond this, writing the cycle is warm-up enough: following it whole would take longer than the
/// samples, and most of it cannot be in a cache close by.
constexpr double followed_whole_bytes = 16 << 20;
constexpr std::uint64_t cycle_seed = 20;  // any: a fixed one repeats the order
}  // namespace

Measured time_memory(const MemoryWork& work, const Target& target, ArrayPool& pool) {
  const KernelShape shape = shape_of(work.kernel);
  WorkerTeam team(work.workers);
  std::vector<Stream> streams = place_streams(work, team, pool);
  const Sweep sweep = streams.front().sweep;
  const double array_bytes = static_cast<double>(sweep.elements()) * sizeof(double);
  const double set_bytes = array_bytes * shape.arrays;

  team.run([&](int worker) {
    Stream& stream = streams[worker];
    if (shape.stored_arrays > 0) stream.poison_checked();
    stream.run(warm_up_pieces(sweep, set_bytes * work.workers));
  });
  const UnitWork work_units{static_cast<double>(sweep.pieces),
                            [&](int worker, std::int64_t units) { streams[worker].run(units); }};
  Measured measured;
  measured.samples = take_samples(team, work_units, target);
  for (const Stream& stream : streams) {
    shape.stored_arrays > 0 ? stream.verify_stores() : stream.verify_sum();
  }
  const bool in_l1 = std::ranges::any_of(caches(), [&](const Cache& cache) {
    return cache.level == 1 && set_bytes <= cache.size.value();
  });
  const bool allocates = !work.nontemporal && !in_l1;
  measured.bytes = Bytes(set_bytes * work.workers);
  measured.bytes_real =
      measured.bytes + Bytes(allocates ? array_bytes * shape.stored_arrays * work.workers : 0.0);
  if (work.kernel == MemoryKernel::triad) {
    measured.flops = Flops(2.0 * static_cast<double>(sweep.elements()) * work.workers);
  }
  return measured;
}

Measured time_latency(const LatencyWork& work, const Target& target, ArrayPool& pool) {
  const auto last = last_data_cache(caches());
  const auto line = static_cast<std::size_t>(last && last->line_bytes ? *last->line_bytes : 64);
  const auto lines =
      std::max<std::size_t>(2, static_cast<std::size_t>(work.working_set.value()) / line);
  WorkerTeam team(1);
  pool.reserve(team, 0, lines * line);
  auto* memory = static_cast<std::byte*>(pool.target(0));
  void* at = memory;
  void* sample_start = memory;
  team.run([&](int) {
    write_cycle({memory, lines * line}, line, cycle_seed);
    if (static_cast<double>(lines * line) <= followed_whole_bytes) {
      at = follow_cycle(at, static_cast<std::int64_t>((lines + 15) / 16 * 16));
    }
  });

  const UnitWork loads{1.0 / static_cast<double>(loads_per_unit), [&](int, std::int64_t units) {
                         sample_start = at;
                         at = follow_cycle(at, units * loads_per_unit);
                       }};
  Measured measured;
  std::int64_t last_units = 0;
  measured.samples = take_samples(team, loads, target, &last_units);

  void* expected = sample_start;
  for (std::int64_t i = 0; i < last_units * loads_per_unit; ++i) {
    expected = *static_cast<void**>(expected);
  }
  if (at != expected) {
    throw ProbeFailure(
        "memory latency: the chain of loads ended at the wrong line: the kernel or the memory is "
        "broken");
  }
  measured.bytes = Bytes(static_cast<double>(line));
  measured.bytes_real = measured.bytes;
  return measured;
}

Sweep cut_sweep(std::int64_t elements, std::int64_t smallest_piece, std::int64_t granule) {
  const std::int64_t pieces = std::max<std::int64_t>(1, elements / smallest_piece);
  const std::int64_t granules = std::max<std::int64_t>(1, elements / (pieces * granule));
  return {.pieces = pieces, .piece = granules * granule};
}
}  // namespace scaleworth::probes::host
