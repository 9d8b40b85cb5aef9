// SPDX-License-Identifier: Apache-2.0
/// Collectives of a run: points with bandwidths, and fits of time over size.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"

#include <vector>

namespace scaleworth::model {

/// One result per (collective, mode, rank count) of comm.collectives, with its points by size (the
/// median over repetitions of the slowest rank's time, with its order-statistic interval), the fits
/// of `fit_communication` and the chosen one. Repeated sizes are pooled. Settings with fewer than
/// two ranks do not communicate and are left out, as are points without usable times. Empty when
/// the probe is missing. Throws UserError when a point lacks a field or names a collective without
/// a definition of bus bandwidth.
std::vector<CollectiveResult> analyse_collectives(const Run& run);

}  // namespace scaleworth::model
