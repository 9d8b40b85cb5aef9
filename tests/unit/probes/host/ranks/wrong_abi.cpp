// SPDX-License-Identifier: Apache-2.0
/// A module of another interface version.
#include "probes/host/ranks/mpi_module.h"

extern "C" const scaleworth::probes::host::MpiModule* scaleworth_mpi_module() {
  static scaleworth::probes::host::MpiModule table{};
  table.abi = 999;
  return &table;
}
