// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"

#include "probes/host/cpu_state.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/mpi/ranks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

namespace {
constexpr Bytes plenty{256.0 * 1024 * 1024};

constexpr StoppingTarget short_target{.relative_half_width = 0.0,
                                      .minimum_samples = 5,
                                      .maximum_samples = 10,
                                      .time_budget = Seconds(0.2)};

std::string failure_of(MpiRankGroup& group, const CollectiveWork& work) {
  try {
    group.time_collective(work, short_target);
  } catch (const ProbeFailure& failure) {
    return failure.what();
  }
  return "no failure";
}
}  // namespace

// A wrong result would throw, so that returning at all is the verification.
TEST_CASE("every collective is verified at odd sizes in both modes", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  const auto collective = GENERATE(from_range(all_collectives));
  const auto mode = GENERATE(CollectiveMode::isolated, CollectiveMode::back_to_back);
  const auto bytes = GENERATE(1.0, 12.0, 4100.0, 99996.0, 1234567.0);
  const CollectiveMeasured measured =
      group.time_collective({collective, mode, Bytes(bytes), group.size()}, short_target);

  REQUIRE(measured.message >= Bytes(bytes));
  if (group.rank() == Rank{0}) {
    REQUIRE(measured.time_s.size() >= 5);
    REQUIRE(measured.timings.size() == measured.time_s.size() * group.size());
  } else {
    REQUIRE(measured.time_s.empty());
    REQUIRE(measured.timings.empty());
  }
}

TEST_CASE("the CPU time of all ranks of a node is their own, not that of other programs",
          "[load]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  const LoadWatch watch;
  // Each rank works so long by its own CPU clock, however busy the machine is.
  const double wanted = 0.2 * (1 + group.rank().index);
  while (watch.own_s() < wanted) continue;
  const double own = watch.own_s();
  const std::vector<RankProcess> processes = processes_here(group, own);
  REQUIRE(static_cast<int>(processes.size()) == group.size());
  REQUIRE(processes[static_cast<std::size_t>(group.rank().index)].id == ::getpid());
  double sum = 0.0;
  for (const RankProcess& process : processes) sum += process.cpu_s;
  const auto mine = static_cast<float>(own);
  float all = 0.0F;
  REQUIRE(mpi().all_reduce_f32(mpi().world(), &mine, &all, 1) == 0);
  REQUIRE(std::abs(sum - static_cast<double>(all)) < 1e-4 * sum);
  REQUIRE(sum >= 0.1 * group.size() * (group.size() + 1));
}

TEST_CASE("texts of all lengths are exchanged between ranks", "[load]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  const auto index = static_cast<std::size_t>(group.rank().index);
  const std::vector<std::string> texts = group.exchange(std::string(3 * index, 'x'));
  REQUIRE(texts.size() == static_cast<std::size_t>(group.size()));
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    CHECK(texts[rank] == std::string(3 * rank, 'x'));
}

TEST_CASE("what MPI ranks do not measure is refused on every rank", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  CollectiveWork work{Collective::all_reduce, CollectiveMode::isolated, Bytes(64.0), group.size()};
  work.in_place = true;
  REQUIRE_THROWS_AS(group.time_collective(work, short_target), NothingToMeasure);
  work = {Collective::gather, CollectiveMode::isolated, Bytes(64.0), group.size()};
  REQUIRE_THROWS_AS(group.time_collective(work, short_target), NothingToMeasure);
}

TEST_CASE("ranks start together, and the sample is from the first start to the last end",
          "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  const CollectiveMeasured measured = group.time_collective(
      {Collective::all_reduce, CollectiveMode::isolated, Bytes(65536.0), group.size()},
      short_target);
  if (group.rank() != Rank{0}) return;

  std::vector<std::int64_t> starts(measured.time_s.size(), INT64_MAX);
  std::vector<std::int64_t> ends(measured.time_s.size());
  std::int64_t first = 1;
  for (const RankTiming& timing : measured.timings) {
    REQUIRE(timing.end_ns >= timing.start_ns);
    auto& start = starts.at(timing.iteration);
    start = std::min(start, timing.start_ns);
    ends[timing.iteration] = std::max(ends[timing.iteration], timing.end_ns);
    first = std::min(first, timing.start_ns);
  }
  REQUIRE(first == 0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    REQUIRE_THAT(measured.time_s[i],
                 WithinRel(1e-9 * static_cast<double>(ends[i] - starts[i]), 1e-12));
  }
}

