// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"
#include "tests/catch.h"
#include "tests/mpi/ranks.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

namespace {

constexpr std::chrono::milliseconds delay{20};

/// Rank 1 comes late from every barrier.
int late_barrier(MpiGroup group) {
  const int status = mpi().barrier(group);
  if (mpi().rank(group) == 1) std::this_thread::sleep_for(delay);
  return status;
}

}  // namespace

TEST_CASE("a late rank shows as a late start, and the others' time as waiting for it",
          "[collectives]") {
  MpiModule late = mpi();
  late.barrier = late_barrier;
  MpiRankGroup group(late, {.available_memory_per_rank = Bytes(1e6), .train = {}});
  const CollectiveMeasured measured = group.time_collective(
      {Collective::all_reduce, CollectiveMode::isolated, Bytes(8.0), group.size()},
      {.relative_half_width = 0.0, .minimum_samples = 8, .maximum_samples = 8});
  if (group.rank() != Rank{0}) return;

  std::vector<RankTiming> of_0;
  std::vector<RankTiming> of_1;
  for (const RankTiming& timing : measured.timings) {
    if (timing.rank == Rank{0}) of_0.push_back(timing);
    if (timing.rank == Rank{1}) of_1.push_back(timing);
  }
  REQUIRE(of_0.size() == 8);
  REQUIRE(of_1.size() == 8);
  std::int64_t latest_ns = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    // A sum cannot be complete before its last summand exists.
    REQUIRE(of_0[i].end_ns >= of_1[i].start_ns);
    latest_ns = std::max(latest_ns, of_1[i].start_ns - of_0[i].start_ns);
  }
  // A busy machine can hide the lateness in some repetitions, not in all.
  REQUIRE(latest_ns >= std::chrono::nanoseconds(delay / 2).count());
}
