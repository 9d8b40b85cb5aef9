// SPDX-License-Identifier: Apache-2.0
/// Which transfers are asked of a GPU: with the host, inside it, with its peers.
#pragma once

#include "probes/gpu/roofline/plan.h"

#include <vector>

namespace scaleworth::probes {

Pace transfer_pace(Suite suite);

/// Host to GPU and back, in random order: pinned by copy engine and by kernel, pageable by copy
/// engine, from 4 KiB to 1 GiB (64 MiB in the quick suite and for GPUs after the first of a kind)
/// or a quarter of the available memory; both directions at once at the larger sizes; from and to
/// every NUMA node at one large size where there are several. A copy inside the GPU by both
/// engines. Nothing for a glance.
std::vector<TransferWork> own_transfer_plan(const PlannedDevice& planned, int host_numa_nodes);

/// From planned[index] to every other GPU by copy engine at one large size; standard suite: also
/// both ways at once (asked of the lower ordinal), and by this GPU's kernels, writing and reading.
std::vector<TransferWork> peer_transfer_plan(const std::vector<PlannedDevice>& planned,
                                             std::size_t index);

/// The same large pinned transfer for every GPU at the same time, into the GPUs and out of them;
/// standard suite with several GPUs, else nothing. One row per direction, one work per GPU.
std::vector<std::vector<TransferWork>> together_plan(const std::vector<PlannedDevice>& planned);

/// Mapping, locking, filling and checking the host's memory, for estimates.
Seconds transfer_preparation(const TransferWork& work);

/// One operation, for estimates: links at the generation that GPUs of this age have.
Seconds presumed_transfer_time(const TransferWork& work, const DeviceDescription& asked);

}  // namespace scaleworth::probes
