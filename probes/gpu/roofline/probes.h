// SPDX-License-Identifier: Apache-2.0
/// The probes of a GPU's roofline that need no library: compute ceilings, memory and latency
/// curves, the intensity ladder, transfers, launches. Each `measure_` asks the devices along a plan
/// and records one point per setting (names in src/core/run/fields.h); each `estimate_` adds up the
/// same plan. A GPU that breaks does not end the measuring of the others.
#pragma once

#include "probes/gpu/registry.h"

namespace scaleworth::probes {

/// Every format of the CUDA cores, and of the tensor cores in registers.
void measure_device_compute(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_device_compute(const DeviceSetting& setting);

/// Read, write, copy and triad from L2 to memory, each by its best kernel; L1 and shared memory.
void measure_device_memory(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_device_memory(const DeviceSetting& setting);

/// One dependent load from L1 to memory; standard suite: and beyond the reach of the TLBs.
void measure_device_latency(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_device_latency(const DeviceSetting& setting);

/// 1, 2, 4 ... 512 FMAs per element of a set in memory.
void measure_device_intensity(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_device_intensity(const DeviceSetting& setting);

/// Between host and GPU, inside a GPU, between GPUs; standard suite: all GPUs at once against the
/// host.
void measure_device_transfer(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_device_transfer(const DeviceSetting& setting);

/// The three kinds of launch.
void measure_device_launch(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
Seconds estimate_device_launch(const DeviceSetting& setting);

}  // namespace scaleworth::probes
