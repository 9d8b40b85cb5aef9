// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/straggler_parts.h"

#include "src/core/mean_ledger.h"
#include "tests/catch.h"
#include "tests/unit/trace/analysis/small_jobs.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/stragglers.h"

#include <array>
#include <random>

namespace scaleworth::trace {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("Of a stretch counts what is computed, whatever the stream") {
  Job job = job_of(1);
  add_kernel(job.recordings[0], "a", 10, 20);
  add_kernel(job.recordings[0], "b", 15, 30, 8);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 30, 40);
  add_kernel(job.recordings[0], "c", 40, 50);
  const ClockMap clocks(1);
  const IntervalSet computing = compute_intervals(job, clocks)[0];
  const auto within = [&](int start, int end) {
    return computing.within({nanoseconds(start), nanoseconds(end)}).length().count();
  };
  CHECK(within(0, 100) == 30);
  CHECK(within(12, 18) == 6);
  CHECK(within(25, 45) == 10);
  CHECK(within(30, 40) == 0);
  CHECK(within(40, 30) == 0);
}

Delay delay(std::int64_t collective, std::uint32_t late, int arrival, int exposed) {
  Delay result;
  result.collective = collective;
  result.late = Place{late};
  result.arrival = nanoseconds(arrival);
  result.exposed = nanoseconds(exposed);
  result.waiting[Place{0}] = result.exposed;
  return result;
}

TEST_CASE("The share of a delay that was waiting goes onward to whom was waited for") {
  // Collective 0: 100 ns are lost to rank 2. Collective 1: 1000 ns are lost to rank 1, which was
  // 30 ns late by waiting at collective 0 and 10 ns by computing: 3/4 go onward.
  const std::vector<Delay> delays = {delay(0, 2, 50, 100), delay(1, 1, 90, 1000)};
  std::vector<std::optional<Excess>> excess(2);
  excess[1].emplace();
  excess[1]->part(Part::exposed_wait) = nanoseconds(30);
  excess[1]->part(Part::compute) = nanoseconds(10);
  excess[1]->part(Part::exposed_transfer) =
      nanoseconds(-5);  // shorter than the other's: explains nothing
  excess[1]->upstream = {{0, nanoseconds(30)}};
  const Charges charges = charge_delays(delays, excess, 3);
  CHECK_THAT(charges.cost[1], WithinAbs(250.0, 1e-9));
  CHECK_THAT(charges.cost[2], WithinAbs(850.0, 1e-9));
  CHECK(charges.cost[0] == 0.0);
  CHECK_THAT(charges.by_step.at(0)[2], WithinAbs(850.0, 1e-9));
  CHECK_THAT(charges.root_cause[0].at(Place{2}), WithinAbs(850.0, 1e-9));
}

TEST_CASE("What is passed on is neither lost nor made") {
  std::mt19937 random(11);
  for (int repetition = 0; repetition < 100; ++repetition) {
    std::vector<Delay> delays;
    std::vector<std::optional<Excess>> excess(20);
    double sum = 0.0;
    for (int i = 0; i < 20; ++i) {
      delays.push_back(delay(i, random() % 4, 10 * i, static_cast<int>(random() % 1000)));
      sum += static_cast<double>(delays.back().exposed.count());
      if (random() % 3 == 0) continue;
      Excess& of = excess[static_cast<std::size_t>(i)].emplace();
      of.part(Part::exposed_wait) = nanoseconds(static_cast<int>(random() % 200) - 50);
      of.part(Part::compute) = nanoseconds(static_cast<int>(random() % 200) - 50);
      for (int upstream = 0; upstream < 3; ++upstream)
        of.upstream.emplace_back(random() % 25, nanoseconds(random() % 50));
    }
    const Charges charges = charge_delays(delays, excess, 4);
    double charged = 0.0;
    for (const double cost : charges.cost) charged += cost;
    CHECK_THAT(charged, WithinAbs(sum, 1e-6));
  }
}

