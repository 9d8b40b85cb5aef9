// SPDX-License-Identifier: Apache-2.0
/// A node of simulated GPUs, and what the real probes record on it.
#pragma once

#include "probes/gpu/registry.h"
#include "src/core/run.h"
#include "tests/sim/gpu/sim_device.h"

#include <string>
#include <vector>

namespace scaleworth::sim {

class SimNode {
 public:
  explicit SimNode(const std::vector<GpuTruth>& truths);

  probes::Devices& devices() { return devices_; }
  SimDevice& gpu(std::size_t index) { return *gpus_.at(index); }
  probes::DeviceSetting setting(probes::Suite suite) const;
  /// The probe's record. Throws what the probe throws; then `run` has what was recorded before.
  const ProbeRecord& measure(const std::string& probe, probes::Suite suite);
  const Run& run() const { return run_; }
  /// Time that the GPUs would have taken so far, one after another.
  Seconds elapsed() const;

 private:
  probes::Devices devices_;
  std::vector<SimDevice*> gpus_;
  Run run_;
};

/// `count` equal GPUs, ordinals from 0.
std::vector<GpuTruth> h100_truths(int count);

}  // namespace scaleworth::sim
