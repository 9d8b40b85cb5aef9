// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/intervals.h"

#include "tests/catch.h"
#include "tests/unit/trace/analysis/one_rank.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using scaleworth::trace::for_each_index;

TEST_CASE("every rank is worked on once", "[ranks]") {
  std::vector<int> calls(1000);
  for_each_index(calls.size(), [&](std::size_t rank) { ++calls[rank]; });
  CHECK(calls == std::vector<int>(1000, 1));
  for_each_index(0, [](std::size_t) { throw std::logic_error("nobody is there"); });
}

TEST_CASE("a rank's failure ends the work and is told", "[ranks]") {
  std::atomic<int> after = 0;
  const auto work = [&](std::size_t rank) {
    if (rank == 3) throw std::runtime_error("rank 3");
    if (rank > 900) ++after;
  };
  try {
    for_each_index(100000, work);
    FAIL("no exception");
  } catch (const std::runtime_error& error) {
    CHECK(error.what() == std::string("rank 3"));
  }
  CHECK(after < 99099);
}

TEST_CASE("no more run at a time than allowed", "[ranks]") {
  for (const int allowed : {1, 2}) {
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    for_each_index(
        200,
        [&](std::size_t) {
          const int now = ++running;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --running;
        },
        static_cast<std::size_t>(allowed));
    CHECK(most >= 1);
    CHECK(most <= allowed);
  }
}

namespace scaleworth::trace {
namespace {
using std::chrono::nanoseconds;

TimeInterval range(int start, int end) {
  return {nanoseconds(start), nanoseconds(end)};
}

IntervalSet random_set(std::mt19937& random) {
  std::uniform_int_distribution<int> time(0, 60);
  std::vector<TimeInterval> ranges;
  for (int i = 0; i < 8; ++i) ranges.push_back(range(time(random), time(random)));
  return IntervalSet(ranges);
}

bool holds(const IntervalSet& set, int time) {
  for (const TimeInterval& r : set.ranges()) {
    if (r.start <= nanoseconds(time) && nanoseconds(time) < r.end) return true;
  }
  return false;
}

TEST_CASE("An interval set joins what overlaps or touches and drops what is empty") {
  const IntervalSet set({range(5, 9), range(1, 3), range(3, 4), range(8, 12), range(20, 20)});
  REQUIRE(set.ranges().size() == 2);
  CHECK(set.ranges()[0].end == nanoseconds(4));
  CHECK(set.ranges()[1].end == nanoseconds(12));
  CHECK(set.length() == nanoseconds(10));
}

TEST_CASE("What lies within a window holds instant by instant on random sets") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const IntervalSet all = random_set(random);
    const IntervalSet window = all.within(range(10, 40));
    for (int t = 0; t < 60; ++t) REQUIRE(holds(window, t) == (holds(all, t) && t >= 10 && t < 40));
  }
}

}  // namespace
}  // namespace scaleworth::trace

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

 private:
  std::mt19937_64 random_;
};

void add_device_event(OneRank& rank, Chance& chance, std::int64_t scale) {
  const std::int64_t start = (chance.below(1200) - 100) * scale;
  const std::int64_t end = start + chance.below(12) * chance.below(12) * scale;
  const auto stream = static_cast<std::uint32_t>(chance.below(4));
  const auto work_class = static_cast<WorkClass>(chance.below(12));
  if (work_class == WorkClass::communication && chance.below(4) > 0) {
    // The split may lie outside of the event: the ledger must not care.
    const std::int64_t split = start + (chance.below(100) - 20) * scale;
    rank.communication(start, split, end, static_cast<int>(chance.below(5)) - 1, stream);
  } else {
    const auto correlation = static_cast<std::uint64_t>(chance.below(100));
    rank.work(work_class, start, end, correlation, stream);
  }
}

void add_host_event(OneRank& rank, Chance& chance, std::int64_t scale) {
  const std::int64_t start = (chance.below(1200) - 100) * scale;
  HostEvent& event = rank.host(static_cast<HostActivity>(chance.below(6)),
                               start,
                               start + (chance.below(12) * chance.below(12) - 3) * scale,
                               std::nullopt,
                               static_cast<std::uint32_t>(chance.below(3)));
  event.correlation = static_cast<std::uint64_t>(chance.below(100));
  if (chance.below(2) == 0) event.cause = static_cast<HostCause>(chance.below(7));
  event.synchronization = static_cast<std::uint32_t>(chance.below(4));
}

