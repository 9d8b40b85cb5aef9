// SPDX-License-Identifier: Apache-2.0
/// When each rank arrived at each collective, and who came last.
#pragma once

#include "src/core/span.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace scaleworth::trace {

/// The arrivals at one collective of one step.
struct Arrivals {
  std::vector<std::optional<std::size_t>> posts;  // by rank: index of its post span
  bool complete = false;                          // every rank arrived
  std::chrono::nanoseconds last{};                // L_q, meaningful when complete
  /// Absent when the two last arrivals lie within the clock error of each other.
  std::optional<Rank> last_rank;
};

using CollectiveKey = std::pair<std::int32_t, std::int32_t>;  // step, sequence

struct ArrivalTable {
  std::map<CollectiveKey, Arrivals> collectives;
  std::int64_t duplicate_posts = 0;
};

/// Reads the post spans of `timeline`; a rank has arrived when its post span ends. Of several posts
/// of a rank at one collective the earliest counts. With a single rank there is nobody to wait for
/// and `last_rank` is that rank.
ArrivalTable collect_arrivals(const Timeline& timeline);

}  // namespace scaleworth::trace
