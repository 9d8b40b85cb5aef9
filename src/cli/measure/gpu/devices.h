// SPDX-License-Identifier: Apache-2.0
/// Which machine is measured: this node's GPUs where it has some, else its cores.
#pragma once

#include "probes/gpu/registry.h"
#include "src/cli/measure/measure_options.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// The GPUs that the probes ask. `devices` is empty when nothing can be asked and only a plan is
/// wanted: `descriptions` are then of an assumed node, as `assumption` says.
struct ChosenDevices {
  probes::Devices devices;
  std::vector<probes::DeviceDescription> descriptions;
  std::string assumption;
};

/// Absent: measure the host (--machine host, or auto on a node without a GPU).
/// Throws NothingMeasurable with the remedy when --machine cuda finds no GPU (unless --dry-run,
/// which then plans for an assumed one), and when GPUs are there but cannot be used: measuring the
/// host instead would answer another question than the one that was asked.
std::optional<ChosenDevices> choose_devices(const MeasureOptions& options);

}  // namespace scaleworth::cli
