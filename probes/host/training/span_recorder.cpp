// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <type_traits>

namespace scaleworth::probes::host {
void append_spans(const std::vector<RecordedSpan>& spans,
                  const std::vector<std::string>& names,
                  Rank rank,
                  std::chrono::nanoseconds offset,
                  Timeline& timeline) {
  for (const RecordedSpan& span : spans) {
    timeline.spans.push_back({rank,
                              span.step,
                              span.activity,
                              span.sequence,
                              std::chrono::nanoseconds(span.start_ns) + offset,
                              std::chrono::nanoseconds(span.end_ns) + offset,
                              names.at(span.name)});
  }
}

namespace {
constexpr int round_trips = 200;       // the shortest decides: some 1 ms within a host
constexpr int least_round_trips = 10;  // on a slow network: one of them is undisturbed
constexpr std::chrono::milliseconds enough_time{5};  // for each rank, on a slow network
constexpr std::int64_t no_more = std::numeric_limits<std::int64_t>::min();

// Rank 0's half: it only sends when it left and when the answer came.
void answer(const MpiModule& mpi, MpiGroup group, const ClockReading& now, int other) {
  std::int64_t unused = 0;
  const auto begin = TrainingClock::now();
  for (int i = 0; i <= round_trips; ++i) {
    const bool enough = i >= least_round_trips && TrainingClock::now() - begin > enough_time;
    const std::int64_t left = i == round_trips || enough ? no_more : now().count();
    check(mpi, mpi.send_receive_bytes(group, &left, other, nullptr, -1, sizeof(left)));
    if (left == no_more) return;
    check(mpi, mpi.send_receive_bytes(group, nullptr, -1, &unused, other, sizeof(unused)));
    const std::int64_t arrived = now().count();
    check(mpi, mpi.send_receive_bytes(group, &arrived, other, nullptr, -1, sizeof(arrived)));
  }
}

ClockOffset ask(const MpiModule& mpi, MpiGroup group, const ClockReading& now) {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  while (true) {
    std::int64_t left = 0;
    check(mpi, mpi.send_receive_bytes(group, nullptr, -1, &left, 0, sizeof(left)));
    if (left == no_more) break;
    high = std::min(high, now().count() - left);
    const std::int64_t back = now().count();
    check(mpi, mpi.send_receive_bytes(group, &back, 0, nullptr, -1, sizeof(back)));
    std::int64_t arrived = 0;
    check(mpi, mpi.send_receive_bytes(group, nullptr, -1, &arrived, 0, sizeof(arrived)));
    low = std::max(low, back - arrived);
  }
  if (low > high) throw ProbeFailure("a clock was set while clocks were compared: measure again");
  return {std::chrono::nanoseconds(-(low + (high - low) / 2)),
          std::chrono::nanoseconds((high - low + 1) / 2)};
}

using std::chrono::nanoseconds;

template <class T>
std::vector<T> all_gather(const MpiModule& mpi, MpiGroup group, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(mpi.size(group));
  check(mpi, mpi.all_gather_bytes(group, &own, all.data(), sizeof(T)));
  return all;
}

// What each rank contributes to the timeline.
struct Share {
  std::uint64_t spans = 0;
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};
}  // namespace

ClockOffset measure_clock_offset(const MpiModule& mpi, MpiGroup group, const ClockReading& now) {
  ClockOffset own;
  const int rank = mpi.rank(group);
  for (int other = 1; other < mpi.size(group); ++other) {
    if (rank == 0) answer(mpi, group, now, other);
    if (rank == other) own = ask(mpi, group, now);
  }
  return own;
}

CommonClock measure_common_clock(const MpiModule& mpi, MpiGroup group) {
  if (mpi.node_size(group) == mpi.size(group)) return {{}, "one monotonic clock of one host"};
  const auto now = [] {
    return std::chrono::duration_cast<nanoseconds>(TrainingClock::now().time_since_epoch());
  };
  return {measure_clock_offset(mpi, group, now),
          "monotonic clocks of several hosts, aligned by round trips with rank 0 before and after"};
}

CommonClock combine(const CommonClock& before, const CommonClock& after) {
  const nanoseconds drift = after.own.offset - before.own.offset;
  const nanoseconds half = nanoseconds((std::abs(drift.count()) + 1) / 2);
  return {{before.own.offset + drift / 2, std::max(before.own.error, after.own.error) + half},
          before.method};
}

Timeline gather_timeline(const MpiModule& mpi,
                         MpiGroup group,
                         const SpanRecorder& recorder,
                         const CommonClock& clock) {
  const auto& spans = recorder.spans();
  const Share own{spans.size(), clock.own.offset.count(), clock.own.error.count()};
  const std::vector<Share> shares = all_gather(mpi, group, own);
  std::vector<std::size_t> bytes;
  std::size_t total = 0;
  for (const Share& share : shares) {
    bytes.push_back(share.spans * sizeof(RecordedSpan));
    total += share.spans;
  }
  const bool root = mpi.rank(group) == 0;
  std::vector<RecordedSpan> all(root ? total : 0);
  check(mpi,
        mpi.gather_bytes(
            group, spans.data(), spans.size() * sizeof(RecordedSpan), all.data(), bytes.data()));
  Timeline timeline;
  if (!root) return timeline;
  timeline.ranks = mpi.size(group);
  timeline.clock_method = clock.method;
  timeline.progress_inside_calls_only = true;
  auto next = all.begin();
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const auto end = next + static_cast<std::ptrdiff_t>(shares[rank].spans);
    append_spans({next, end},
                 recorder.names(),
                 Rank{static_cast<int>(rank)},
                 nanoseconds(shares[rank].offset_ns),
                 timeline);
    // Two ranks may be wrong in opposite directions.
    timeline.clock_error = std::max(timeline.clock_error, nanoseconds(2 * shares[rank].error_ns));
    next = end;
  }
  return timeline;
}

void compare_ranks(const MpiModule& mpi,
                   MpiGroup group,
                   std::uint64_t fingerprint,
                   std::size_t dropped,
                   std::vector<Finding>& warnings) {
  const auto fingerprints = all_gather(mpi, group, fingerprint);
  const auto lost = all_gather(mpi, group, static_cast<std::uint64_t>(dropped));
  if (mpi.rank(group) != 0) return;
  const auto differing = std::count_if(fingerprints.begin(), fingerprints.end(), [&](auto one) {
    return one != fingerprints.front();
  });
  if (differing > 0) warnings.emplace_back(FindingId::mpi_sums_differ, differing);
  const auto total = std::accumulate(lost.begin(), lost.end(), std::uint64_t{0});
  if (total > 0) warnings.emplace_back(FindingId::spans_dropped, total);
}
}  // namespace scaleworth::probes::host
