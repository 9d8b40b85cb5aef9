// SPDX-License-Identifier: Apache-2.0
/// What a rank tells rank 0 of its measured steps, as it travels between processes.
#pragma once

#include "cuda/training/step/step_spans.h"
#include "src/core/span.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::gpu {

struct RankShare {
  Rank rank;
  ClockMap clock;
  double clock_error_s = 0.0;
  std::uint64_t fingerprint = 0;  // of the weights at the end
  std::vector<StepTimes> steps{};
  std::vector<Span> kernels{};         // of a traced training, see kernel_spans
  std::int64_t dropped_records = 0;  // by the tracer, of this rank's process
};

/// Shares one after another, readable on machines of the same byte order: the ranks of one job.
std::string shares_text(const std::vector<RankShare>& shares);
/// Throws ProbeFailure for a text that is no such thing.
std::vector<RankShare> shares_of(std::string_view text);

/// The spans of all shares, from events; a step is numbered from 0 in each. The clock's method is
/// for the caller to tell.
Timeline timeline_of(const StepSchedule& schedule, const std::vector<RankShare>& shares);

/// The recorded kernels of all shares; absent when a share has none.
std::optional<Timeline> kernel_timeline_of(const std::vector<RankShare>& shares);

}  // namespace scaleworth::gpu
