// SPDX-License-Identifier: Apache-2.0
/// The table of the probes of a node's GPUs: `list`, help, plan and tests read it.
#pragma once

#include "probes/gpu/device.h"
#include "probes/recorder.h"
#include "probes/suite.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace scaleworth::probes {

using Devices = std::vector<std::unique_ptr<Device>>;

/// What a plan is made from, without measuring anything.
struct DeviceSetting {
  Suite suite = Suite::quick;
  std::vector<DeviceDescription> devices;
  int host_numa_nodes = 1;
  /// The user's own products (--shape, --shape-file) or a model's (--model): instead of the shape
  /// search; with the name that the user gave each.
  struct NamedProblem {
    std::string name;
    GemmProblem problem;
  };
  std::vector<NamedProblem> own_problems;
};

/// A probe of a node's GPUs.
struct DeviceProbe {
  std::string_view name;      // fields.h
  std::string_view question;  // what a person learns from it
  Seconds (*estimate)(const DeviceSetting& setting);
  /// Asks the devices and records points, each with the GPU's ordinal. Throws ProbeFailure,
  /// NothingToMeasure or Interrupted; points added before stay.
  void (*measure)(Devices& devices, const DeviceSetting& setting, Recorder& recorder);
};

std::span<const DeviceProbe> device_probes();

}  // namespace scaleworth::probes
