// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/sleeping_barrier.h"

#include "probes/host/ranks/agreement.h"

#include <chrono>
#include <thread>

namespace scaleworth::probes::host {

void sleep_until_all_arrive(const MpiModule& mpi, MpiGroup group) {
  MpiRequest request = nullptr;
  check(mpi, mpi.start_barrier(group, &request));
  int done = 0;
  while (true) {
    check(mpi, mpi.test(&request, &done));
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace scaleworth::probes::host
