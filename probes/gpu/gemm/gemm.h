// SPDX-License-Identifier: Apache-2.0
/// Matrix products by the library's fastest algorithm: the ceiling that training and inference can
/// reach.
#pragma once

#include "probes/gpu/registry.h"

namespace scaleworth::probes {

/// On one GPU of each kind (the next equal one where it is lost), for every format: the reference
/// cube (algorithm search, burst, steady), other cubes, and the best shape that a search finds. Or,
/// when the user gave products, these instead, each with its best algorithm, steady. A format that
/// the library does not support is a warning.
void measure_gpu_gemm(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_gpu_gemm(const DeviceSetting& setting);

/// The same product while 0, 4, 16, 32, ... multiprocessors are left to others, as to a collective.
void measure_gpu_contention(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_gpu_contention(const DeviceSetting& setting);

/// The same product on every GPU, first alone, then on all at the same time. Throws
/// NothingToMeasure for a single GPU.
void measure_gpu_together(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_gpu_together(const DeviceSetting& setting);

}  // namespace scaleworth::probes
