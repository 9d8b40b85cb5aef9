// SPDX-License-Identifier: Apache-2.0
/// NCCL's collectives of a run: a line per algorithm and protocol, the system curve, and how well
/// the library and we predict it.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"

#include <vector>

namespace scaleworth::model {

/// One result per (topology, collective, mode, rank count, in place, registered) of comm.nccl, in
/// that order. Points of one size are pooled. Empty when the probe is missing. Throws UserError
/// when a point lacks a field or names a collective without a definition of bus bandwidth.
std::vector<AlgorithmResult> analyse_algorithms(const Run& run);

}  // namespace scaleworth::model
