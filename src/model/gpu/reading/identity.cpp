// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/reading/identity.h"

#include "src/model/gpu/reading/pcie_link.h"

#include <limits>
#include <string>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

/// Facts of one section, by name and type; absent where the driver did not tell.
class Facts {
 public:
  Facts(const Run& run, std::string section) : run_(run), section_(std::move(section)) {}

  std::optional<double> number(const char* name) const {
    const Fact* fact = find_fact(run_, section_, name);
    if (fact == nullptr || !fact->value) return std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(&*fact->value)) {
      return static_cast<double>(*whole);
    }
    const auto* real = std::get_if<double>(&*fact->value);
    return real == nullptr ? std::nullopt : std::optional(*real);
  }
  std::optional<int> whole(const char* name) const {
    const auto value = number(name);
    const bool fits = value && *value >= 0.0 && *value <= std::numeric_limits<int>::max();
    return fits ? std::optional(static_cast<int>(*value)) : std::nullopt;
  }
  std::optional<Bytes> bytes(const char* name) const {
    const auto value = number(name);
    return value ? std::optional(Bytes(*value)) : std::nullopt;
  }
  std::string text(const char* name) const {
    const Fact* fact = find_fact(run_, section_, name);
    if (fact == nullptr || !fact->value) return "";
    const auto* value = std::get_if<std::string>(&*fact->value);
    return value == nullptr ? "" : *value;
  }

 private:
  const Run& run_;
  std::string section_;
};

std::optional<BytesPerSecond> link_rate(const Facts& facts) {
  const auto generation = facts.whole("pcie_generation");
  const auto width = facts.whole("pcie_width");
  return generation && width ? pcie_rate(*generation, *width) : std::nullopt;
}

}  // namespace

GpuIdentity identify_gpu(const Run& run, int ordinal, const std::vector<GpuDatasheet>& catalogue) {
  const Facts facts(run, fmt::format("gpu {}", ordinal));
  GpuIdentity gpu;
  gpu.ordinal = ordinal;
  gpu.name = facts.text("name");
  gpu.uuid = facts.text("uuid");
  gpu.pci_device_id = facts.whole("pci_device_id");
  gpu.multiprocessors = facts.whole("multiprocessors");
  gpu.memory = facts.bytes("memory_bytes");
  gpu.l2_cache = facts.bytes("l2_bytes");
  gpu.shared_per_multiprocessor = facts.bytes("shared_per_multiprocessor_bytes");
  gpu.maximum_clock_hz = facts.number("maximum_clock_hz");
  gpu.power_limit_w = facts.number("power_limit_w");
  gpu.default_power_limit_w = facts.number("power_limit_default_w");
  gpu.pcie_bandwidth = link_rate(facts);
  gpu.mig = gpu.uuid.starts_with("MIG-");
  if (gpu.multiprocessors && gpu.memory) {
    const GpuDatasheet* sheet =
        find_datasheet(catalogue, gpu.pci_device_id, *gpu.multiprocessors, *gpu.memory);
    if (sheet != nullptr) gpu.datasheet = *sheet;
  }
  return gpu;
}

}  // namespace scaleworth::model
