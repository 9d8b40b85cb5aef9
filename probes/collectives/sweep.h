// SPDX-License-Identifier: Apache-2.0
/// The probe comm.collectives: time against message size for six collectives at each rank count.
#pragma once

#include "probes/registry.h"

namespace scaleworth::probes {

Seconds estimate_collectives(const Setting& setting);

/// Adds one point per setting (parameters collective, mode, ranks, message_bytes; series time_s)
/// and each rank's start and end as rows of collectives.csv. Throws NothingToMeasure for one rank.
void measure_collectives(RankGroup& group,
                         const Setting& setting,
                         const RankOptions& options,
                         Recorder& recorder);

}  // namespace scaleworth::probes
