// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/error.h"
#include "probes/gpu/open.h"

#include <array>
#include <string>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

Fact number(const char* name, std::int64_t value) {
  return {name, value, "cudaGetDeviceProperties"};
}

FactSection facts_of(int device) {
  cudaDeviceProp properties{};
  gpu::check(cudaGetDeviceProperties(&properties, device));
  int clock_khz = 0;
  gpu::check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device));
  return {
      fmt::format("gpu {}", device),
      {{"name", std::string(properties.name), "cudaGetDeviceProperties"},
       {"uuid", uuid_text(properties.uuid), "cudaGetDeviceProperties"},
       {"compute_capability",
        fmt::format("{}.{}", properties.major, properties.minor),
        "cudaGetDeviceProperties"},
       number("multiprocessors", properties.multiProcessorCount),
       number("l2_bytes", properties.l2CacheSize),
       number("memory_bytes", static_cast<std::int64_t>(properties.totalGlobalMem)),
       {"maximum_clock_hz", std::int64_t{clock_khz} * 1000, "cudaDeviceGetAttribute(ClockRate)"}}};
}

FactSection versions() {
  int driver = 0;
  int runtime = 0;
  gpu::check(cudaDriverGetVersion(&driver));
  gpu::check(cudaRuntimeGetVersion(&runtime));
  return {"cuda",
          {{"driver_supports", std::int64_t{driver}, "cudaDriverGetVersion"},
           {"runtime", std::int64_t{runtime}, "cudaRuntimeGetVersion"}}};
}

}  // namespace

Outcome<std::vector<FactSection>> gpu_facts(const VendorPaths& /*paths*/) {
  try {
    int count = 0;
    gpu::check(cudaGetDeviceCount(&count));
    if (count == 0) return Skipped{"the CUDA driver sees no GPU"};
    std::vector<FactSection> sections{versions()};
    for (int device = 0; device < count; ++device) sections.push_back(facts_of(device));
    return sections;
  } catch (const gpu::Error& error) {
    return Skipped{std::string("CUDA: ") + error.what()};
  }
}

}  // namespace scaleworth::probes
