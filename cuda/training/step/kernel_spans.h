// SPDX-License-Identifier: Apache-2.0
/// The ledger's spans from recorded kernels instead of from events around stages.
#pragma once

#include "cuda/collect/activity.h"
#include "src/core/span.h"

#include <cstdint>
#include <vector>

namespace scaleworth::gpu {

/// Which steps of the recording are wanted.
struct StepWindow {
  int steps = 0;         // the last ones
  std::size_t sums = 0;  // sums over ranks in each step
};

/// Spans of one GPU's recording. A step ends with its optimizer kernel and starts where the one
/// before ended. Kernels of NCCL are sums over ranks, numbered in each step in the order in which
/// they ran: a rank arrives at one when its kernel starts. All other kernels and copies are what
/// the rank does; where it does nothing while sums run behind the last kernel of backward, it waits
/// for them. Time that nothing covers (gaps between launches) stays without a span. Empty when the
/// recording has fewer steps, or a step another number of sums: records were lost.
std::vector<Span> kernel_spans(std::vector<DeviceActivity> activities,
                               const StepWindow& window,
                               Rank rank);

}  // namespace scaleworth::gpu
