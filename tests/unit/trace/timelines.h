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

/// Rank 1 takes twice as long as rank 0 between its posts of two collectives. Collective 0 has all
/// ranks at 42; rank 1's progress completes it in [60, 64), marked at 64.
inline Timeline two_buckets() {
  Timeline timeline;
  timeline.ranks = 2;
  timeline.progress_inside_calls_only = true;
  timeline.spans = {span(0, Activity::step, 0, 95),
                    span(0, Activity::compute, 0, 20),
                    collective(0, Activity::post, 0, 20, 21),
                    span(0, Activity::compute, 21, 41),
                    collective(0, Activity::post, 1, 41, 42),
                    collective(0, Activity::collective_wait, 0, 42, 64),
                    collective(0, Activity::collective_wait, 1, 64, 90),
                    span(0, Activity::optimizer, 90, 95),
                    span(1, Activity::step, 0, 95),
                    span(1, Activity::compute, 0, 40),
                    collective(1, Activity::post, 0, 40, 42),
                    span(1, Activity::compute, 42, 60),
                    span(1, Activity::progress, 60, 64),
                    collective(1, Activity::collective_wait, 0, 64, 64),
                    span(1, Activity::compute, 64, 82),
                    collective(1, Activity::post, 1, 82, 84),
                    collective(1, Activity::collective_wait, 1, 84, 90),
                    span(1, Activity::optimizer, 90, 95)};
  return timeline;
}

/// All arrive at 10; rank 0 blocks at once, ranks 1 and 2 compute until they are `back`; the
/// collective completes at 50.
inline Timeline three_away(std::int64_t back1, std::int64_t back2) {
  Timeline timeline;
  timeline.ranks = 3;
  timeline.progress_inside_calls_only = true;
  const std::int64_t back[] = {10, back1, back2};
  for (int rank = 0; rank < 3; ++rank) {
    timeline.spans.push_back(span(rank, Activity::step, 0, 50));
    timeline.spans.push_back(collective(rank, Activity::post, 0, 8, 10));
    timeline.spans.push_back(span(rank, Activity::compute, 10, back[rank]));
    timeline.spans.push_back(collective(rank, Activity::collective_wait, 0, back[rank], 50));
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

/// Well-formed: each rank computes, posts and progresses by turns, then waits for three
/// collectives; it marks some of the completions before. Times are not those of a real exchange.
inline Timeline random_training(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Timeline timeline;
  timeline.ranks = static_cast<int>(2 + below(3));
  timeline.clock_error = std::chrono::nanoseconds(below(2) * below(30));
  for (int rank = 0; rank < timeline.ranks; ++rank) {
    const std::int64_t pace = 20 + below(80);
    std::int64_t now = 0;
    const auto add = [&](Activity activity, int sequence, std::int64_t longest) {
      const std::int64_t start = now;
      now += below(longest);
      timeline.spans.push_back(collective(rank, activity, sequence, start, now));
    };
    for (int sequence = 0; sequence < 3; ++sequence) {
      add(Activity::compute, -1, pace);
      add(Activity::post, sequence, 5);
      if (below(2) == 0) add(Activity::progress, -1, 5);
      if (below(4) == 0) add(Activity::collective_wait, sequence, 1);
    }
    add(Activity::compute, -1, pace);
    for (int sequence = 0; sequence < 3; ++sequence) {
      add(Activity::collective_wait, sequence, 150);
    }
    add(Activity::optimizer, -1, 20);
    timeline.spans.push_back(span(rank, Activity::step, 0, now));
  }
  return timeline;
}

}  // namespace scaleworth::testing