TEST_CASE("Delays in the future and unknown ones take nothing") {
  const std::vector<Delay> delays = {delay(0, 2, 50, 100), delay(1, 1, 90, 1000)};
  std::vector<std::optional<Excess>> excess(2);
  excess[0].emplace().part(Part::exposed_wait) = nanoseconds(30);
  excess[0]->upstream = {{1, nanoseconds(30)}, {7, nanoseconds(10)}};
  const Charges charges = charge_delays(delays, excess, 3);
  CHECK(charges.cost[1] == 1000.0);
  CHECK(charges.cost[2] == 100.0);
}

TEST_CASE(
    "Longer computing is slower or more kernels, in proportion, and shares sum to the excess") {
  Excess excess;
  excess.part(Part::compute) = nanoseconds(100);
  excess.part(Part::host_late) = nanoseconds(30);
  excess.host[static_cast<std::size_t>(HostCause::allocation)] = nanoseconds(30);
  excess.part(Part::unattributed) = nanoseconds(-20);
  // Two of each are equal: 2 * (40 - 30) = 20 slower; the third took the mean of 40: 60 + 20 = 80
  // longer in total, of which 1/4 slower.
  excess.kernels[{"gemm", "[8, 1, 1]"}] = {2, 2, nanoseconds(80), nanoseconds(60)};
  excess.kernels[{"norm", "[8, 1, 1]"}] = {3, 1, nanoseconds(90), nanoseconds(30)};
  const auto shares = cause_shares(excess, std::nullopt, RankNumbers(Job{}));
  nanoseconds sum{};
  for (const auto& share : shares) sum += share.time;
  CHECK(sum == nanoseconds(110));
  REQUIRE(shares.size() == 4);
  CHECK(shares[0].cause == LateCause::more_work);
  CHECK(shares[0].time == nanoseconds(75));
  CHECK(shares[0].detail == Finding(FindingId::other_number_of_times, 3, 1, "norm"));
  CHECK(shares[1].cause == LateCause::host);
  CHECK(shares[1].host == HostCause::allocation);
  CHECK(shares[2].cause == LateCause::slower_kernels);
  CHECK(shares[2].time == nanoseconds(25));
  CHECK(named_cause(shares) == LateCause::undecided);
}

/// Shares of 100 ns of longer computing, by cause.
std::map<LateCause, std::int64_t> compute_shares(const KernelPairs& kernels) {
  Excess excess;
  excess.part(Part::compute) = nanoseconds(100);
  excess.kernels = kernels;
  std::map<LateCause, std::int64_t> shares;
  for (const auto& share : cause_shares(excess, std::nullopt, RankNumbers(Job{})))
    shares[share.cause] += share.time.count();
  return shares;
}

TEST_CASE("Kernels that take longer at an equal shape are slow, at another shape they do more") {
  using Shares = std::map<LateCause, std::int64_t>;
  // 4 kernels of 10 ns each take 15 ns.
  CHECK(compute_shares(
            {{{"gemm", "[8, 1, 1] [32, 1, 1]"}, {4, 4, nanoseconds(60), nanoseconds(40)}}}) ==
        Shares{{LateCause::slower_kernels, 100}});
  CHECK(compute_shares({{{"gemm", "[12, 1, 1] [32, 1, 1]"}, {4, 0, nanoseconds(60), {}}},
                        {{"gemm", "[8, 1, 1] [32, 1, 1]"}, {0, 4, {}, nanoseconds(40)}}}) ==
        Shares{{LateCause::more_work, 100}});
  // 30 ns longer at an equal shape, 10 ns by a larger one.
  CHECK(
      compute_shares({{{"gemm", "[8, 1, 1] [32, 1, 1]"}, {3, 3, nanoseconds(60), nanoseconds(30)}},
                      {{"norm", "[4, 1, 1] [32, 1, 1]"}, {0, 1, {}, nanoseconds(20)}},
                      {{"norm", "[6, 1, 1] [32, 1, 1]"}, {1, 0, nanoseconds(30), {}}}}) ==
      Shares{{LateCause::slower_kernels, 75}, {LateCause::more_work, 25}});
}

