// SPDX-License-Identifier: Apache-2.0
/// The table of GPU probes, in the order in which they run: when time is short, the last are cut.
#include "probes/gpu/registry.h"

#include "probes/gpu/gemm.h"
#include "probes/gpu/roofline.h"
#include "src/core/error.h"
#include "src/core/run.h"

#include <array>

namespace scaleworth::probes {
std::span<const DeviceProbe> device_probes() {
  static constexpr std::array probes{
      DeviceProbe{probe_name::gpu_launch,
                  "What do a launch, a graph's node and waiting for the GPU cost?",
                  &estimate_device_launch,
                  &measure_device_launch},
      DeviceProbe{probe_name::gpu_transfer,
                  "How fast do data move between host and GPU, and from each GPU to each?",
                  &estimate_device_transfer,
                  &measure_device_transfer},
      DeviceProbe{probe_name::gpu_gemm,
                  "How fast does the best algorithm multiply matrices, at which clock and shape?",
                  &estimate_gpu_gemm,
                  &measure_gpu_gemm},
      DeviceProbe{probe_name::gpu_memory,
                  "How fast do data stream from L2 and the GPU's memory?",
                  &estimate_device_memory,
                  &measure_device_memory},
      DeviceProbe{probe_name::gpu_compute,
                  "How many FLOP/s can the CUDA cores retire, per number format?",
                  &estimate_device_compute,
                  &measure_device_compute},
      DeviceProbe{probe_name::gpu_latency,
                  "How long does one dependent load take at each level?",
                  &estimate_device_latency,
                  &measure_device_latency},
      DeviceProbe{probe_name::gpu_together,
                  "Are all GPUs equally fast, and what do they cost each other?",
                  &estimate_gpu_together,
                  &measure_gpu_together},
  };
  return probes;
}

namespace {
/// Seconds on a driver that starts slowly, none when repeated: they belong to no probe's time.
void prepare(Device& device) {
  try {
    device.prepare();
  } catch (const ProbeFailure&) {
    // The probe meets the same and says so.
  }
}
}  // namespace

void measure_in_time(const DeviceProbe& probe,
                     Devices& devices,
                     const DeviceSetting& setting,
                     TimeBudget& budget,
                     Recorder& recorder) {
  budget.pause_for([&] {
    for (const auto& device : devices) prepare(*device);
  });
  budget.begin(probe.estimate(setting));
  CountingRecorder limited(recorder, &budget);
  try {
    probe.measure(devices, setting, limited);
  } catch (const TimeOver&) {
    for (const auto& device : devices) device->release_memory();
    if (limited.points() == 0) throw NothingToMeasure(FindingId::no_time_left);
    recorder.warn(FindingId::rest_out_of_time);
  }
}
}  // namespace scaleworth::probes
