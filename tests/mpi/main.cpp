// SPDX-License-Identifier: Apache-2.0
/// Runs the same Catch2 cases on every rank; a failure on one rank ends all of them, because the
/// others may wait for it in a collective.
#include "probes/host/ranks/mpi_rank_group.h"
#include "tests/mpi/ranks.h"
#include "tests/run_catch.h"

#include <iostream>
#include <variant>

namespace scaleworth::probes::host {

const MpiModule& mpi() {
  static const MpiModule* module = std::get<const MpiModule*>(open_mpi());
  return *module;
}

}  // namespace scaleworth::probes::host

int main(int argc, char** argv) {
  const auto& mpi = scaleworth::probes::host::mpi();
  if (mpi.init() != 0) {
    std::cerr << mpi.last_error() << '\n';
    return 1;
  }
  const int failures = scaleworth::tests::run_catch(argc, argv);
  if (failures != 0) mpi.abort(1);
  return mpi.finalize();
}