TEST_CASE("Where a rank recorded no shape of a kernel, its inputs may be larger") {
  using Shares = std::map<LateCause, std::int64_t>;
  CHECK(compute_shares({{{"gemm", ""}, {4, 4, nanoseconds(60), nanoseconds(40)}}}) ==
        Shares{{LateCause::longer_kernels, 100}});
  CHECK(compute_shares({{{"gemm", ""}, {4, 0, nanoseconds(60), {}}},
                        {{"gemm", "[8, 1, 1] [32, 1, 1]"}, {0, 4, {}, nanoseconds(40)}}}) ==
        Shares{{LateCause::longer_kernels, 100}});
}

TEST_CASE("A cause is named from 80 % on") {
  Excess excess;
  excess.part(Part::exposed_copy) = nanoseconds(80);
  excess.part(Part::profiler_overhead) = nanoseconds(20);
  CHECK(named_cause(cause_shares(excess, std::nullopt, RankNumbers(Job{}))) == LateCause::copies);
  excess.part(Part::profiler_overhead) = nanoseconds(21);
  CHECK(named_cause(cause_shares(excess, std::nullopt, RankNumbers(Job{}))) ==
        LateCause::undecided);
  CHECK(named_cause({}) == LateCause::undecided);
}

TEST_CASE("The chance to be last so often is the binomial tail") {
  CHECK_THAT(binomial_tail(3, 3, 0.5), WithinAbs(0.125, 1e-12));
  CHECK_THAT(binomial_tail(2, 3, 0.5), WithinAbs(0.5, 1e-12));
  CHECK(binomial_tail(0, 3, 0.5) == 1.0);
}

std::map<std::int32_t, std::vector<double>> costs(const std::vector<std::uint32_t>& largest,
                                                  std::size_t ranks) {
  std::map<std::int32_t, std::vector<double>> cost;
  for (std::size_t step = 0; step < largest.size(); ++step) {
    std::vector<double>& of = cost[static_cast<std::int32_t>(step)];
    of.assign(ranks, 1.0);
    of[largest[step]] = 5.0;
  }
  return cost;
}

TEST_CASE("One rank recurs, ranks rotate, two steps tell nothing") {
  const auto always = count_recurrence(costs({2, 2, 2, 2, 2, 2}, 4), 4, 6, 2.0);
  CHECK(always.recurrence == Recurrence::one_rank);
  CHECK(always.rank == Place{2});
  CHECK(always.beyond_chance);  // 4 * (1/4)^6 = 0.001
  CHECK(always.by_rank == std::vector<std::int32_t>{0, 0, 6, 0});
  CHECK(count_recurrence(costs({0, 1, 2, 3, 0, 1}, 4), 4, 6, 2.0).recurrence ==
        Recurrence::rotating);
  CHECK(count_recurrence(costs({1, 1}, 4), 4, 2, 2.0).recurrence == Recurrence::too_few);
}

