// SPDX-License-Identifier: Apache-2.0
/// This node's CPUs as a machine that probes can ask.
#pragma once

#include "probes/machine.h"

#include <memory>
#include <string>

namespace scaleworth::probes::host {
struct HostOptions {
  std::string blas_path;  // empty: search for OpenBLAS
};

/// BLAS is opened at the first question that needs it. Facts are those of host_facts.h; who
/// used the CPUs during a run is in LoadWatch (cpu_state.h).
std::unique_ptr<Machine> open_host_machine(const HostOptions& options);
}  // namespace scaleworth::probes::host
