// SPDX-License-Identifier: Apache-2.0
/// The probe comm.nccl: collectives of GPUs by topology, size, mode and algorithm.
#pragma once

#include "probes/registry.h"

namespace scaleworth::probes {

/// `setting.max_ranks` GPUs, `setting.available_memory` of one of them. As for one topology that
/// NCCL offers seven ways for an all_reduce.
Seconds estimate_nccl(const Setting& setting);

/// Adds one point per setting: parameters collective, mode, ranks, message_bytes, topology,
/// algorithm and protocol (empty: NCCL's own choice), in_place, registered, shared_gpu, and what
/// ran where it is known; amounts wire_bytes and predicted_s.WAY; series time_s. First NCCL's own
/// choice of each topology, then each way that it offered, forced. A setting that NCCL does not
/// have is left out, with one warning for all. One that finds no memory is left out with all larger
/// ones of its line, which a warning names. Throws NothingToMeasure for one rank, OutOfMemory when
/// one setting after the other finds none.
void measure_nccl(RankGroup& group,
                  const Setting& setting,
                  const RankOptions& options,
                  Recorder& recorder);

/// The entry for a table of probes; asked of a group of ranks on GPUs.
const RankProbe& nccl_probe();

}  // namespace scaleworth::probes
