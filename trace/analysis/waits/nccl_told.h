// SPDX-License-Identifier: Apache-2.0
/// What NCCL itself told of a collective, beside what its kernels' times say.
#pragma once

#include "src/core/attribution/waits.h"
#include "trace/analysis/collectives/match.h"
#include "trace/timeline/recording.h"

namespace scaleworth::trace {

/// Sets algorithm, protocol and channels of `wait` where all ranks that know them agree, and what
/// each participant's network operations did. `wait` has the participants of `matched`, in order.
void add_what_nccl_told(const Job& job,
                        const MatchedCollective& matched,
                        attribution::CollectiveWait& wait);

}  // namespace scaleworth::trace