TEST_CASE("the first ranks measure alone while the others sleep", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  for (int ranks = 2; ranks <= group.size(); ++ranks) {
    const CollectiveMeasured measured = group.time_collective(
        {Collective::all_gather, CollectiveMode::isolated, Bytes(1000.0), ranks}, short_target);
    if (group.rank() != Rank{0}) continue;
    REQUIRE(measured.timings.size() == measured.time_s.size() * ranks);
    for (const RankTiming& timing : measured.timings) REQUIRE(timing.rank < Rank{ranks});
  }
}

TEST_CASE("out of memory on one rank is a failure on all that names it", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  if (group.rank() == Rank{1}) {
    const rlimit none{.rlim_cur = 1, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_AS, &none);
  }
  const std::string failure = failure_of(
      group,
      {Collective::all_reduce, CollectiveMode::isolated, Bytes(64.0 * 1024 * 1024), group.size()});
  setrlimit(RLIMIT_AS, &before);
  REQUIRE(failure == "rank 1: out of memory");
  REQUIRE(failure_of(group,
                     {Collective::broadcast, CollectiveMode::isolated, Bytes(8.0), group.size()}) ==
          "no failure");
}

TEST_CASE("a message beyond the memory of a rank is refused with both amounts", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = Bytes(1000.0), .train = {}});
  // all_reduce needs two buffers of 1024 B.
  const std::string failure = failure_of(
      group, {Collective::all_reduce, CollectiveMode::isolated, Bytes(1024.0), group.size()});
  REQUIRE(contains(failure, "2048 B of buffers do not fit into the 1000 B"));
}

TEST_CASE("a failure inside of a part of the ranks reaches the sleeping ones", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = Bytes(1000.0), .train = {}});
  const std::string failure =
      failure_of(group, {Collective::all_reduce, CollectiveMode::isolated, Bytes(1024.0), 2});
  REQUIRE(contains(failure, "rank 0: 2048 B"));
}

TEST_CASE("more ranks than the job has are refused", "[collectives]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  const std::string failure = failure_of(
      group, {Collective::all_reduce, CollectiveMode::isolated, Bytes(8.0), group.size() + 1});
  REQUIRE(contains(failure, "this job has " + std::to_string(group.size())));
}

TEST_CASE("placement counts ranks and nodes", "[collectives]") {
  const MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  REQUIRE(group.placement() == std::to_string(group.size()) + " ranks on 1 node, shared memory");
}

TEST_CASE("the lowest failed rank gives its reason to all", "[agreement]") {
  const int own = mpi().rank(mpi().world());
  const auto agreeing = [&] {
    agree(mpi(), mpi().world(), trouble_of(own, [&] {
            if (own > 0) throw ProbeFailure("no room");
          }));
  };
  REQUIRE_THROWS_WITH(agreeing(), "rank 1: no room");
}

TEST_CASE("what one rank does for all fails on all, there with its own exception", "[together]") {
  MpiRankGroup group(mpi(), {.available_memory_per_rank = plenty, .train = {}});
  const auto writing = [&] {
    group.together([&] {
      if (group.rank() == Rank{0}) throw UserError("the disk is full");
    });
  };
  if (group.rank() == Rank{0}) {
    REQUIRE_THROWS_AS(writing(), UserError);
  } else {
    REQUIRE_THROWS_WITH(writing(), "rank 0: the disk is full");
  }
}

TEST_CASE("the least memory of all ranks is what each plans with", "[collectives]") {
  const int own = mpi().rank(mpi().world());
  const MpiRankGroup group(mpi(), {.available_memory_per_rank = Bytes(1e6 - own), .train = {}});
  REQUIRE(group.available_memory_per_rank() == Bytes(1e6 - (group.size() - 1)));
}

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
      {Collective::all_reduce, CollectiveMode::back_to_back, Bytes(8.0), group.size()},
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

TEST_CASE("a rank that comes late from the barrier starts an isolated operation with the others",
          "[collectives]") {
  MpiModule late = mpi();
  late.barrier = late_barrier;
  MpiRankGroup group(late, {.available_memory_per_rank = Bytes(1e6), .train = {}});
  const CollectiveMeasured measured = group.time_collective(
      {Collective::all_reduce, CollectiveMode::isolated, Bytes(8.0), group.size()},
      {.relative_half_width = 0.0, .minimum_samples = 8, .maximum_samples = 8});
  if (group.rank() != Rank{0}) return;
  // A busy machine can delay some repetitions, not all.
  REQUIRE(1e-9 * static_cast<double>(std::chrono::nanoseconds(delay / 2).count()) >
          std::ranges::min(measured.time_s));
}
