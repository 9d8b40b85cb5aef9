// SPDX-License-Identifier: Apache-2.0
/// The probes of one node's roofline: compute ceilings, memory and latency curves, the intensity
/// ladder. Each `measure_` asks the machine along a plan and records one point per setting (names
/// in src/core/run/fields.h); each `estimate_` adds up the same plan.
#pragma once

#include "probes/registry.h"

namespace scaleworth::probes {

/// Every isa x {fp32, fp64} x {1, all} workers: the ceilings.
void measure_compute(Machine& machine, const Setting& setting, Recorder& recorder);
Seconds estimate_compute(const Setting& setting);

/// {read, write, copy, triad} over working sets from L1 to several times the last cache, regular
/// stores, and non-temporal ones beyond 4 MiB; 1 and all workers.
void measure_memory(Machine& machine, const Setting& setting, Recorder& recorder);
Seconds estimate_memory(const Setting& setting);

/// One dependent load over the same working sets, one worker.
void measure_latency(Machine& machine, const Setting& setting, Recorder& recorder);
Seconds estimate_latency(const Setting& setting);

/// 1, 2, 4 ... 512 FMAs per element of a set beyond the last cache, fp32 and fp64, 1 and all
/// workers.
void measure_intensity(Machine& machine, const Setting& setting, Recorder& recorder);
Seconds estimate_intensity(const Setting& setting);

}  // namespace scaleworth::probes
