// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks.h"

#include "tests/catch.h"
#include "tests/unit/trace/analysis/small_jobs.h"

#include <random>

namespace scaleworth::trace {
namespace {
/// True times and what a clock makes of them.
struct ClockTruth {
  std::int64_t offset = 0;  // the rank's clock minus the true time at 0
  double drift = 0.0;
  nanoseconds of(double time) const {
    return nanoseconds(offset + static_cast<std::int64_t>(time * (1.0 + drift)));
  }
};

/// All-reduces every `period` ns; arrivals spread over 200 us, ends over some microseconds.
Job collectives(const std::vector<ClockTruth>& clocks, int count, double period, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> lateness(0.0, 200e3);
  std::normal_distribution<double> skew(0.0, 2e3);
  Job job = job_of(clocks.size());
  for (int index = 0; index < count; ++index) {
    std::vector<double> arrivals;
    for (std::size_t rank = 0; rank < clocks.size(); ++rank)
      arrivals.push_back(index * period + lateness(random));
    const double end = *std::max_element(arrivals.begin(), arrivals.end()) + 30e3;
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
      DeviceEvent& event = add_call(job.recordings[rank], CollectiveKind::all_reduce, 0, 0);
      event.start = clocks[rank].of(arrivals[rank]);
      // Every twentieth end is late by far.
      const double outlier = random() % 20 == 0 ? 80e3 : 0.0;
      event.end = clocks[rank].of(end + std::abs(skew(random)) + outlier);
    }
  }
  return job;
}

/// Largest distance between what the map makes of one true instant on two ranks.
double largest_error(const Alignment& alignment,
                     const std::vector<ClockTruth>& clocks,
                     double last) {
  double largest = 0.0;
  for (const double time : {0.0, last / 2, last})
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
      const nanoseconds here = alignment.map.to_common(rank, clocks[rank].of(time));
      const nanoseconds there = alignment.map.to_common(0, clocks[0].of(time));
      largest = std::max(largest, std::abs(static_cast<double>((here - there).count())));
    }
  return largest;
}

Alignment align(const Job& job) {
  return align_clocks(job, match_collectives(job));
}