/// Anything goes: overlaps, no length, events across boundaries and outside of all steps, host
/// events that end before they start, launches after the work.
OneRank random_rank(std::uint64_t seed) {
  Chance chance(seed);
  // Up to 2^60 ns: the largest times that recordings may have, and more than a double holds.
  const std::int64_t scale = chance.below(4) == 0 ? (std::int64_t{1} << 50) - 1 : 997;
  OneRank rank;
  std::int64_t now = chance.below(50);
  for (std::int64_t steps = 1 + chance.below(5); steps > 0; --steps) {
    const std::int64_t end = now + chance.below(400);
    rank.step(now * scale, end * scale);
    now = end + chance.below(2) * chance.below(100);
  }
  for (int i = 0; i < 3; ++i) {
    Synchronization& wait = rank.recording().synchronizations.emplace_back();
    wait.kind = static_cast<Synchronization::Kind>(chance.below(4));
    wait.stream = static_cast<std::uint32_t>(chance.below(4));
  }
  for (std::int64_t i = chance.below(80); i > 0; --i) add_device_event(rank, chance, scale);
  for (std::int64_t i = chance.below(80); i > 0; --i) add_host_event(rank, chance, scale);
  return rank;
}

template <class Want>
IntervalSet times_of(const Recording& recording, Want want) {
  std::vector<TimeInterval> ranges;
  for (const DeviceEvent& event : recording.device_events) {
    if (want(event.work_class)) ranges.push_back({event.start, event.end});
  }
  return IntervalSet(std::move(ranges));
}

IntervalSet united(const IntervalSet& a, const IntervalSet& b) {
  std::vector<TimeInterval> ranges = a.ranges();
  ranges.insert(ranges.end(), b.ranges().begin(), b.ranges().end());
  return IntervalSet(std::move(ranges));
}

bool communicates(WorkClass work_class) {
  return work_class == WorkClass::communication;
}

bool copies(WorkClass work_class) {
  return work_class == WorkClass::copy;
}

bool computes(WorkClass work_class) {
  return !communicates(work_class) && !copies(work_class);
}

nanoseconds busy(const StepLedger& step, Part from, Part to) {
  nanoseconds sum{};
  for (auto part = static_cast<int>(from); part <= static_cast<int>(to); ++part)
    sum += step.part(static_cast<Part>(part));
  return sum;
}
}  // namespace

TEST_CASE("every ledger sums to its step and agrees with unions of intervals", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    OneRank rank = random_rank(seed);
    for (const StepLedger& step : rank.ledger(4)) {  // check_sums throws
      const TimeInterval window{step.start, step.end};
      const Recording& recording = rank.recording();
      const IntervalSet compute = times_of(recording, &computes).within(window);
      const IntervalSet communication = times_of(recording, &communicates).within(window);
      const IntervalSet copy = times_of(recording, &copies).within(window);
      const IntervalSet both = united(compute, communication);
      CHECK(step.part(Part::compute) == compute.length());
      CHECK(step.communication == communication.length());
      CHECK(busy(step, Part::exposed_transfer, Part::exposed_wait) ==
            both.length() - compute.length());
      CHECK(step.overlapped_transfer + step.overlapped_wait ==
            communication.length() + compute.length() - both.length());
      CHECK(step.part(Part::exposed_copy) + step.overlapped_copy == copy.length());
      CHECK(busy(step, Part::compute, Part::exposed_copy) == united(both, copy).length());
    }
  }
}

TEST_CASE("the order in which events are recorded does not matter", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    OneRank rank = random_rank(seed);
    const auto before = rank.ledger(4);
    auto& events = rank.recording().device_events;
    std::shuffle(events.begin(), events.end(), std::mt19937_64(seed));
    auto& hosts = rank.recording().host_events;
    std::reverse(hosts.begin(), hosts.end());
    sort_events(rank.recording());
    const auto after = rank.ledger(4);
    REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK(part(before[i], Part::compute) == part(after[i], Part::compute));
      CHECK(before[i].compute_by_class == after[i].compute_by_class);
      CHECK(before[i].communication == after[i].communication);
      CHECK(part(before[i], Part::exposed_copy) == part(after[i], Part::exposed_copy));
    }
  }
}
