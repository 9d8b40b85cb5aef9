// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/analysis/efficiency/small_graph.h"

#include <random>

using namespace scaleworth;
using namespace scaleworth::trace;
using namespace std::chrono_literals;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

/// Rank 1 computes 300 us, rank 0 100 us; an all-reduce of 50 us; 50 us of compute on both.
SmallJob uneven_pair() {
  SmallJob job(2);
  job.kernel(0, 0, 100).collective(0, 0, 100, 350).kernel(0, 350, 400);
  job.kernel(1, 0, 300).collective(1, 0, 300, 350).kernel(1, 350, 400);
  return job;
}

/// On both ranks the second kernel is launched 90 us late.
SmallJob late_hosts() {
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    job.call(rank, 0, 5, 1).call(rank, 100, 105, 2);
    job.kernel(rank, 10, 20, 1).kernel(rank, 110, 120, 2);
  }
  return job;
}

/// Steps of compute of random length and an all-reduce on each of `ranks`, launched ahead.
SmallJob random_job(std::size_t ranks, int steps, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> length(20, 200);
  std::uniform_int_distribution<int> pause(1, 60);
  SmallJob job(ranks);
  std::vector<int> now(ranks, 1000);
  std::vector<int> host(ranks, 0);
  int call = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<int> arrivals;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (int i = 0; i < 3; ++i) {
        host[rank] += pause(engine);
        job.call(rank, host[rank], host[rank] + 5, ++call);
        now[rank] = std::max(now[rank] + 1, host[rank] + 10);
        const int start = now[rank];
        now[rank] += length(engine);
        job.kernel(rank, start, now[rank], call);
        host[rank] += 5;
      }
      arrivals.push_back(++now[rank]);
    }
    const int end = *std::max_element(arrivals.begin(), arrivals.end()) + length(engine) / 2;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      job.collective(rank, static_cast<std::size_t>(step), arrivals[rank], end);
      now[rank] = end;
    }
  }
  return job;
}

const Efficiency& require(const EfficiencyResult& result) {
  REQUIRE(result.efficiency);
  return *result.efficiency;
}

}  // namespace

TEST_CASE("factors of an uneven pair are as computed by hand", "[efficiency]") {
  const EfficiencyResult result = uneven_pair().measure();
  const Efficiency& factors = require(result);
  // Useful 150 and 350 of 400 us. With a transfer of no length the all-reduce ends at 300 and the
  // last kernel at 350.
  REQUIRE(factors.runtime == 400us);
  REQUIRE(factors.useful == std::vector<nanoseconds>{150us, 350us});
  REQUIRE_THAT(factors.parallel, WithinRel(0.625, 1e-12));
  REQUIRE_THAT(factors.load_balance, WithinRel(250.0 / 350.0, 1e-12));
  REQUIRE_THAT(factors.transfer, WithinRel(350.0 / 400.0, 1e-12));
  REQUIRE_THAT(factors.serialization, WithinRel(1.0, 1e-12));
  REQUIRE_THAT(factors.replay_error, WithinAbs(0.0, 1e-12));
}

