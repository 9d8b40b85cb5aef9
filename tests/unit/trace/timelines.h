// SPDX-License-Identifier: Apache-2.0
/// Small builders of timelines with known truth.
#pragma once

#include "src/core/span.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace scaleworth::testing {

inline Span span(int rank, Activity activity, std::int64_t start, std::int64_t end) {
  Span result;
  result.rank = Rank{rank};
  result.activity = activity;
  result.start = std::chrono::nanoseconds(start);
  result.end = std::chrono::nanoseconds(end);
  result.name = activity_name(activity);
  return result;
}

inline Span collective(
    int rank, Activity activity, int sequence, std::int64_t start, std::int64_t end) {
  Span result = span(rank, activity, start, end);
  result.sequence = sequence;
  return result;
}

/// `lateness[r]` ns more compute on rank r than the common 1000; then one all-reduce of 200 ns that
/// starts when the last rank has arrived, and 50 ns of optimizer. Steps follow each other.
inline Timeline straggling_steps(const std::vector<std::int64_t>& lateness, int steps) {
  Timeline timeline;
  timeline.ranks = static_cast<int>(lateness.size());
  const std::int64_t last = 1000 + *std::max_element(lateness.begin(), lateness.end()) + 10;
  std::int64_t begin = 1'000'000;
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < timeline.ranks; ++rank) {
      const std::int64_t computed = begin + 1000 + lateness[static_cast<std::size_t>(rank)];
      const std::int64_t reduced = begin + last + 200;
      std::vector<Span> spans{
          span(rank, Activity::step, begin, reduced + 50),
          span(rank, Activity::compute, begin, computed),
          collective(rank, Activity::post, 0, computed, computed + 10),
          collective(rank, Activity::collective_wait, 0, computed + 10, reduced),
          span(rank, Activity::optimizer, reduced, reduced + 50)};
      for (Span& one : spans) {
        one.step = step;
        timeline.spans.push_back(one);
      }
    }
    begin += last + 250;
  }
  return timeline;
}

/// Anything goes: overlaps, spans outside of steps, missing and doubled steps and posts.
inline Timeline random_timeline(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Timeline timeline;
  timeline.ranks = static_cast<int>(1 + below(4));
  timeline.clock_error = std::chrono::nanoseconds(below(2) * below(30));
  const std::int64_t count = below(120);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = below(1000);
    Span one = span(static_cast<int>(below(timeline.ranks + 1)),
                    static_cast<Activity>(below(7)),
                    start,
                    start + below(20) * below(20) - 3);
    one.step = static_cast<std::int32_t>(below(3));
    one.sequence = static_cast<std::int32_t>(below(4)) - 1;
    timeline.spans.push_back(one);
  }
  return timeline;
}

}  // namespace scaleworth::testing
