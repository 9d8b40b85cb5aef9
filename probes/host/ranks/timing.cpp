// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/timing.h"

#include "probes/host/ranks/agreement.h"

namespace scaleworth::probes::host {

std::vector<Stamp> time_repetitions(const Operation& operation, int repetitions, int operations) {
  std::vector<Stamp> stamps(static_cast<std::size_t>(repetitions));
  int status = 0;
  for (Stamp& stamp : stamps) {
    status |= operation.mpi.barrier(operation.group);
    stamp.start_ns = steady_now_ns();
    for (int i = 0; i < operations; ++i) status |= run_once(operation);
    stamp.end_ns = steady_now_ns();
  }
  check(operation.mpi, status);
  return stamps;
}

}  // namespace scaleworth::probes::host
