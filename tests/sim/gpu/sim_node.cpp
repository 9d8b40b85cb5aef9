// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/sim_node.h"

#include "tests/sim/gpu/sim_facts.h"
#include "tests/sim/sim_run.h"

#include <stdexcept>

namespace scaleworth::sim {

SimNode::SimNode(const std::vector<GpuTruth>& truths) {
  MachineFacts environment = facts_of(truths);
  run_.environment = std::move(environment.sections);
  run_.gpu_links = std::move(environment.gpu_links);
  for (const GpuTruth& truth : truths) {
    auto device = std::make_unique<SimDevice>(truth);
    gpus_.push_back(device.get());
    devices_.push_back(std::move(device));
  }
}

probes::DeviceSetting SimNode::setting(probes::Suite suite) const {
  probes::DeviceSetting setting;
  setting.suite = suite;
  for (const auto& device : devices_) setting.devices.push_back(device->description());
  setting.host_numa_nodes = 2;
  return setting;
}

const ProbeRecord& SimNode::measure(const std::string& probe, probes::Suite suite) {
  for (const probes::DeviceProbe& known : probes::device_probes()) {
    if (known.name != probe) continue;
    RunRecorder recorder(run_, probe);
    known.measure(devices_, setting(suite), recorder);
    return probe_in(run_, probe);
  }
  throw std::logic_error("no GPU probe is named " + probe);
}

Seconds SimNode::elapsed() const {
  Seconds total{};
  for (const SimDevice* gpu : gpus_) total += gpu->elapsed();
  return total;
}

std::vector<GpuTruth> h100_truths(int count) {
  std::vector<GpuTruth> truths;
  for (int i = 0; i < count; ++i) truths.push_back(h100_truth(i));
  return truths;
}

}  // namespace scaleworth::sim
