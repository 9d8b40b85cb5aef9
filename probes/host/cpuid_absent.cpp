// SPDX-License-Identifier: Apache-2.0
#include "probes/host/cpu_state.h"

namespace scaleworth::probes::host {
CpuidFacts read_cpuid() {
  return {};
}
}  // namespace scaleworth::probes::host
