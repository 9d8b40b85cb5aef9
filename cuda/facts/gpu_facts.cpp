// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/open_devices.h"
#include "cuda/facts/describe.h"
#include "cuda/facts/gpu_section.h"
#include "cuda/facts/links/link_section.h"
#include "cuda/libraries/ladder.h"
#include "cuda/libraries/nvml.h"
#include "cuda/runtime/error.h"
#include "cuda/telemetry/nvml_source.h"
#include "probes/gpu/open.h"

#include <string>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

using gpu::LinkedGpu;
using NvmlOutcome = Outcome<std::shared_ptr<const gpu::Nvml>>;

Outcome<gpu::NvmlDevice> nvml_device(const NvmlOutcome& nvml, const DeviceDescription& device) {
  if (const auto* table = std::get_if<std::shared_ptr<const gpu::Nvml>>(&nvml)) {
    return gpu::find_nvml_device(*table, device);
  }
  if (const auto* skipped = std::get_if<Skipped>(&nvml)) return *skipped;
  return std::get<Failed>(nvml);
}

FactSection version_section(const NvmlOutcome& nvml) {
  int driver = 0;
  int runtime = 0;
  gpu::check(cudaDriverGetVersion(&driver));
  gpu::check(cudaRuntimeGetVersion(&runtime));
  FactSection section{
      "cuda",
      {{"driver_supports", Value(gpu::cuda_version_text(driver)), "cudaDriverGetVersion"},
       {"runtime", Value(gpu::cuda_version_text(runtime)), "cudaRuntimeGetVersion"}}};
  if (const auto* table = std::get_if<std::shared_ptr<const gpu::Nvml>>(&nvml)) {
    section.facts.push_back(
        {"driver", Value((*table)->driver_version), "nvmlSystemGetDriverVersion"});
  } else {
    const auto* skipped = std::get_if<Skipped>(&nvml);
    section.facts.push_back({"driver",
                             std::nullopt,
                             skipped != nullptr ? skipped->reason : std::get<Failed>(nvml).reason});
  }
  return section;
}

std::vector<std::optional<bool>> peer_access(int device, int count) {
  std::vector<std::optional<bool>> access;
  for (int other = 0; other < count; ++other) {
    int possible = 0;
    const bool answered = cudaDeviceCanAccessPeer(&possible, device, other) == cudaSuccess;
    if (!answered) cudaGetLastError();
    access.push_back(answered ? std::optional(possible != 0) : std::nullopt);
  }
  return access;
}

LinkedGpu linked_gpu(int ordinal, int count, const NvmlOutcome& nvml, FactSection& section) {
  LinkedGpu gpu{gpu::describe_device(ordinal), {}, peer_access(ordinal, count)};
  const auto known = nvml_device(nvml, gpu.description);
  if (const auto* device = std::get_if<gpu::NvmlDevice>(&known)) {
    gpu.nvlinks = gpu::read_nvlinks(*device);
  }
  section = gpu::gpu_section(
      gpu.description, known, gpu::power_method(nvml, gpu.description), gpu.nvlinks);
  return gpu;
}

/// A GPU that is lost has a section with the reason; the others keep theirs.
std::vector<FactSection> sections_of(int count, const NvmlOutcome& nvml) {
  std::vector<FactSection> sections{version_section(nvml)};
  std::vector<LinkedGpu> linked;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    FactSection section{fmt::format("gpu {}", ordinal), {}};
    try {
      linked.push_back(linked_gpu(ordinal, count, nvml, section));
    } catch (const gpu::Error& error) {
      section.facts.push_back({"name", std::nullopt, std::string("CUDA: ") + error.what()});
    }
    sections.push_back(std::move(section));
  }
  sections.push_back(gpu::link_section(linked));
  return sections;
}

}  // namespace

Outcome<std::vector<FactSection>> gpu_facts(const VendorPaths& paths) {
  const Outcome<int> count = gpu::count_gpus();
  if (const auto* skipped = std::get_if<Skipped>(&count)) return *skipped;
  if (const auto* failed = std::get_if<Failed>(&count)) return *failed;
  try {
    return sections_of(std::get<int>(count), gpu::open_nvml(paths.nvml));
  } catch (const gpu::Error& error) {
    return Skipped{std::string("CUDA: ") + error.what()};
  }
}

}  // namespace scaleworth::probes
