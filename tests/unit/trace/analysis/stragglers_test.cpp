// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/stragglers.h"

#include "tests/catch.h"
#include "tests/unit/trace/analysis/small_jobs.h"
#include "tests/unit/trace/recordings.h"
#include "trace/analysis/ledger.h"
#include "trace/classify.h"
#include "trace/formats/framework_timeline.h"
#include "trace/formats/read_job.h"

#include <array>
#include <random>
#include <set>

namespace scaleworth::trace {
namespace {
/// Jobs without sense: any kind, group, number, partner, place and time.
class Nonsense {
 public:
  explicit Nonsense(unsigned seed) : random_(seed) {}

  Job job() {
    Job job = job_of(1 + below(5));
    for (Recording& recording : job.recordings) {
      if (below(3) == 0) recording.origin.pipeline_stage = static_cast<int>(below(3));
      if (below(3) == 0) recording.origin.data_parallel_rank = static_cast<int>(below(2));
      if (below(4) == 0) recording.origin.host = "node";
      if (below(9) == 0) recording.losses["dropped_records"] = 1;
      const std::size_t events = below(30);
      for (std::size_t i = 0; i < events; ++i) add_event(recording);
      sort_events(recording);
    }
    return job;
  }

 private:
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void add_event(Recording& recording) {
    static constexpr std::array names = {
        "forward-send", "backward-recv", "embedding-all-reduce", "clip", "layernorm", "x"};
    DeviceEvent& event = add_kernel(recording, names[below(names.size())], 0, 0, 7 + below(2));
    constexpr std::int64_t farthest = std::int64_t{1} << 61;
    event.start = nanoseconds(below(40) == 0 ? (below(2) == 0 ? -farthest : farthest - 1)
                                             : static_cast<std::int64_t>(below(3000)));
    event.end = event.start + nanoseconds(below(400));
    if (below(3) == 0) return;
    event.work_class = WorkClass::communication;
    event.collective = static_cast<CollectiveKind>(below(13));
    if (below(2) == 0) return;
    event.communication = static_cast<std::uint32_t>(recording.communications.size());
    Communication& known = recording.communications.emplace_back();
    known.kind = event.collective;
    if (below(4) != 0) known.group = recording.names.intern(below(2) == 0 ? "a" : "b");
    if (below(2) == 0) known.sequence = static_cast<std::int64_t>(below(6));
    if (below(4) == 0) known.peer = static_cast<int>(below(7)) - 1;
    if (below(4) == 0) known.root = static_cast<int>(below(7)) - 1;
    if (below(3) == 0) recording.groups[known.group].ranks = {0, static_cast<int>(below(4)), 2};
  }

  std::mt19937 random_;
};

TEST_CASE("Recordings without sense are taken apart without loss") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Job job = Nonsense(seed).job();
    const Matching matching = match_collectives(job);
    const Alignment alignment = align_clocks(job, matching);
    const Waits waits = split_waits(job, matching, alignment);
    for (const MatchedCollective& matched : matching.collectives) {
      std::set<std::uint32_t> ranks;
      for (const auto& member : matched.members) ranks.insert(member.place.index);
      REQUIRE(ranks.size() == matched.members.size());
      REQUIRE(ranks.size() >= 2);
    }
    for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
      std::set<std::uint32_t> events;
      for (const CommunicationSplit& split : waits.by_rank[rank]) {
        REQUIRE(events.insert(split.event).second);
        REQUIRE(split.start <= split.split);
        REQUIRE(split.split <= split.end);
      }
      const auto& recorded = job.recordings[rank].device_events;
      REQUIRE(events.size() == static_cast<std::size_t>(std::count_if(
                                   recorded.begin(), recorded.end(), [](const DeviceEvent& event) {
                                     return event.work_class == WorkClass::communication;
                                   })));
    }
    const StepPlan steps = find_steps(job, alignment.map);
    const auto report = find_stragglers(JobReplay(job, steps, waits, alignment),
                                        build_job_ledger(job, steps, waits, alignment.map));
    REQUIRE(report.stragglers.empty() == report.abstention.has_value());
  }
}

// Golden numbers: README of the recordings, computed there independently.

std::optional<Job> read_shared(const std::string& name) {
  const auto path = shared_recording(name);
  if (!path) return std::nullopt;
  static const RuleTable rules = RuleTable::built_in();
  Job job = read_job({*path}, rules, 1);
  for (Recording& recording : job.recordings) classify(recording, rules);
  return job;
}

