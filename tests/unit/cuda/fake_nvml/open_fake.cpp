// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/fake_nvml/open_fake.h"

#include "cuda/libraries/library.h"

namespace scaleworth::gpu {

namespace {

template <class Function>
Function* symbol(const char* name) {
  const SharedLibrary library(FAKE_NVML_FILE);
  library.keep();
  return library.need(name);
}

}  // namespace

int fake_clock_readings() {
  return symbol<int()>("fake_nvml_clock_readings")();
}

FakeNvml& fresh_fake_nvml() {
  auto* const state = symbol<FakeNvml*()>("fake_nvml");
  *state() = FakeNvml{};
  return *state();
}

Outcome<std::shared_ptr<const Nvml>> open_fake_nvml() {
  return open_nvml(FAKE_NVML_FILE);
}

probes::DeviceDescription fake_gpu() {
  probes::DeviceDescription gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
  gpu.bus_id = "0000:18:00.0";
  gpu.pci_device_id = 0x2335;
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  gpu.memory = Bytes(150e9);
  gpu.l2_cache = Bytes(52428800.0);
  gpu.shared_per_multiprocessor = Bytes(233472.0);
  gpu.maximum_clock_hz = 1.98e9;
  return gpu;
}

}  // namespace scaleworth::gpu