/// Two ranks, `count` all-reduces of 10 us each 1 ms; rank 1 computes `late` longer every time.
/// Both launch their kernels in the shapes given.
StragglerReport two_ranks(int late,
                          int error,
                          std::optional<StepExclusion> excluded,
                          std::array<std::string_view, 2> shapes = {"[8, 1, 1]", "[8, 1, 1]"}) {
  Job job = job_of(2);
  StepPlan steps;
  steps.by_rank.resize(2);
  for (int step = 0; step < 8; ++step) {
    const int at = 1'000'000 * step;
    for (int rank = 0; rank < 2; ++rank) {
      Recording& recording = job.recordings[static_cast<std::size_t>(rank)];
      const int end = at + 500'000 + rank * late;
      add_kernel(recording, "gemm", at, end).shape =
          shape_number(recording, shapes.at(static_cast<std::size_t>(rank)));
      add_call(recording, CollectiveKind::all_reduce, end, at + 510'000 + late);
      steps.by_rank[static_cast<std::size_t>(rank)].push_back(
          {step, nanoseconds(at), nanoseconds(at + 1'000'000), excluded});
    }
  }
  Alignment alignment{ClockMap(2), {}, {}};
  alignment.report.error = nanoseconds(error);
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  return find_stragglers(JobReplay(job, steps, waits, alignment),
                         build_job_ledger(job, steps, waits, alignment.map));
}

TEST_CASE("Who waited for whom, what it costs and why, for a job written down by hand") {
  const StragglerReport report = two_ranks(100'000, 1000, {});
  CHECK(pair_wait(report, Rank{0}, Rank{1}).exposed == nanoseconds(800'000));
  CHECK(pair_wait(report, Rank{0}, Rank{1}).total == nanoseconds(800'000));
  CHECK(pair_wait(report, Rank{1}, Rank{0}).exposed == nanoseconds(0));
  REQUIRE(report.stragglers.size() == 1);
  const Straggler& straggler = report.stragglers[0];
  CHECK(straggler.rank == Rank{1});
  CHECK_THAT(straggler.exposed_per_step_ms, WithinAbs(0.1, 1e-9));
  // Without it both ranks would be done 0.1 ms earlier in each of 8 steps: 0.8 ms of 8 ms, the gap
  // behind the last kernel among them, and so much of 2 * 8 ms.
  CHECK_THAT(straggler.gpu_seconds, WithinAbs(0.8 / 8.0 * 16e-3, 2e-6));
  CHECK(straggler.collectives == 8);
  CHECK(straggler.steps == 8);
  CHECK(straggler.significant);
  CHECK(straggler.cause == LateCause::slower_kernels);
  CHECK(report.recurrence == Recurrence::one_rank);
  CHECK_FALSE(report.abstention);
  const auto detail = straggler.shares.at(0).in_detail();
  REQUIRE(detail);
  CHECK(detail->id == FindingId::most_of_it);
  const auto& slower = std::get<std::vector<Finding>>(detail->arguments.at(0).value).at(0);
  CHECK(slower.id == FindingId::equal_shapes_take);
  CHECK_THAT(std::get<double>(slower.arguments.at(0).value), WithinAbs(0.2, 1e-9));
}

TEST_CASE("Waiting for a rank that itself waits for a third begins at the third") {
  // In each of 8 steps rank 2 computes 400 us longer than rank 1, which meets it and only then rank
  // 0: rank 0 waits 410 us for rank 1, of which 400 us since they last met are rank 2's.
  Job job = job_of(3);
  StepPlan steps;
  steps.by_rank.resize(3);
  const auto call = [&](std::size_t rank, int start, int end, const char* group, int step) {
    Recording& recording = job.recordings[rank];
    const NameId name =
        add_group_call(recording, CollectiveKind::all_reduce, {start, end}, group, step).group;
    recording.groups[name].ranks = *group == 'a' ? std::vector{0, 1} : std::vector{1, 2};
  };
  for (int step = 0; step < 8; ++step) {
    const int at = 2'000'000 * step;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      add_kernel(job.recordings[rank], "gemm", at, at + (rank == 2 ? 900'000 : 500'000));
      steps.by_rank[rank].push_back({step, nanoseconds(at), nanoseconds(at + 2'000'000)});
    }
    call(1, at + 500'000, at + 910'000, "b", step);
    call(2, at + 900'000, at + 910'000, "b", step);
    call(0, at + 500'000, at + 930'000, "a", step);
    call(1, at + 910'000, at + 930'000, "a", step);
  }
  Alignment alignment{ClockMap(3), {}, {}};
  alignment.report.error = nanoseconds(1000);
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  const StragglerReport report = find_stragglers(
      JobReplay(job, steps, waits, alignment), build_job_ledger(job, steps, waits, alignment.map));
  CHECK(pair_wait(report, Rank{0}, Rank{1}).exposed == nanoseconds(8 * 410'000));
  CHECK(pair_wait(report, Rank{0}, Rank{2}).exposed == nanoseconds(0));
  // In the first step what was before is not recorded, and charged to rank 1.
  CHECK(pair_wait(report, Rank{0}, Rank{2}).root_cause == nanoseconds(7 * 400'000));
  CHECK(pair_wait(report, Rank{0}, Rank{1}).root_cause == nanoseconds(410'000 + 7 * 10'000));
  CHECK(pair_wait(report, Rank{1}, Rank{2}).root_cause == nanoseconds(8 * 400'000));
  REQUIRE_FALSE(report.stragglers.empty());
  CHECK(report.stragglers[0].rank == Rank{2});
}

TEST_CASE("A rank is late by its GPU, its load or an unknown reason as its kernels' shapes say") {
  const auto cause = [](std::string_view usual, std::string_view late) {
    return two_ranks(100'000, 1000, {}, {usual, late}).stragglers.at(0).cause;
  };
  CHECK(cause("[8, 1, 1] [32, 1, 1]", "[8, 1, 1] [32, 1, 1]") == LateCause::slower_kernels);
  CHECK(cause("[8, 1, 1] [32, 1, 1]", "[10, 1, 1] [32, 1, 1]") == LateCause::more_work);
  CHECK(cause("", "") == LateCause::longer_kernels);
  CHECK(cause("[8, 1, 1] [32, 1, 1]", "") == LateCause::longer_kernels);
  // At the same grid a product may sum over more.
  CHECK(cause("[8, 1, 1] [32, 1, 1] [[4, 64], [64, 4]]",
              "[8, 1, 1] [32, 1, 1] [[4, 80], [80, 4]]") == LateCause::more_work);
  // Only one of the two recorded its operators' inputs.
  CHECK(cause("[8, 1, 1] [32, 1, 1]", "[8, 1, 1] [32, 1, 1] [[4, 80], [80, 4]]") ==
        LateCause::slower_kernels);
}

TEST_CASE("Steps that are all excluded are used") {
  const StragglerReport report =
      two_ranks(100'000, 1000, StepExclusion{ExclusionCause::first_step});
  REQUIRE(report.stragglers.size() == 1);
}

TEST_CASE("Lateness below the clock error is no straggler") {
  const StragglerReport report = two_ranks(12'000, 40'000, {});
  CHECK(report.stragglers.empty());
  CHECK(report.abstention == Finding(FindingId::no_straggler,
                                     Finding(FindingId::lateness_below_error,
                                             in_seconds(nanoseconds(12'000)),
                                             in_seconds(nanoseconds(40'000)))));
}

TEST_CASE("Whether clocks compare is asked before whether a lateness is beyond their error") {
  Job job = job_of(2);
  for (Recording& recording : job.recordings) add_call(recording, CollectiveKind::all_reduce, 0, 9);
  Alignment alignment{ClockMap(2), {}, {}};
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  alignment.report.comparable = false;
  alignment.report.reason = FindingId::clocks_not_tied;
  alignment.report.error = nanoseconds(1000);
  StepPlan steps;
  steps.by_rank.resize(2);
  const auto report = find_stragglers(JobReplay(job, steps, waits, alignment), {});
  CHECK(report.finding == StragglerFinding::no_verdict);
  CHECK(report.abstention == Finding(FindingId::no_verdict, FindingId::clocks_not_tied));
}

TEST_CASE("One rank has nobody to wait for") {
  Job job = job_of(1);
  const Alignment alignment{ClockMap(1), {}, {}};
  StepPlan steps;
  steps.by_rank.resize(1);
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  CHECK(find_stragglers(JobReplay(job, steps, waits, alignment), {}).abstention ==
        Finding(FindingId::waits_for_no_other));
}

}  // namespace
}  // namespace scaleworth::trace
