// SPDX-License-Identifier: Apache-2.0
/// NVTX ranges without CUPTI, for a process whose CUPTI another tool has.
#pragma once

namespace scaleworth::gpu {

/// Installs listeners into the table that NVTX 3 hands to injection libraries; ranges with names of
/// one-byte characters go to the session's inbox and window. Returns 1 as NVTX takes for success,
/// 0 when the table has not what is needed.
int listen_to_ranges(void* export_table);

}  // namespace scaleworth::gpu
