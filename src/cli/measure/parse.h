// SPDX-License-Identifier: Apache-2.0
/// Words on the command line that carry a number and its meaning. Each throws UserError with the
/// form expected.
#pragma once

#include "probes/machine.h"
#include "probes/ranks.h"
#include "src/core/units.h"

#include <string>

namespace scaleworth::cli {

/// "RANK:FACTOR", FACTOR >= 1: "1:2.0" makes rank 1 take twice as long to compute.
probes::TrainingWork::Straggler parse_straggler(const std::string& text);

/// "M,N,K" or "M,N,K,BATCH", positive integers: C(M x N) = A(M x K) B(K x N), BATCH products per
/// operation. Precision and workers are left at their defaults.
probes::GemmWork parse_shape(const std::string& text);

/// A compute rate with its unit, "95GFLOP/s" or "989 TFLOP/s"; a bare number is refused, for nobody
/// can tell GF from TF.
FlopPerSecond parse_compute_rate(const std::string& text);

}  // namespace scaleworth::cli