TEST_CASE("Offsets of hours and microseconds are found within the stated error") {
  const std::vector<ClockTruth> clocks = {
      {}, {7'200'000'000'000}, {-22'000}, {1'700'000'000'000'000'000}};
  const Alignment alignment = align(collectives(clocks, 60, 1e6, 1));
  CHECK(alignment.report.comparable);
  CHECK(alignment.report.error > nanoseconds::zero());
  CHECK(alignment.report.error < nanoseconds(100'000));
  CHECK(largest_error(alignment, clocks, 60e6) <=
        static_cast<double>(alignment.report.error.count()));
  CHECK(alignment.map.clock(0).offset == nanoseconds::zero());
  CHECK(alignment.report.causality_violations == 0);
  CHECK(alignment.report.ranks[1].matches == 60);
}

TEST_CASE("A drift is found where the recording is long enough to show it, and only there") {
  const std::vector<ClockTruth> clocks = {{0, 5e-6}, {40'000, 25e-6}, {-9'000, 5e-6}};
  const Alignment alignment = align(collectives(clocks, 200, 100e6, 2));
  CHECK(largest_error(alignment, clocks, 20e9) <=
        static_cast<double>(alignment.report.error.count()));
  CHECK(std::abs(alignment.report.ranks[1].drift_ppm - 20.0) < 0.5);
  const std::vector<ClockTruth> steady = {{}, {40'000}, {-9'000}};
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Alignment still = align(collectives(steady, 40, 1e6, seed));
    CHECK(still.report.ranks[1].drift_ppm == 0.0);
  }
}

TEST_CASE("Nobody ends before the last one begins, even where ends alone would say so") {
  Job job = job_of(2);
  // Ends differ by 0 four times of five; but the fifth begin leaves only 70 to 100.
  for (int index = 0; index < 5; ++index) {
    const int at = 1000 * index;
    add_call(job.recordings[0], CollectiveKind::all_reduce, at + (index == 4 ? 170 : 0), at + 200);
    add_call(job.recordings[1], CollectiveKind::all_reduce, at, at + (index == 4 ? 100 : 200));
  }
  const Alignment alignment = align(job);
  CHECK(alignment.map.clock(1).offset == nanoseconds(70));
  CHECK(alignment.report.causality_violations == 0);
}

TEST_CASE("Ranks that share no collective are not compared") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 10);
  const Alignment alignment = align(job);
  CHECK_FALSE(alignment.report.comparable);
  CHECK(alignment.report.reason == Finding(FindingId::clocks_not_tied));
  CHECK_FALSE(alignment.share_a_clock(0, 1));
  job.recordings[0].origin.host = job.recordings[1].origin.host = "node";
  const Alignment one_host = align(job);
  CHECK(one_host.report.comparable);
  CHECK(one_host.share_a_clock(0, 1));
  CHECK(one_host.report.error >= std::chrono::microseconds(22));
}

TEST_CASE("Sets of ranks with collectives of their own are compared within themselves") {
  Job job = job_of(4);
  for (std::size_t rank = 0; rank < 4; ++rank)
    for (int index = 0; index < 8; ++index)
      add_group_call(job.recordings[rank],
                     CollectiveKind::all_reduce,
                     {1000 * index + 10 * static_cast<int>(rank), 1000 * index + 500},
                     rank < 2 ? "a" : "b",
                     index);
  const Alignment alignment = align(job);
  CHECK(alignment.report.comparable);
  CHECK(alignment.share_a_clock(0, 1));
  CHECK_FALSE(alignment.share_a_clock(1, 2));
}

TEST_CASE("Messages in both directions bound a clock from both sides") {
  Job job = job_of(2);
  const auto message = [&](std::size_t from, int send, int receive) {
    add_group_call(job.recordings[from], CollectiveKind::send, {send, send + 500}, "pp").peer =
        static_cast<int>(1 - from);
    add_group_call(
        job.recordings[1 - from], CollectiveKind::receive, {receive - 400, receive}, "pp")
        .peer = static_cast<int>(from);
  };
  // Rank 1 is 1000 ahead; messages take 100 at least.
  message(0, 5000, 6100);
  message(1, 9000, 8100);
  const Alignment alignment = align(job);
  CHECK(alignment.map.clock(1).offset == nanoseconds(-1000));
  CHECK(alignment.report.error == nanoseconds(100));
}

TEST_CASE("The error of few collectives is what causality leaves open") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 1000);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 900, 1000);
  // Ends agree exactly, but anything from -1000 to +100 on rank 1 would be as lawful.
  const Alignment alignment = align(job);
  CHECK(alignment.map.clock(1).offset == nanoseconds::zero());
  CHECK(alignment.report.error == nanoseconds(550));
}

TEST_CASE("Lateness below the clock error gives no verdict across ranks") {
  Job job = job_of(2);
  std::mt19937 random(5);
  for (int index = 0; index < 40; ++index) {
    const int at = 1'000'000 * index;
    for (Recording& recording : job.recordings)
      add_call(recording,
               CollectiveKind::all_reduce,
               at + static_cast<int>(random() % 2'000),
               at + 100'000 + static_cast<int>(random() % 60'000));
  }
  const Alignment alignment = align(job);
  CHECK_FALSE(alignment.report.comparable);
  REQUIRE(alignment.report.reason);
  CHECK(alignment.report.reason->id == FindingId::clocks_too_coarse);
}

