// SPDX-License-Identifier: Apache-2.0
/// The host's answers to "how fast can you compute?" and "how does that depend on intensity?".
#pragma once

#include "probes/host/memory/array_pool.h"
#include "probes/machine.h"

#include <string>
#include <vector>

namespace scaleworth::probes::host {

/// Instruction sets with a kernel in this build that this CPU and its operating system can run,
/// narrowest first: "sse2", "avx2", "avx512" on x86-64, "neon" on 64-bit Arm.
std::vector<std::string> host_isas();

/// Independent chains x <- x a + b in registers, none touching memory while timed. One operation is
/// a fixed number of FLOPs on each worker; an FMA counts as two, as do the separate multiply and
/// add of "sse2", which has no FMA. The result of every chain of every repetition is compared bit
/// by bit with a scalar reference, so each counted FLOP was retired.
/// Throws ProbeFailure for an unknown or unsupported isa, too many workers, or a wrong result.
Measured time_fma(const FmaWork& work, const Target& target);

/// x[i] <- x[i] a + b, `fma_per_element` times in registers between one load and one store, by the
/// widest isa. One operation is one pass over the working set of every worker:
///   flops = 2 fma_per_element elements, bytes = bytes_real = 2 sizeof element elements
/// (the store hits the line that the load brought, so no write-allocate read is added).
/// The set is rounded down to whole register blocks. Sampled elements are compared bit by bit with
/// a scalar reference that applied the same number of FMAs.
/// Throws ProbeFailure when memory or workers do not suffice or a result is wrong.
Measured time_intensity(const IntensityWork& work, const Target& target, ArrayPool& pool);
Measured time_intensity(const IntensityWork& work, const Target& target);

}  // namespace scaleworth::probes::host
