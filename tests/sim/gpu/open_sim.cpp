// SPDX-License-Identifier: Apache-2.0
/// The GPU layer of the rehearsal program: simulated GPUs, chosen by its environment.
#include "probes/gpu/registry.h"
#include "tests/sim/gpu/rehearsal.h"
#include "tests/sim/gpu/sim_device.h"
#include "tests/sim/gpu/sim_facts.h"

namespace scaleworth::probes {

std::vector<VendorLibrary> vendor_libraries(const VendorPaths& /*paths*/) {
  const char* reason = "this program simulates GPUs: no figure of it is of a machine";
  return {{"simulated GPUs", "1.0", "none", reason, ""}};
}

Outcome<MachineFacts> gpu_facts(const VendorPaths& /*paths*/, std::span<const pid_t> /*own*/) {
  return sim::facts_of(sim::rehearsal_truths(sim::wishes_from_environment()));
}

Outcome<Devices> open_devices(const VendorPaths& /*paths*/) {
  Devices devices;
  for (const sim::GpuTruth& truth : sim::rehearsal_truths(sim::wishes_from_environment())) {
    devices.push_back(std::make_unique<sim::SimDevice>(truth));
  }
  return devices;
}

}  // namespace scaleworth::probes
