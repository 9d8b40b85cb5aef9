// SPDX-License-Identifier: Apache-2.0
/// A barrier whose waiting ranks sleep instead of spinning, so that they do not take the cores of
/// the ranks that work.
#pragma once

#include "probes/host/mpi/module.h"

namespace scaleworth::probes::host {

/// Collective over `group`; the ranks wake every millisecond to look. Throws ProbeFailure when MPI
/// reports an error; a watchdog has to bound the wait.
void sleep_until_all_arrive(const MpiModule& mpi, MpiGroup group);

}  // namespace scaleworth::probes::host
