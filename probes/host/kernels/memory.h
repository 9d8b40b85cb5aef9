// SPDX-License-Identifier: Apache-2.0
/// The host's answers to "how fast does memory stream?" and "how long does one load take?".
#pragma once

#include "probes/host/workers.h"
#include "probes/machine.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace scaleworth::probes::host {
struct Unmap {
  std::size_t size = 0;
  void operator()(void* memory) const;
};

/// Anonymous memory, advised to use huge pages (2 MiB where the kernel allows): streams then run
/// at the speed of memory rather than of the page tables, and latency has few TLB misses in it.
class Mapping {
 public:
  Mapping() = default;
  /// Throws ProbeFailure naming the size when the system refuses.
  explicit Mapping(std::size_t bytes);

  void* data() const { return memory_.get(); }
  std::size_t size() const { return memory_.get_deleter().size; }

 private:
  std::unique_ptr<void, Unmap> memory_;
};

/// What the first `bytes` of a target region hold, so that a kernel that needs certain values
/// writes them only when the last one left others.
/// Value of element `index` of a source region: a multiple of 1/256 in [0, 1), so that sums of
/// up to 2^45 of them are exact in any order. 256 consecutive ones add up to 127.5.
double source_value(std::int64_t index);

/// Sum of source_value over [first, last).
double source_sum(std::int64_t first, std::int64_t last);

/// Kept between questions, so that a sweep over sizes touches its pages once. Sources keep
/// source_value for ever; targets hold whatever the last kernel left.
class ArrayPool {
 public:
  /// Gives every worker of the team at least this much of each, written for the first time by
  /// that worker. Existing regions are kept where they suffice.
  /// Throws ProbeFailure naming the sizes when memory does not suffice; the pool is then empty.
  void reserve(WorkerTeam& team, std::size_t source_bytes, std::size_t target_bytes);
  const double* source(int worker) const;
  void* target(int worker) const;
  /// Gives all memory back to the system.
  void release() { regions_.clear(); }

 private:
  struct Regions {
    Mapping source;
    Mapping target;
  };
  std::vector<Regions> regions_;
};

/// Streams over doubles with the widest isa. Read adds what it loads (a sum that can be checked),
/// so within L1 its limit may be the adders rather than the loads. One operation is one pass over
/// the working set of every worker. With n bytes in all working sets together:
///   bytes       n: each array is read or written once (STREAM's count)
///   bytes_real  what crosses the L1 data cache's outer edge, where the set does not fit L1 and
///               stores are regular: a stored line is first read, so n + (bytes stored): read n,
///               write 2 n, copy 3/2 n, triad 4/3 n. Equal to `bytes` in L1 and for non-temporal
///               stores. CPUs that elide the read under load (Intel's SpecI2M) move less: then it
///               is an upper bound.
/// The set is rounded down to whole 64-byte lines per array and piece. Sets above 1 MiB are swept
/// in pieces of at least that size; samples are consecutive pieces of a cyclic sweep, so that a
/// sample stays short on any size. Before sampling, the part of the set that the last cache could
/// hold is swept once. Contents are verified (sums exactly, stores at sampled places).
/// Throws ProbeFailure when memory or workers do not suffice or a result is wrong.
Measured time_memory(const MemoryWork& work, const Target& target, ArrayPool& pool);

/// Dependent loads along one random cycle through all lines of the set (Sattolo), one worker, the
/// first allowed CPU. One operation is one load; Measured has no flops and counts the cache line
/// as its bytes. Huge pages are advised: beyond 2 MiB x (TLB entries) misses of the TLB are part
/// of the figure, below they are not.
/// Throws ProbeFailure when memory does not suffice or the chain does not arrive where it must.
Measured time_latency(const LatencyWork& work, const Target& target, ArrayPool& pool);

// The table of stream kernels: read, write, copy and triad, each with regular and with
// non-temporal stores, filled by files that are compiled for one instruction set.

/// What write stores, and triad multiplies c by.
inline constexpr double stream_scalar = 3.0;

/// Streams `passes` times over `elements` doubles (a multiple of 8) of each array it uses, all
/// 64-byte aligned. Returns the sum over all passes for read, 0 for the others. Kernels with
/// non-temporal stores end with the fence that makes them visible.
using StreamKernel = double (*)(
    double* a, const double* b, const double* c, std::int64_t elements, std::int64_t passes);

struct StoreKernels {
  StreamKernel write = nullptr;  // a[i] = stream_scalar
  StreamKernel copy = nullptr;   // a[i] = b[i]
  StreamKernel triad = nullptr;  // a[i] = b[i] + stream_scalar c[i]
};

struct StreamIsa {
  const char* name = nullptr;
  StreamKernel read = nullptr;  // sum of b[i]
  StoreKernels regular;
  StoreKernels nontemporal;
};

/// The widest set that this CPU and its operating system can run.
const StreamIsa& stream_isa();

StreamIsa stream_sse2();
StreamIsa stream_avx2();
StreamIsa stream_avx512();
StreamIsa stream_neon();

/// `pieces` pieces of `piece` elements each.
struct Sweep {
  std::int64_t pieces = 1;
  std::int64_t piece = 0;

  std::int64_t elements() const { return pieces * piece; }
  /// The k-th of `count` elements to check: the first, the last and some between.
  std::int64_t checked(std::int64_t k, std::int64_t count) const {
    return k * (elements() - 1) / (count - 1);
  }
  /// How often a piece was visited when `visits` pieces were, starting with piece `first`.
  std::int64_t visits_of(std::int64_t index, std::int64_t first, std::int64_t visits) const {
    const std::int64_t turn = (index - first % pieces + pieces) % pieces;
    return visits / pieces + (turn < visits % pieces ? 1 : 0);
  }
};

/// The largest sweep over at most `elements`, in pieces of at least `smallest_piece` (one piece if
/// there are fewer elements), each a multiple of `granule` elements and at least one granule.
Sweep cut_sweep(std::int64_t elements, std::int64_t smallest_piece, std::int64_t granule);

/// Writes to the start of every `line` bytes of `memory` the address of another, so that following
/// them visits every line once before it returns: Sattolo's algorithm (Information Processing
/// Letters 22, 1986), which draws all such cycles with equal probability. `memory` must hold at
/// least two lines and `line` be a multiple of a pointer's size.
void write_cycle(std::span<std::byte> memory, std::size_t line, std::uint64_t seed);

/// Follows `loads` pointers (a multiple of 16) from `start`.
void* follow_cycle(void* start, std::int64_t loads);
}  // namespace scaleworth::probes::host
