// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/gpu_facts.h"

#include "cuda/device/cuda_device.h"
#include "cuda/device/telemetry.h"
#include "cuda/libraries/library.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/registry.h"
#include "src/core/files/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <utility>
#include <variant>

#include <cuda_runtime_api.h>

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

std::optional<double> from_kilohertz(std::optional<int> kilohertz) {
  if (!kilohertz) return std::nullopt;
  return *kilohertz * 1e3;
}

std::string uuid_text(const cudaUUID_t& uuid, bool slice) {
  std::string text = slice ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    // 8-4-4-4-12 digits, RFC 4122, as the driver's tools print it.
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
  constexpr auto gpu_pci_device_id = static_cast<cudaDeviceAttr>(139);  // named from CUDA 12.9 on
  const auto combined = attribute(gpu_pci_device_id, ordinal);
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

constexpr const char* from_cuda = "cudaGetDeviceProperties";
constexpr const char* from_attribute = "cudaDeviceGetAttribute";

Fact bytes(const char* name, Bytes value) {
  return {name, Value(static_cast<std::int64_t>(value.value())), from_cuda};
}

template <class T>
Fact known_or(const char* name,
              const std::optional<T>& value,
              const std::string& source,
              const char* otherwise) {
  if (!value) return {name, std::nullopt, otherwise};
  return {name, Value(static_cast<std::int64_t>(*value)), source};
}

std::vector<Fact> identity_facts(const DeviceDescription& device) {
  std::vector<Fact> facts{
      {"name", Value(device.name), from_cuda},
      {"uuid", Value(device.uuid), from_cuda},
      {"compute_capability",
       Value(fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10)),
       from_cuda}};
  if (device.mig) {
    facts.push_back({"mig_slice",
                     Value(true),
                     "memory and multiprocessors are the slice's; clocks, limits and links are "
                     "the whole GPU's, shared with its other slices"});
  }
  return facts;
}

std::vector<Fact> size_facts(const DeviceDescription& device) {
  return {{"multiprocessors", Value(std::int64_t{device.multiprocessors}), from_cuda},
          bytes("memory_bytes", device.memory),
          bytes("l2_bytes", device.l2_cache),
          bytes("shared_per_multiprocessor_bytes", device.shared_per_multiprocessor),
          known_or(
              "maximum_clock_hz", device.maximum_clock_hz, from_attribute, "CUDA reports no clock"),
          known_or("memory_clock_hz", device.memory_clock_hz, from_attribute, "CUDA reports none"),
          known_or("memory_bus_bits", device.memory_bus_bits, from_attribute, "CUDA reports none")};
}

void append(std::vector<Fact>& facts, const std::vector<Fact>& more) {
  facts.insert(facts.end(), more.begin(), more.end());
}

std::vector<Fact> bus_facts(const DeviceDescription& device, const Outcome<NvmlDevice>& nvml) {
  std::vector<Fact> facts{
      {"pci_bus_id", Value(device.bus_id), "cudaDeviceGetPCIBusId"},
      known_or("pci_device_id",
               device.pci_device_id,
               "/sys/bus/pci/devices or CUDA",
               "neither the kernel nor this driver's CUDA reports it"),
      known_or("numa_node", device.numa_node, "/sys/bus/pci/devices or CUDA", "none is known")};
  append(facts, pcie_facts(nvml));
  return facts;
}

std::optional<int> whole_number(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  if (!(stream >> word)) return std::nullopt;
  const bool hexadecimal = word.starts_with("0x");
  const char* begin = word.data() + (hexadecimal ? 2 : 0);
  const char* end = word.data() + word.size();
  int value = 0;
  const auto [rest, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::optional<int> nonnegative(std::optional<int> number) {
  return number && *number < 0 ? std::nullopt : number;
}

}  // namespace

DeviceDescription describe_device(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal));
  DeviceDescription device;
  device.ordinal = ordinal;
  device.name = properties.name;
  // The name of a slice carries its profile: "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
  device.mig = device.name.find(" MIG ") != std::string::npos;
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
  device.maximum_clock_hz = from_kilohertz(positive_attribute(cudaDevAttrClockRate, ordinal));
  device.memory_clock_hz = from_kilohertz(positive_attribute(cudaDevAttrMemoryClockRate, ordinal));
  device.memory_bus_bits = positive_attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  device.numa_node = numa_node(pci, ordinal);
  return device;
}

