// SPDX-License-Identifier: Apache-2.0
/// The host's answers to "how fast does memory stream?" and "how long does one load take?".
#pragma once

#include "probes/host/memory/array_pool.h"
#include "probes/machine.h"

namespace scaleworth::probes::host {

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
Measured time_memory(const MemoryWork& work, const Target& target);

/// Dependent loads along one random cycle through all lines of the set (Sattolo), one worker, the
/// first allowed CPU. One operation is one load; Measured has no flops and counts the cache line
/// as its bytes. Huge pages are advised: beyond 2 MiB x (TLB entries) misses of the TLB are part
/// of the figure, below they are not.
/// Throws ProbeFailure when memory does not suffice or the chain does not arrive where it must.
Measured time_latency(const LatencyWork& work, const Target& target, ArrayPool& pool);
Measured time_latency(const LatencyWork& work, const Target& target);

}  // namespace scaleworth::probes::host
