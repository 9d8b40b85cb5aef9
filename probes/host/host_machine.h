// SPDX-License-Identifier: Apache-2.0
/// This node's CPUs as a machine that probes can ask.
#pragma once

#include "probes/machine.h"

#include <memory>
#include <string>

namespace scaleworth::probes::host {
/// OpenBLAS is opened at the first question that needs it; it is searched for where `blas_path` is
/// empty. Facts are those of host_facts.h; who used the CPUs during a run is in LoadWatch
/// (cpu_state.h).
std::unique_ptr<Machine> open_host_machine(const std::string& blas_path);
}  // namespace scaleworth::probes::host