Alignment raw_clocks(std::size_t ranks) {
  return {ClockMap(ranks), {}, {}};
}

std::int64_t us(nanoseconds time) {
  return time.count() / 1000;
}

TEST_CASE("The eight ranks of a DLRM step have their golden table of collectives", "[golden]") {
  const std::optional<Job> job = read_shared("dlrm_8xv100");
  if (!job) return;
  const Matching matching = match_collectives(*job);
  CHECK(matching.unmatched == 0);
  const Waits waits = split_waits(*job, matching, raw_clocks(8));
  struct Golden {
    CollectiveKind kind;
    int last;
    std::int64_t starts, ends, shortest;
  };
  constexpr auto exchange = CollectiveKind::all_to_all;
  constexpr auto reduction = CollectiveKind::all_reduce;
  const std::array<Golden, 8> golden{{{exchange, 7, 7624, 2, 10},
                                      {exchange, 7, 1101, 2, 8},
                                      {exchange, 7, 168, 1, 7},
                                      {exchange, 7, 125, 2, 7},
                                      {reduction, 7, 223, 5, 86},
                                      {exchange, 5, 534, 3, 10},
                                      {reduction, 5, 584, 5, 20},
                                      {reduction, 4, 885, 7, 69}}};
  REQUIRE(waits.collectives.size() == golden.size());
  std::array<std::int64_t, 8> wait{};
  std::array<std::int64_t, 8> transfer{};
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const CollectiveWait& collective = waits.collectives[i];
    CAPTURE(i);
    CHECK(collective.kind == golden[i].kind);
    CHECK(collective.last_arriver == Rank{golden[i].last});
    CHECK(us(collective.spread_of_starts) == golden[i].starts);
    CHECK(us(collective.spread_of_ends) == golden[i].ends);
    CHECK(us(collective.shortest) == golden[i].shortest);
    REQUIRE(collective.participants.size() == 8);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      wait[rank] += us(collective.participants[rank].wait);
      transfer[rank] += us(collective.participants[rank].transfer);
    }
  }
  CHECK(wait == std::array<std::int64_t, 8>{5580, 11125, 3280, 9571, 6370, 6041, 3342, 1534});
  CHECK(transfer == std::array<std::int64_t, 8>{218, 211, 212, 203, 217, 210, 216, 212});
}

TEST_CASE("The clocks of the eight ranks of one host agree within microseconds", "[golden]") {
  const std::optional<Job> job = read_shared("dlrm_8xv100");
  if (!job) return;
  const Alignment alignment = align_clocks(*job, match_collectives(*job));
  CHECK(alignment.report.comparable);
  CHECK(alignment.report.error > nanoseconds(0));
  CHECK(alignment.report.error <= std::chrono::microseconds(7));
  CHECK(alignment.report.causality_violations == 0);
  for (const auto& clock : alignment.report.ranks) {
    CHECK(std::chrono::abs(clock.offset) <= std::chrono::microseconds(7));
    CHECK(clock.matches == 8);
  }
}

StragglerReport stragglers_of(const Job& job) {
  const Matching matching = match_collectives(job);
  const Alignment alignment = align_clocks(job, matching);
  const StepPlan steps = find_steps(job, alignment.map);
  const Waits waits = split_waits(job, matching, alignment);
  return find_stragglers(JobReplay(job, steps, waits, alignment),
                         build_job_ledger(job, steps, waits, alignment.map));
}