TEST_CASE("One timeline has one clock") {
  Job job = job_of(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[rank];
    recording.origin.file = "timeline.json";
    recording.origin.pipeline_stage = 0;
    recording.origin.data_parallel_rank = static_cast<int>(rank);
    for (int index = 0; index < 8; ++index)
      add_call(recording,
               CollectiveKind::all_reduce,
               1000 * index,
               1000 * index + 100 + 50 * static_cast<int>(rank));
  }
  const Alignment alignment = align(job);
  CHECK(alignment.map.clock(1).offset == nanoseconds::zero());
  CHECK(alignment.report.error == nanoseconds(50));
}

TEST_CASE("A clock that is set back an hour while it records gives no verdict across ranks") {
  for (const int back_from : {1, 100, 199}) {
    Job job = collectives({{}, {}, {}}, 200, 1e6, 5);
    const auto late = std::span(job.recordings[1].device_events).subspan(back_from);
    for (DeviceEvent& event : late) {
      event.start -= std::chrono::hours(1);
      event.end -= std::chrono::hours(1);
    }
    std::ranges::sort(job.recordings[1].device_events, {}, &DeviceEvent::start);
    const Alignment alignment = align(job);
    CAPTURE(back_from, alignment.report.error.count());
    CHECK_FALSE(alignment.report.comparable);
    CHECK(alignment.report.reason);
  }
}

TEST_CASE("Hostile times do not overflow") {
  Job job = job_of(3);
  constexpr std::int64_t far = std::int64_t{1} << 61;
  for (std::size_t rank = 0; rank < 3; ++rank)
    for (int index = 0; index < 3; ++index) {
      DeviceEvent& event = add_call(job.recordings[rank], CollectiveKind::all_reduce, 0, 0);
      event.start = nanoseconds(rank == 1 ? -far : (index == 0 ? 0 : far - 1));
      event.end = nanoseconds(rank == 2 ? far : event.start.count() + 1);
    }
  CHECK(align(job).map.ranks() == 3);
}

using Catch::Matchers::WithinAbs;

TEST_CASE("A weighted quantile is where that share of the weight is reached") {
  const std::vector<WeightedValue> values = {{30.0, 1.0}, {10.0, 1.0}, {20.0, 2.0}};
  CHECK(weighted_quantile(values, 0.25) == 10.0);
  CHECK(weighted_quantile(values, 0.5) == 20.0);
  CHECK(weighted_quantile(values, 0.76) == 30.0);
  CHECK_FALSE(weighted_quantile({}, 0.5));
}

TEST_CASE("The scale of most values ignores the one that is far away") {
  // Median 10; absolute deviations 1 0 1 0 4990, of which the median is 1.
  CHECK_THAT(robust_scale({{9.0, 1.0}, {10.0, 1.0}, {11.0, 1.0}, {10.0, 1.0}, {5000.0, 1.0}}),
             WithinAbs(1.4826, 1e-9));
}

TEST_CASE("A slope is found through outliers, exactly for an exact line") {
  std::vector<WeightedValue> values;
  for (int i = 0; i < 20; ++i) values.push_back({3.0 + 0.5 * i, 1.0 + i % 3, 1.0 * i});
  const auto exact = huber_slope(values);
  REQUIRE(exact);
  CHECK_THAT(exact->slope, WithinAbs(0.5, 1e-9));
  CHECK(exact->span == 19.0);
  for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)].value += i % 2 == 0 ? 0.1 : -0.1;
  values[10].value += 1000.0;
  const auto noisy = huber_slope(values);
  REQUIRE(noisy);
  CHECK_THAT(noisy->slope, WithinAbs(0.5, 5.0 * noisy->standard_error));
  CHECK_THAT(noisy->slope, WithinAbs(0.5, 0.05));
}

TEST_CASE("A slope needs three values at different places") {
  CHECK_FALSE(huber_slope({{1.0, 1.0, 0.0}, {2.0, 1.0, 1.0}}));
  CHECK_FALSE(huber_slope({{1.0, 1.0, 4.0}, {2.0, 1.0, 4.0}, {3.0, 1.0, 4.0}}));
}

}  // namespace
}  // namespace scaleworth::trace
