// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/gpu_truth.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::sim {
namespace {

constexpr double memory_efficiency = 0.9;
constexpr double load_clock_share = 0.9;  // of the maximum

/// CUDA C++ Programming Guide, table of technical specifications per compute capability.
Bytes shared_memory(int capability) {
  if (capability >= 100 && capability < 120) return Bytes(228 * kibibyte);
  if (capability == 90) return Bytes(228 * kibibyte);
  if (capability == 80) return Bytes(164 * kibibyte);
  if (capability == 75) return Bytes(64 * kibibyte);
  if (capability == 70) return Bytes(96 * kibibyte);
  return Bytes(100 * kibibyte);
}

/// FLOP per clock and multiprocessor that a datasheet's peaks imply.
std::map<NumberFormat, double> per_clock(const std::map<std::string, DatasheetPeak>& peaks,
                                         const GpuDatasheet& datasheet) {
  std::map<NumberFormat, double> result;
  for (const auto& [name, peak] : peaks) {
    const auto format = from_key<NumberFormat>(name);
    if (!format) continue;
    const double clock = peak.clock_hz.value_or(datasheet.maximum_clock_hz.value_or(1.5e9));
    result[*format] = peak.rate.value() / clock / datasheet.multiprocessors;
  }
  return result;
}

probes::DeviceDescription description_of(const GpuDatasheet& datasheet, int ordinal) {
  probes::DeviceDescription description;
  description.ordinal = ordinal;
  description.name = datasheet.name + " (simulated)";
  description.uuid = fmt::format("GPU-00000000-0000-0000-0000-{:012d}", ordinal);
  description.bus_id = fmt::format("0000:{:02x}:00.0", 0x18 + ordinal);
  if (!datasheet.pci_device_ids.empty()) {
    description.pci_device_id = datasheet.pci_device_ids.front();
  }
  description.compute_capability = datasheet.compute_capability;
  description.multiprocessors = datasheet.multiprocessors;
  description.memory = datasheet.memory.value_or(Bytes(16e9));
  description.l2_cache = datasheet.l2_cache.value_or(Bytes(4e6));
  description.shared_per_multiprocessor = shared_memory(datasheet.compute_capability);
  description.maximum_clock_hz = datasheet.maximum_clock_hz.value_or(1.5e9);
  // A clock and a width that make the datasheet's bandwidth, whatever the memory really is.
  description.memory_bus_bits = 4096;
  description.memory_clock_hz =
      datasheet.memory_bandwidth.value_or(BytesPerSecond(1e12)).value() / 2.0 / (4096 / 8);
  return description;
}

}  // namespace

GpuTruth truth_of(const GpuDatasheet& datasheet, int ordinal) {
  GpuTruth truth;
  truth.description = description_of(datasheet, ordinal);
  truth.clock_hz = load_clock_share * truth.description.maximum_clock_hz.value();
  truth.cuda_cores = per_clock(datasheet.cuda_cores, datasheet);
  // Two 16-bit numbers to a register, where the datasheet does not say.
  const double fp32 = truth.cuda_cores.contains(NumberFormat::fp32)
                          ? truth.cuda_cores.at(NumberFormat::fp32)
                          : 128.0;
  truth.cuda_cores.emplace(NumberFormat::fp16, 2.0 * fp32);
  truth.cuda_cores.emplace(NumberFormat::bf16, 2.0 * fp32);
  truth.tensor_cores = per_clock(datasheet.tensor, datasheet);
  const double bandwidth = datasheet.memory_bandwidth.value_or(BytesPerSecond(1e12)).value();
  truth.memory_bytes_per_s = memory_efficiency * bandwidth;
  truth.l2_bytes_per_clock =
      std::max(3.0 * bandwidth / truth.clock_hz, 24.0 * datasheet.multiprocessors);
  // 85 % of a x16 link's raw rate: 63 GB/s in generation 5, half of it per generation before.
  const int generation = datasheet.pcie_generation.value_or(4);
  truth.link.pinned = std::ldexp(0.85 * 63e9, generation - 5);
  truth.link.pcie_generation = generation;
  truth.link.pageable = 0.3 * truth.link.pinned;
  truth.link.peer_access = datasheet.nvlink.has_value();
  if (datasheet.nvlink) truth.link.peer = 0.8 * datasheet.nvlink->value() / 2.0;
  truth.gemm.wrong_algorithm = truth.gemm.too_fast_algorithm = truth.gemm.breaking_algorithm = -1;
  truth.power_limit_w = datasheet.power_limit_w.value_or(300.0);
  truth.power_w = 0.75 * truth.power_limit_w;
  truth.noise.seed = static_cast<std::uint64_t>(ordinal) + 1;
  return truth;
}

GpuTruth h100_truth(int ordinal) {
  for (const GpuDatasheet& datasheet : gpu_catalogue()) {
    if (datasheet.id == "h100-sxm-80gb") return truth_of(datasheet, ordinal);
  }
  throw std::logic_error("the catalogue has no h100-sxm-80gb");
}

}  // namespace scaleworth::sim
