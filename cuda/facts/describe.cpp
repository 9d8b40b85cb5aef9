// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/describe.h"

#include "cuda/facts/pci_sysfs.h"
#include "cuda/runtime/error.h"

#include <array>
#include <string>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr unsigned int nvidia_vendor_id = 0x10de;

/// A driver older than this toolkit does not know every attribute.
std::optional<int> attribute(cudaDeviceAttr name, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, name, ordinal) != cudaSuccess) {
    cudaGetLastError();
    return std::nullopt;
  }
  return value;
}

std::optional<int> positive_attribute(cudaDeviceAttr name, int ordinal) {
  const auto value = attribute(name, ordinal);
  return value && *value <= 0 ? std::nullopt : value;
}

std::optional<double> hertz(std::optional<int> kilohertz) {
  if (!kilohertz) return std::nullopt;
  return *kilohertz * 1e3;
}

/// The name of a slice carries its profile: "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
bool is_slice(const std::string& name) {
  return name.find(" MIG ") != std::string::npos;
}

std::string uuid_text(const cudaUUID_t& uuid, bool slice) {
  std::string text = slice ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string bus_id_of(int ordinal) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal));
  return kernel_bus_id(text.data());
}

/// Sysfs first: it is right for every driver. CUDA combines device and vendor in 32 bits.
std::optional<int> pci_device_id(const PciSysfs& pci, int ordinal) {
  if (pci.device_id) return pci.device_id;
  const auto combined = attribute(cudaDevAttrGpuPciDeviceId, ordinal);
  if (!combined) return std::nullopt;
  const auto bits = static_cast<unsigned int>(*combined);
  const bool vendor_is_low = (bits & 0xffffu) == nvidia_vendor_id;
  return static_cast<int>(vendor_is_low ? bits >> 16 : bits & 0xffffu);
}

std::optional<int> numa_node(const PciSysfs& pci, int ordinal) {
  if (pci.numa_node) return pci.numa_node;
  const auto node = attribute(cudaDevAttrHostNumaId, ordinal);
  return node && *node < 0 ? std::nullopt : node;
}

}  // namespace

probes::DeviceDescription describe_device(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal));
  probes::DeviceDescription device;
  device.ordinal = ordinal;
  device.name = properties.name;
  device.mig = is_slice(device.name);
  device.uuid = uuid_text(properties.uuid, device.mig);
  device.bus_id = bus_id_of(ordinal);
  const PciSysfs pci = read_pci_sysfs(device.bus_id);
  device.pci_device_id = pci_device_id(pci, ordinal);
  device.compute_capability = 10 * properties.major + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.memory = Bytes(static_cast<double>(properties.totalGlobalMem));
  device.l2_cache = Bytes(static_cast<double>(properties.l2CacheSize));
  device.shared_per_multiprocessor =
      Bytes(static_cast<double>(properties.sharedMemPerMultiprocessor));
  device.maximum_clock_hz = hertz(positive_attribute(cudaDevAttrClockRate, ordinal));
  device.memory_clock_hz = hertz(positive_attribute(cudaDevAttrMemoryClockRate, ordinal));
  device.memory_bus_bits = positive_attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  device.numa_node = numa_node(pci, ordinal);
  return device;
}

}  // namespace scaleworth::gpu
