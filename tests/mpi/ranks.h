// SPDX-License-Identifier: Apache-2.0
/// The MPI module of the running test program; its main opened and initialised it.
#pragma once

#include "probes/host/ranks/mpi_module.h"

namespace scaleworth::probes::host {

const MpiModule& mpi();

}  // namespace scaleworth::probes::host