TEST_CASE("The DLRM step is late by its ranks 7, 5 and 4, and a boundary step", "[golden]") {
  const std::optional<Job> job = read_shared("dlrm_8xv100");
  if (!job) return;
  const StragglerReport report = stragglers_of(*job);
  REQUIRE_FALSE(report.stragglers.empty());
  CHECK(report.stragglers[0].rank == Rank{7});
  CHECK(report.recurrence == Recurrence::too_few);
  // All waiting, but for what lies below the clock error.
  nanoseconds charged{};
  for (const PairWait& pair : report.pairs) charged += pair.total;
  CHECK(charged > std::chrono::microseconds(46'000));
  CHECK(charged < std::chrono::microseconds(47'000));
}

TEST_CASE("Of two processes the one that looks innocent is named", "[golden]") {
  const std::optional<Job> job = read_shared("nsys_2gpu_before.sqlite");
  if (!job) return;
  // Rank 0 spends twice as long in NCCL, because it waits for rank 1.
  const StragglerReport report = stragglers_of(*job);
  REQUIRE(report.stragglers.size() == 1);
  CHECK(report.stragglers[0].rank == Rank{1});
  CHECK(pair_wait(report, Rank{0}, Rank{1}).exposed >
        4 * pair_wait(report, Rank{1}, Rank{0}).exposed);
}

TEST_CASE("The last pipeline stage is the cause of the job that is known for it", "[golden]") {
  const auto path = shared_recording("straggler_ST/timeline-ST.json.gz");
  if (!path) return;
  Job job;
  job.recordings = read_operation_timers(*open_byte_source(*path));
  for (Recording& recording : job.recordings) classify(recording, RuleTable::built_in());
  const StragglerReport report = stragglers_of(job);
  // The stage is named, not its two ranks.
  REQUIRE(report.stragglers.size() == 1);
  CHECK(report.recurrence == Recurrence::one_rank);
  const Straggler& straggler = report.stragglers[0];
  CHECK(straggler.level == LateUnit::stage);
  CHECK(straggler.unit == "pipeline stage 3");
  CHECK(straggler.members.size() == 2);
  CHECK(straggler.steps == 30);
  CHECK(straggler.cause == LateCause::pipeline_stage);
  // Without the long stage the published replay is 1.18 times as fast: 15 % of the time.
  const double steps_ms = 2214.4 * 8;
  const double lost_ms = straggler.gpu_seconds * 1e3 / 30;
  CHECK(lost_ms / steps_ms > 0.10);
  CHECK(lost_ms / steps_ms < 0.18);
}

std::array<std::int64_t, 2> last_arrivals(const Waits& waits) {
  std::array<std::int64_t, 2> last{};
  for (const CollectiveWait& collective : waits.collectives)
    if (collective.last_arriver)
      ++last.at(static_cast<std::size_t>(collective.last_arriver->index));
  return last;
}

std::array<std::int64_t, 2> sum_of(const Waits& waits,
                                   nanoseconds CollectiveWait::Participant::*part) {
  std::array<std::int64_t, 2> sums{};
  for (const CollectiveWait& collective : waits.collectives)
    for (std::size_t rank = 0; rank < 2; ++rank)
      sums[rank] += (collective.participants[rank].*part).count();
  return sums;
}

using Pair = std::array<std::int64_t, 2>;

TEST_CASE("The two processes of an Nsight recording pair and wait as known", "[golden]") {
  const std::optional<Job> job = read_shared("nsys_2gpu_before.sqlite");
  if (!job) return;
  const Matching matching = match_collectives(*job);
  REQUIRE(matching.collectives.size() == 33);
  const Waits raw = split_waits(*job, matching, raw_clocks(2));
  CHECK(sum_of(raw, &CollectiveWait::Participant::wait) == Pair{10'898'336, 2'477'480});
  CHECK(sum_of(raw, &CollectiveWait::Participant::transfer) == Pair{6'274'316, 5'751'620});
  CHECK(last_arrivals(raw) == Pair{11, 22});
  Alignment shifted = raw_clocks(2);
  shifted.map = ClockMap({{}, {nanoseconds(22'214), 0.0, {}}});
  const Waits waits = split_waits(*job, matching, shifted);
  CHECK(sum_of(waits, &CollectiveWait::Participant::wait) == Pair{11'398'393, 2'244'475});
  CHECK(sum_of(waits, &CollectiveWait::Participant::transfer) == Pair{5'774'259, 5'984'625});
  CHECK(last_arrivals(waits) == Pair{10, 23});
}

TEST_CASE("The clocks of two GPUs of one recording are found 22 us apart", "[golden]") {
  const std::optional<Job> job = read_shared("nsys_2gpu_before.sqlite");
  if (!job) return;
  const Alignment alignment = align_clocks(*job, match_collectives(*job));
  CHECK(alignment.report.comparable);
  CHECK(std::chrono::abs(alignment.map.clock(1).offset - nanoseconds(22'214)) <
        std::chrono::microseconds(3));
  CHECK(alignment.report.ranks[1].residual_p50 < std::chrono::microseconds(6));
  // 95 % of the ends agree within 25 us, of the short collectives better.
  CHECK(alignment.report.error > std::chrono::microseconds(5));
  CHECK(alignment.report.error < std::chrono::microseconds(32));
}

}  // namespace
}  // namespace scaleworth::trace
