// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_run.h"

#include "src/core/run.h"

namespace scaleworth::sim {

Point point_of(Setting setting, const probes::Measured& measured) {
  Point point;
  point.setting = std::move(setting);
  point.amounts = {{Metric::flops, measured.flops.value()},
                   {Metric::bytes, measured.bytes.value()},
                   {Metric::bytes_real, measured.bytes_real.value()}};
  point.samples = {{Metric::wall_s, measured.samples.wall_s},
                   {Metric::cpu_s, measured.samples.cpu_s}};
  point.stop_reason = measured.samples.stop_reason;
  point.warnings = measured.samples.warnings;
  return point;
}

ProbeRecord& probe_in(Run& run, const std::string& name) {
  for (ProbeRecord& probe : run.probes) {
    if (probe.name == name) return probe;
  }
  ProbeRecord& probe = run.probes.emplace_back();
  probe.name = name;
  probe.status = ProbeStatus::measured;
  return probe;
}

}  // namespace scaleworth::sim
