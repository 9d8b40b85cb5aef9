// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/clock_offset.h"

#include "probes/host/ranks/agreement.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace scaleworth::probes::host {
namespace {

constexpr int round_trips = 200;

// Rank 0's half: it only sends when it left and when the answer came.
void answer(const MpiModule& mpi, MpiGroup group, const ClockReading& now, int other) {
  std::int64_t unused = 0;
  for (int i = 0; i < round_trips; ++i) {
    const std::int64_t left = now().count();
    check(mpi, mpi.send_receive_bytes(group, &left, other, nullptr, -1, sizeof(left)));
    check(mpi, mpi.send_receive_bytes(group, nullptr, -1, &unused, other, sizeof(unused)));
    const std::int64_t arrived = now().count();
    check(mpi, mpi.send_receive_bytes(group, &arrived, other, nullptr, -1, sizeof(arrived)));
  }
}

ClockOffset ask(const MpiModule& mpi, MpiGroup group, const ClockReading& now) {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t left = 0;
    check(mpi, mpi.send_receive_bytes(group, nullptr, -1, &left, 0, sizeof(left)));
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

}  // namespace scaleworth::probes::host
