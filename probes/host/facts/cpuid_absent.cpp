// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/cpuid.h"

namespace scaleworth::probes::host {

CpuidFacts read_cpuid() {
  return {};
}

}  // namespace scaleworth::probes::host
