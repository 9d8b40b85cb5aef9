// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/pci_sysfs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <utility>

namespace scaleworth::gpu {
namespace {

std::optional<std::string> first_word(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  if (!(stream >> word)) return std::nullopt;
  return word;
}

std::optional<int> whole_number(const std::filesystem::path& file) {
  const auto word = first_word(file);
  if (!word) return std::nullopt;
  const bool hexadecimal = word->starts_with("0x");
  const char* begin = word->data() + (hexadecimal ? 2 : 0);
  const char* end = word->data() + word->size();
  int value = 0;
  const auto [rest, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

/// "16.0 GT/s PCIe", or "Unknown".
std::optional<double> lane_rate(const std::filesystem::path& file) {
  std::ifstream stream(file);
  double rate = 0.0;
  if (!(stream >> rate) || rate <= 0.0) return std::nullopt;
  return rate;
}

std::optional<int> nonnegative(std::optional<int> number) {
  return number && *number < 0 ? std::nullopt : number;
}

/// The kernel writes 0 or 255 for a width that it does not know.
std::optional<int> width(std::optional<int> lanes) {
  return lanes && (*lanes < 1 || *lanes > 32) ? std::nullopt : lanes;
}

}  // namespace

std::string kernel_bus_id(const std::string& bus_id) {
  const std::size_t colon = bus_id.find(':');
  if (colon == std::string::npos || colon < 4 || bus_id.size() != colon + 8) return {};
  std::string result = bus_id.substr(colon - 4);
  std::ranges::transform(result, result.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  const bool plain = result.find_first_not_of("0123456789abcdef:.") == std::string::npos;
  return plain ? result : std::string();
}

PciSysfs read_pci_sysfs(const std::string& bus_id, const std::filesystem::path& root) {
  const std::string id = kernel_bus_id(bus_id);
  if (id.empty()) return {};
  const std::filesystem::path folder = root / "sys/bus/pci/devices" / id;
  return {whole_number(folder / "device"),
          whole_number(folder / "subsystem_device"),
          whole_number(folder / "subsystem_vendor"),
          nonnegative(whole_number(folder / "numa_node")),
          lane_rate(folder / "current_link_speed"),
          lane_rate(folder / "max_link_speed"),
          width(whole_number(folder / "current_link_width")),
          width(whole_number(folder / "max_link_width"))};
}

std::optional<int> pcie_generation(double gigatransfers_per_s) {
  constexpr std::array<std::pair<double, int>, 6> rates{
      {{2.5, 1}, {5.0, 2}, {8.0, 3}, {16.0, 4}, {32.0, 5}, {64.0, 6}}};
  for (const auto& [rate, generation] : rates) {
    if (std::abs(rate - gigatransfers_per_s) < 0.01) return generation;
  }
  return std::nullopt;
}

}  // namespace scaleworth::gpu