FactSection gpu_section(const DeviceDescription& device,
                        const Outcome<NvmlDevice>& nvml,
                        const Outcome<std::string>& power,
                        const Nvlinks& links,
                        const std::filesystem::path& root,
                        std::span<const pid_t> own) {
  FactSection section{fmt::format("gpu {}", device.ordinal), identity_facts(device)};
  append(section.facts, size_facts(device));
  append(section.facts, bus_facts(device, nvml));
  const auto* known = std::get_if<NvmlDevice>(&nvml);
  if (known == nullptr) {
    section.facts.push_back({"nvml", std::nullopt, reason_of(nvml)});
    return section;
  }
  append(section.facts, power_facts(*known));
  const auto* method = std::get_if<std::string>(&power);
  section.facts.push_back(method != nullptr
                              ? Fact{"power_reading", Value(*method), "NVML"}
                              : Fact{"power_reading", std::nullopt, reason_of(power)});
  append(section.facts, state_facts(*known, own, root));
  append(section.facts, nvlink_facts(links));
  return section;
}

std::string kernel_bus_id(const std::string& bus_id) {
  const std::size_t colon = bus_id.find(':');
  if (colon == std::string::npos || colon < 4 || bus_id.size() != colon + 8) return {};
  const std::string result = lower_case(bus_id.substr(colon - 4));
  const bool plain = result.find_first_not_of("0123456789abcdef:.") == std::string::npos;
  return plain ? result : std::string();
}

PciSysfs read_pci_sysfs(const std::string& bus_id, const std::filesystem::path& root) {
  const std::string id = kernel_bus_id(bus_id);
  if (id.empty()) return {};
  const std::filesystem::path folder = root / "sys/bus/pci/devices" / id;
  return {whole_number(folder / "device"), nonnegative(whole_number(folder / "numa_node"))};
}
}  // namespace scaleworth::gpu

namespace scaleworth::probes {
namespace {
using gpu::LinkedGpu;
using NvmlOutcome = Outcome<std::shared_ptr<const gpu::Nvml>>;

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
    section.facts.push_back({"driver", std::nullopt, reason_of(nvml)});
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

LinkedGpu linked_gpu(int ordinal,
                     int count,
                     const NvmlOutcome& nvml,
                     std::span<const pid_t> own,
                     FactSection& section) {
  LinkedGpu gpu{gpu::describe_device(ordinal), {}, peer_access(ordinal, count)};
  const auto known = gpu::find_nvml_device(nvml, gpu.description);
  if (const auto* device = std::get_if<gpu::NvmlDevice>(&known)) {
    gpu.nvlinks = gpu::read_nvlinks(*device);
  }
  section = gpu::gpu_section(
      gpu.description, known, gpu::power_method(nvml, gpu.description), gpu.nvlinks, "/", own);
  return gpu;
}

/// A GPU that is lost has a section with the reason; the others keep theirs.
MachineFacts sections_of(int count, const NvmlOutcome& nvml, std::span<const pid_t> own) {
  std::vector<FactSection> sections{version_section(nvml)};
  std::vector<LinkedGpu> linked;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    FactSection section{fmt::format("gpu {}", ordinal), {}};
    try {
      linked.push_back(linked_gpu(ordinal, count, nvml, own, section));
    } catch (const gpu::Error& error) {
      section.facts.push_back({"name", std::nullopt, std::string("CUDA: ") + error.what()});
    }
    sections.push_back(std::move(section));
  }
  sections.push_back(gpu::link_section(linked));
  return {std::move(sections), gpu::gpu_links(linked)};
}
}  // namespace

Outcome<MachineFacts> gpu_facts(const VendorPaths& paths, std::span<const pid_t> own) {
  return and_then(gpu::count_gpus(), [&](int count) -> Outcome<MachineFacts> {
    try {
      return sections_of(count, gpu::open_nvml(paths.nvml), own);
    } catch (const gpu::Error& error) {
      return Skipped{std::string("CUDA: ") + error.what()};
    }
  });
}
}  // namespace scaleworth::probes
