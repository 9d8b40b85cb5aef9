// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/gpu_catalogue.h"

#include "src/core/catalogue/embedded.h"
#include "src/core/catalogue/rows.h"
#include "src/core/error.h"
#include "src/core/suggestion.h"
#include "src/core/toml/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth {
namespace {

using toml_file::Table;

constexpr double mebibyte = 1048576.0;
constexpr double gibibyte = 1073741824.0;

constexpr std::array<std::string_view, 11> formats{"fp64",
                                                   "fp32",
                                                   "tf32",
                                                   "bf16",
                                                   "fp16",
                                                   "fp8_e4m3",
                                                   "fp8_e5m2",
                                                   "fp8_block",
                                                   "int8",
                                                   "mxfp8",
                                                   "nvfp4"};

std::optional<double> scaled(std::optional<double> value, double factor) {
  if (value) *value *= factor;
  return value;
}

template <class Unit>
std::optional<Unit> quantity(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return Unit(*value * factor);
}

std::map<std::string, DatasheetPeak> peaks(Table& gpu, const char* key) {
  std::map<std::string, DatasheetPeak> result;
  for (auto& [format, entry] : gpu.named_tables(key)) {
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
      entry.refuse(
          fmt::format("a peak of an unknown number format; known: {}", fmt::join(formats, ", ")));
    }
    const FlopPerSecond rate(entry.positive("tflops") * 1e12);
    result[format] = {rate, scaled(entry.optional_positive("clock_mhz"), 1e6)};
    entry.finish();
  }
  return result;
}

std::vector<int> device_ids(Table& table) {
  std::vector<int> ids;
  for (const std::int64_t id : table.positive_integers("pci_device_ids")) {
    if (id > 0xffff) table.refuse("a PCI device id has 16 bits: 0x2330", "pci_device_ids");
    ids.push_back(static_cast<int>(id));
  }
  return ids;
}

int small_integer(Table& table, const char* key, int most) {
  const std::int64_t value = table.positive_integer(key);
  if (value > most) table.refuse(fmt::format("'{}' must be at most {}", key, most), key);
  return static_cast<int>(value);
}

std::optional<int> optional_small_integer(Table& table, const char* key, int most) {
  const auto value = table.optional_positive_integer(key);
  if (!value) return std::nullopt;
  if (*value > most) table.refuse(fmt::format("'{}' must be at most {}", key, most), key);
  return static_cast<int>(*value);
}

GpuDatasheet datasheet(Table& table, std::set<std::string>& taken) {
  GpuDatasheet gpu;
  gpu.id = unique_id(table, taken);
  gpu.name = table.text("name");
  gpu.aliases = table.texts("aliases");
  for (const std::string& alias : gpu.aliases) {
    if (taken.insert(alias).second) continue;
    table.refuse("an alias is taken by another row: each name means one board", "aliases");
  }
  gpu.pci_device_ids = device_ids(table);
  gpu.compute_capability = small_integer(table, "compute_capability", 999);
  gpu.multiprocessors = small_integer(table, "multiprocessors", 100000);
  gpu.tensor = peaks(table, "tensor");
  gpu.cuda_cores = peaks(table, "cuda_cores");
  gpu.maximum_clock_hz = scaled(table.optional_positive("maximum_clock_mhz"), 1e6);
  gpu.memory_bandwidth =
      quantity<BytesPerSecond>(table.optional_positive("memory_bandwidth_gb_per_s"), 1e9);
  gpu.memory = quantity<Bytes>(table.optional_positive("memory_gib"), gibibyte);
  gpu.l2_cache = quantity<Bytes>(table.optional_positive("l2_mib"), mebibyte);
  gpu.nvlink = quantity<BytesPerSecond>(table.optional_positive("nvlink_gb_per_s"), 1e9);
  gpu.pcie_generation = optional_small_integer(table, "pcie_generation", 99);
  gpu.power_limit_w = table.optional_positive("power_limit_w");
  gpu.source = table.text("source");
  gpu.date = iso_date(table);
  gpu.notes = table.texts("notes");
  table.finish();
  return gpu;
}

}  // namespace

std::vector<GpuDatasheet> parse_gpu_catalogue(std::string_view text, const std::string& file) {
  Table root = Table::parse(text, file);
  std::vector<GpuDatasheet> catalogue;
  std::set<std::string> taken;
  for (Table& entry : root.tables("gpu")) catalogue.push_back(datasheet(entry, taken));
  root.finish();
  if (catalogue.empty()) root.refuse("no GPU in the file: write each as [[gpu]]");
  return catalogue;
}

std::vector<GpuDatasheet> load_gpu_catalogue(const std::string& path) {
  return parse_gpu_catalogue(toml_file::read_small_file(path), path);
}

const std::vector<GpuDatasheet>& gpu_catalogue() {
  static const std::vector<GpuDatasheet> catalogue =
      parse_gpu_catalogue(embedded_gpus_toml(), "data/gpus.toml (built in)");
  return catalogue;
}

const GpuDatasheet& find_gpu(const std::vector<GpuDatasheet>& catalogue, std::string_view name) {
  std::vector<std::string> known;
  for (const GpuDatasheet& gpu : catalogue) {
    if (gpu.id == name) return gpu;
    if (std::find(gpu.aliases.begin(), gpu.aliases.end(), name) != gpu.aliases.end()) return gpu;
    known.push_back(gpu.id);
  }
  throw UserError(fmt::format("no GPU '{}' is known here; {} (all: scaleworth list --known)",
                              name,
                              suggestion(name, known)));
}

const GpuDatasheet* find_datasheet(const std::vector<GpuDatasheet>& catalogue,
                                   std::optional<int> pci_device_id,
                                   int multiprocessors,
                                   Bytes memory) {
  if (!pci_device_id) return nullptr;
  const auto distance = [&](const GpuDatasheet& gpu) {
    const Bytes known = gpu.memory.value_or(Bytes(0.0));
    return std::pair(gpu.multiprocessors != multiprocessors,
                     std::abs(known.value() - memory.value()));
  };
  const GpuDatasheet* best = nullptr;
  for (const GpuDatasheet& gpu : catalogue) {
    const auto& ids = gpu.pci_device_ids;
    if (std::find(ids.begin(), ids.end(), *pci_device_id) == ids.end()) continue;
    if (best == nullptr || distance(gpu) < distance(*best)) best = &gpu;
  }
  return best;
}

}  // namespace scaleworth
