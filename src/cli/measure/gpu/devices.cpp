// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/gpu/devices.h"

#include "probes/gpu/open.h"
#include "src/core/catalogue/gpu_catalogue.h"
#include "src/core/error.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr const char* assumed_id = "h100-sxm-80gb";

/// A plan needs a size of GPU; times hardly depend on it.
ChosenDevices assumed_node(const std::string& reason) {
  const std::vector<GpuDatasheet>& catalogue = gpu_catalogue();
  const auto entry =
      std::find_if(catalogue.begin(), catalogue.end(), [](const GpuDatasheet& candidate) {
        return candidate.id == assumed_id;
      });
  if (entry == catalogue.end()) throw NothingMeasurable(reason);
  probes::DeviceDescription gpu;
  gpu.name = entry->name;
  gpu.compute_capability = entry->compute_capability;
  gpu.multiprocessors = entry->multiprocessors;
  gpu.memory = entry->memory.value_or(Bytes{});
  gpu.l2_cache = entry->l2_cache.value_or(Bytes{});
  gpu.maximum_clock_hz = entry->maximum_clock_hz;
  return {{}, {gpu}, fmt::format("no GPU here ({}): planned for one {}", reason, gpu.name)};
}

}  // namespace

std::optional<ChosenDevices> choose_devices(const MeasureOptions& options) {
  if (options.machine == "host") return std::nullopt;
  Outcome<probes::Devices> opened = probes::open_devices(options.vendor_paths);
  if (const auto* skipped = std::get_if<Skipped>(&opened)) {
    if (options.machine == "auto") return std::nullopt;
    if (options.dry_run) return assumed_node(skipped->reason);
    throw NothingMeasurable(fmt::format(
        "--machine cuda: {}; `scaleworth list` says what was looked for, --machine host measures "
        "the cores",
        skipped->reason));
  }
  if (const auto* failed = std::get_if<Failed>(&opened)) {
    throw NothingMeasurable(fmt::format(
        "{}; to measure the cores of this node instead: --machine host", failed->reason));
  }
  ChosenDevices chosen{std::move(std::get<probes::Devices>(opened)), {}, ""};
  for (const auto& device : chosen.devices) chosen.descriptions.push_back(device->description());
  return chosen;
}

}  // namespace scaleworth::cli
