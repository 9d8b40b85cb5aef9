// SPDX-License-Identifier: Apache-2.0
#include "probes/host/workers/wide_affinity.h"

namespace scaleworth::probes::host {

WideAffinity::WideAffinity() {
  if (sched_getaffinity(0, sizeof former_, &former_) != 0) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  widened_ =
      sched_setaffinity(0, sizeof all, &all) == 0;  // the kernel keeps what the cpuset allows
}

WideAffinity::~WideAffinity() {
  if (widened_) sched_setaffinity(0, sizeof former_, &former_);
}

}  // namespace scaleworth::probes::host