TEST_CASE("a rank that computes longer takes as long as its peers in the what-if", "[efficiency]") {
  // Rank 1 computes 150 instead of 350 us: it comes at 300 * 150/350 = 128.57 us, the transfer
  // takes 50 us and rank 0's last kernel 50 us.
  const EfficiencyResult result = uneven_pair().measure(blame(1));
  const auto& change = require(result).what_if.at(0);
  REQUIRE(change.change == ReplayChange::on_time);
  REQUIRE(change.units == std::vector<std::string>{"rank 1"});
  CHECK_THAT(static_cast<double>(change.step_time.count()), WithinAbs(228'571.0, 2.0));
  CHECK(change.saved == 400us - change.step_time);
}

// Rank 0 computes 200 us, then 100 us of its optimizer; rank 1 400 and 200 us. A transfer of 100 us
// lies between. Rank 1 begins its step 100 us after rank 0, because its optimizer in the step
// before took so much longer: a step takes 400 + 100 + 200 = 700 us. As fast as rank 0 it would not
// have begun late: 200 + 100 + 100 = 400 us.
TEST_CASE("without its lateness a rank begins its steps earlier, too", "[efficiency]") {
  SmallJob job(2);
  job.kernel(0, 0, 200).collective(0, 0, 200, 600).kernel(0, 600, 700);
  job.kernel(1, 100, 500).collective(1, 0, 500, 600).kernel(1, 600, 800);
  job.step(0, 4, 0, 700).step(1, 4, 100, 800);
  const EfficiencyResult result = job.measure(blame(1));
  const auto& change = require(result).what_if.at(0);
  REQUIRE(change.change == ReplayChange::on_time);
  CHECK_THAT(static_cast<double>(change.step_time.count()), WithinAbs(400'000.0, 200.0));
}

// Rank 1 computes 300 us before and 50 us after, rank 0 100 and 50 us; their mean is 250 us. Even,
// rank 1 comes at 300 * 250/350 = 214.29 us; the transfer takes 50 us and rank 0's last kernel
// 50 * 250/150 = 83.33 us: 347.62 us instead of 400.
TEST_CASE("work is spread evenly over the stages of an uneven pipeline", "[efficiency]") {
  SmallJob job = uneven_pair();
  for (int rank = 0; rank < 2; ++rank)
    job.job().recordings[static_cast<std::size_t>(rank)].origin.pipeline_stage = rank;
  auto stragglers = blame(1);
  stragglers.stragglers[0].level = LateUnit::stage;
  const EfficiencyResult result = job.measure(stragglers);
  REQUIRE(result.efficiency);
  const auto& all = result.efficiency->what_if;
  const auto even = std::find_if(all.begin(), all.end(), [](const Efficiency::WhatIf& one) {
    return one.change == ReplayChange::even_stages;
  });
  REQUIRE(even != all.end());
  CHECK_THAT(static_cast<double>(even->step_time.count()), WithinAbs(347'619.0, 2.0));
  for (const Efficiency::WhatIf& one : all) CHECK(one.change != ReplayChange::on_time);
}

TEST_CASE("a rank that alone has work in the window keeps nobody waiting", "[efficiency]") {
  SmallJob job(2);
  job.kernel(1, 0, 100);
  const EfficiencyResult result = job.measure(blame(1));
  REQUIRE(result.efficiency);
  for (const Efficiency::WhatIf& one : result.efficiency->what_if)
    if (one.change == ReplayChange::on_time) CHECK(one.saved == 0ns);
}

TEST_CASE("a straggler that may be chance is not taken away", "[efficiency]") {
  auto stragglers = blame(1);
  stragglers.stragglers[0].significant = false;
  const EfficiencyResult result = uneven_pair().measure(stragglers);
  for (const auto& change : require(result).what_if)
    REQUIRE(change.change != ReplayChange::on_time);
}

TEST_CASE("late hosts are a factor of their own", "[efficiency]") {
  const EfficiencyResult result = late_hosts().measure();
  const Efficiency& factors = require(result);
  // 10 to 120 us, 20 of them useful. A prompt host: the first kernel ends at 20, the second begins
  // 1 us later as kernels do, and 6 us that the launch's usual 4 us did not explain: 27 to 37.
  REQUIRE(factors.runtime == 110us);
  REQUIRE_THAT(factors.host, WithinRel(27.0 / 110.0, 1e-12));
  REQUIRE_THAT(factors.dependency, WithinRel(20.0 / 27.0, 1e-12));
  REQUIRE_THAT(factors.transfer, WithinRel(1.0, 1e-12));
}

TEST_CASE("a host that waits for the device goes on earlier when the device does", "[efficiency]") {
  SmallJob job(2);
  job.call(0, 0, 5, 1).sync(0, 6, 505).call(0, 510, 515, 2);
  job.collective(0, 0, 10, 500, 1).kernel(0, 520, 530, 2);
  job.call(1, 390, 395, 3).sync(1, 396, 505).call(1, 510, 515, 4);
  job.collective(1, 0, 400, 500, 3).kernel(1, 520, 530, 4);
  Change no_transfer;
  no_transfer.no_transfer = true;
  // The all-reduce ends at 400 instead of 500, and all that follows is 100 us earlier; the window
  // begins at 10.
  REQUIRE_THAT(job.replayed({}), WithinRel(520.0, 1e-12));
  REQUIRE_THAT(job.replayed(no_transfer), WithinRel(420.0, 1e-12));
}

TEST_CASE("communication without a recorded event waits for the compute launched before it",
          "[efficiency]") {
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    job.call(rank, 0, 5, 1).call(rank, 6, 10, 2).call(rank, 300, 305, 3);
    job.kernel(rank, 10, 100, 1);
    job.collective(rank, 0, 102, 152, 2);
    job.kernel(rank, 310, 320, 3);
  }
  for (Recording& recording : job.job().recordings) recording.device_events[1].stream = 20;
  Change prompt;
  prompt.no_host_delay = true;
  // Kernel to 100, then on another stream 102 to 152; the second kernel no longer waits for its
  // launch at 300 and ends within the collective, which is last: 152 - 10.
  REQUIRE_THAT(job.replayed(prompt), WithinRel(142.0, 1e-12));
}

TEST_CASE("what-ifs come with the largest saving first", "[efficiency]") {
  const EfficiencyResult result = uneven_pair().measure(blame(1));
  const auto& changes = require(result).what_if;
  REQUIRE(changes.size() == 4);
  for (std::size_t i = 1; i < changes.size(); ++i)
    REQUIRE(changes[i - 1].saved >= changes[i].saved);
}

TEST_CASE("work behind a recorded event waits for the other stream's work", "[efficiency]") {
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    job.call(rank, 0, 1, 1).call(rank, 3, 4, 2).call(rank, 400, 401, 3);
    job.kernel(rank, 10, 200, 1, 7);
    job.kernel(rank, 202, 250, 2, 8);
    job.kernel(rank, 410, 420, 3, 7);
    Recording& recording = job.job().recordings[rank];
    HostEvent wait;
    wait.start = 2us;
    wait.end = 3us;
    wait.activity = HostActivity::synchronization;
    wait.synchronization = 0;
    recording.synchronizations.push_back(
        {Synchronization::Kind::stream_wait_event, 8U, 7U, std::nullopt});
    recording.host_events.insert(recording.host_events.begin() + 1, wait);
  }
  Change prompt;
  prompt.no_host_delay = true;
  // Stream 8 still waits for stream 7 and ends at 250; stream 7 goes on at once.
  REQUIRE_THAT(job.replayed(prompt), WithinRel(240.0, 1e-12));
}

TEST_CASE("useful time is the union of kernels that are not communication", "[efficiency]") {
  SmallJob job = uneven_pair();
  job.kernel(0, 360, 390, 0, 8).copy(0, 395, 500);
  sort_events(job.job().recordings[0]);
  const auto window = TimeInterval{50us, 450us};
  const std::vector<IntervalSet> computing = compute_intervals(job.job(), job.alignment().map);
  REQUIRE(computing[0].within(window).length() == 100us);
}

TEST_CASE("steps that count on every rank are replayed in runs of consecutive ones",
          "[efficiency]") {
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const int skew = static_cast<int>(rank);
    for (int number = 0; number < 6; ++number)
      job.step(rank,
               number,
               100 * number + skew,
               100 * (number + 1) + skew,
               excluded_if(number == 0 || (number == 2 && rank == 1)));
    for (int i = 0; i < 6; ++i) job.kernel(rank, 100 * i + 10, 100 * i + 60);
  }
  const EfficiencyResult result = job.measure();
  const Efficiency& factors = require(result);
  REQUIRE(factors.window == Finding(FindingId::stated, "steps 1 and 3-5"));
  REQUIRE(factors.runtime == 402us);  // 100 to 201, 300 on rank 0 to 601 on rank 1
  REQUIRE(factors.step_time == 100us);
  REQUIRE(factors.useful[0] == 200us);
}

TEST_CASE("a run of steps in which no GPU works has its time on the path too", "[efficiency]") {
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (int number = 0; number < 4; ++number)
      job.step(rank, number, 100 * number, 100 * (number + 1), excluded_if(number == 2));
    for (const int step : {0, 1}) job.kernel(rank, 100 * step + 10, 100 * step + 60);
  }
  const EfficiencyResult result = job.measure();
  const Efficiency& factors = require(result);
  REQUIRE(factors.window == Finding(FindingId::stated, "steps 0-1 and 3"));
}

TEST_CASE("a window of too many events ends after fewer steps", "[efficiency]") {
  SmallJob job(2);
  StepPlan plan;
  plan.by_rank.resize(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (int number = 0; number < 10; ++number) {
      job.kernel(rank, 100 * number + 10, 100 * number + 60);
      plan.by_rank[rank].push_back(
          {number, 100us * number, 100us * (number + 1), excluded_if(number == 0)});
    }
  }
  // Nine steps that count with two events each; six events are three steps.
  const auto windows = choose_windows(job.job(), plan, ClockMap(2), 6);
  REQUIRE(windows);
  REQUIRE(windows->description == Finding(FindingId::stated, "steps 1-3"));
  nanoseconds length{};
  for (const EfficiencyWindow& run : windows->runs) length += run.length();
  REQUIRE(length == 300us);
}

TEST_CASE("of many runs the longest are replayed", "[efficiency]") {
  SmallJob job(2);
  StepPlan plan;
  plan.by_rank.resize(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (int number = 0; number < 300; ++number) {
      job.kernel(rank, 100 * number + 10, 100 * number + 60);
      // Every third one is left out; of the last ones none.
      plan.by_rank[rank].push_back({number,
                                    100us * number,
                                    100us * (number + 1),
                                    excluded_if(number % 3 == 0 && number < 290)});
    }
  }
  const auto windows = choose_windows(job.job(), plan, ClockMap(2));
  REQUIRE(windows);
  REQUIRE(windows->runs.size() == 64);
  REQUIRE(windows->runs.back().steps() == 11);
  REQUIRE(windows->description ==
          Finding(FindingId::stated, "steps 1-2, 4-5, 7-8, 10-11, 13-14, 16-17 and 125 more"));
  REQUIRE(windows->step_time == 100us);
}

// Rank 0 computes 100 us, rank 1 waits for that and computes 190 us; rank 0, on another track,
// waits for that and computes 90 us more.
TEST_CASE("the operations of a framework's timeline follow each other over its tracks",
          "[efficiency]") {
  SmallJob job(2);
  for (Recording& recording : job.job().recordings) recording.origin.framework_timeline = true;
  job.kernel(0, 0, 100).collective(0, 0, 100, 110).collective(0, 1, 110, 310);
  job.kernel(0, 310, 400, 0, 8);
  job.collective(1, 0, 0, 110).kernel(1, 110, 300, 0, 8).collective(1, 1, 300, 310);
  Change faster;
  faster.compute = {1.0, 0.5};
  REQUIRE(job.replayed({}) == 400.0);
  REQUIRE(job.replayed(faster) == 305.0);
  faster.compute = {0.5, 0.5};
  REQUIRE(job.replayed(faster) == 210.0);
}

// Rank 0 computes 1000 us, then rank 1 without a recorded message 1000 us, three times by turns.
// When rank 0 takes half as long, rank 1 begins 500 us earlier each time: 6 * 1000 us become 4500
// us.
TEST_CASE("a wait for another rank that a framework's timeline leaves out is replayed",
          "[efficiency]") {
  SmallJob job(2);
  for (Recording& recording : job.job().recordings) recording.origin.framework_timeline = true;
  job.kernel(1, 0, 10);
  for (int turn = 0; turn < 3; ++turn)
    job.kernel(0, 2000 * turn, 2000 * turn + 1000)
        .kernel(1, 2000 * turn + 1000, 2000 * turn + 2000);
  Change faster;
  faster.compute = {0.5, 1.0};
  REQUIRE(job.replayed({}) == 6000.0);
  REQUIRE(job.replayed(faster) == 4500.0);
}

TEST_CASE("where no step counts the window is the whole recording, and says why", "[efficiency]") {
  const EfficiencyResult result = uneven_pair().measure();
  REQUIRE(require(result).window == Finding(FindingId::first_to_last_work));
}

TEST_CASE("efficiency abstains for one rank and for clocks that do not compare", "[efficiency]") {
  SmallJob alone(1);
  alone.kernel(0, 0, 10);
  REQUIRE_FALSE(alone.measure().efficiency);
  REQUIRE(alone.measure().reason == Finding(FindingId::one_rank_alone));
  SmallJob job = uneven_pair();
  job.alignment().report.comparable = false;
  job.alignment().report.reason = FindingId::clocks_not_tied;
  REQUIRE_FALSE(job.measure().efficiency);
  REQUIRE(job.measure().reason ==
          Finding(FindingId::clocks_not_comparable, FindingId::clocks_not_tied));
}

TEST_CASE("efficiency abstains without kernels and without any work", "[efficiency]") {
  SmallJob nothing(2);
  REQUIRE_FALSE(nothing.measure().efficiency);
  SmallJob copies(2);
  copies.copy(0, 0, 10).copy(1, 0, 10);
  REQUIRE(copies.measure().reason == Finding(FindingId::only_communication));
}

TEST_CASE("a recording that contradicts itself makes efficiency abstain", "[efficiency]") {
  // Rank 0's collective ends long before rank 1 begins it, so that its replay comes out longer.
  SmallJob job(2);
  job.collective(0, 0, 0, 10).kernel(0, 10, 110);
  job.kernel(1, 0, 1).collective(1, 0, 80, 81);
  const EfficiencyResult result = job.measure();
  REQUIRE_FALSE(result.efficiency);
  REQUIRE(result.reason->id == FindingId::replay_not_understood);
}

TEST_CASE("a node keeps its time when nothing changes", "[efficiency]") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SmallJob job = random_job(4, 6, seed);
    REQUIRE_THAT(require(job.measure()).replay_error, WithinAbs(0.0, 1e-12));
  }
}

TEST_CASE("factors multiply, lie above 0 and at most at 1, and paths sum, whatever the job",
          "[efficiency]") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SmallJob job = random_job(2 + seed % 4, 5, seed);
    const EfficiencyResult result = job.measure(blame(static_cast<int>(seed % 2)));
    const Efficiency& e = require(result);
    INFO("seed " << seed);
    for (const double factor :
         {e.parallel, e.load_balance, e.serialization, e.host, e.dependency, e.transfer}) {
      REQUIRE(factor > 0.0);
      REQUIRE(factor <= 1.0);
    }
    REQUIRE_THAT(e.load_balance * e.serialization * e.transfer, WithinRel(e.parallel, 1e-12));
    REQUIRE_THAT(e.host * e.dependency, WithinRel(e.serialization, 1e-12));
    for (const auto& change : e.what_if) {
      REQUIRE(change.step_time > 0ns);
      REQUIRE(change.saved >= 0ns);
      REQUIRE(change.step_time + change.saved == e.step_time);
    }
  }
}
