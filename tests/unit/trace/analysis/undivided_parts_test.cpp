// SPDX-License-Identifier: Apache-2.0
// Communication of which nobody can say whether it waited: below the clock error, or without those
// that it waited for.
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "tests/unit/trace/analysis/small_jobs.h"
#include "trace/analysis/ledger.h"
#include "trace/attribute.h"

#include <random>

namespace scaleworth::trace {
namespace {

/// Of one step from 0 to `end` on every rank, by rank; clocks agree to `error`.
std::vector<StepLedger> ledgers(const Job& job, int end, int error = 0) {
  Alignment alignment{ClockMap(job.recordings.size()), {}, {}};
  alignment.report.error = nanoseconds(error);
  StepPlan plan;
  for (std::size_t i = 0; i < job.recordings.size(); ++i)
    plan.by_rank.push_back({{0, nanoseconds(0), nanoseconds(end), {}}});
  return build_job_ledger(
      job, plan, split_waits(job, match_collectives(job), alignment), alignment.map);
}

std::int64_t ns(const StepLedger& ledger, Part part) {
  return ledger.part(part).count();
}

bool is_known(const StepLedger& ledger, Part part) {
  return known_time(part, ledger.part(part), ledger.part(Part::exposed_undivided)).has_value();
}

/// Calls of one group of `size` ranks, all until 100, of which only the first are recorded.
Job recorded_of(int size, const std::vector<int>& arrivals) {
  Job job = job_of(arrivals.size());
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    Recording& recording = job.recordings[rank];
    add_group_call(recording, CollectiveKind::all_reduce, {arrivals[rank], 100}, "world", 0);
    recording.groups[recording.names.intern("world")].size = size;
  }
  return job;
}

TEST_CASE("A wait no longer than the clock error is neither waiting nor transfer", "[ledger]") {
  const Job job = recorded_of(3, {0, 70, 80});
  const auto at_error_9 = ledgers(job, 100, 9);
  CHECK(ns(at_error_9[0], Part::exposed_wait) == 80);
  CHECK(ns(at_error_9[1], Part::exposed_wait) == 10);
  const auto at_error_10 = ledgers(job, 100, 10);
  CHECK(ns(at_error_10[0], Part::exposed_wait) == 80);
  CHECK(ns(at_error_10[1], Part::exposed_wait) == 0);
  CHECK(ns(at_error_10[1], Part::below_clock_error) == 10);
  CHECK(ns(at_error_10[1], Part::exposed_transfer) == 20);
  CHECK(at_error_10[1].uncharged_wait == nanoseconds(0));
  CHECK(is_known(at_error_10[1], Part::exposed_wait));
}

TEST_CASE("After the last rank that is recorded, others may still have been waited for",
          "[ledger]") {
  const auto all = ledgers(recorded_of(2, {0, 60}), 100);
  CHECK(ns(all[0], Part::exposed_wait) == 60);
  CHECK(ns(all[1], Part::exposed_transfer) == 40);
  const auto some = ledgers(recorded_of(4, {0, 60}), 100);
  CHECK(ns(some[0], Part::exposed_wait) == 60);  // at least
  CHECK(ns(some[0], Part::exposed_undivided) == 40);
  CHECK(is_known(some[0], Part::exposed_wait));
  CHECK_FALSE(is_known(some[0], Part::exposed_transfer));
  CHECK(ns(some[1], Part::exposed_undivided) == 40);
  CHECK_FALSE(is_known(some[1], Part::exposed_wait));
}

TEST_CASE("Where nothing names the group, the size of the job says who may be missing",
          "[ledger]") {
  for (const int world : {2, 8}) {
    Job job = job_of(2);
    for (Recording& recording : job.recordings) recording.origin.world_size = world;
    add_call(job.recordings[0], CollectiveKind::all_to_all, 0, 100);
    add_call(job.recordings[1], CollectiveKind::all_to_all, 30, 100);
    const auto both = ledgers(job, 100);
    CHECK(ns(both[0], Part::exposed_wait) == 30);
    CHECK(ns(both[1], Part::exposed_transfer) == (world == 2 ? 70 : 0));
    CHECK(ns(both[1], Part::exposed_undivided) == (world == 2 ? 0 : 70));
  }
}

TEST_CASE("A message between two recorded ranks misses nobody", "[ledger]") {
  Job job = job_of(2);
  for (Recording& recording : job.recordings) recording.origin.world_size = 8;
  add_group_call(job.recordings[0], CollectiveKind::send, {40, 100}, "pp").peer = 1;
  add_group_call(job.recordings[1], CollectiveKind::receive, {10, 100}, "pp").peer = 0;
  const auto both = ledgers(job, 100);
  CHECK(ns(both[1], Part::exposed_wait) == 30);
  CHECK(ns(both[0], Part::exposed_transfer) == 60);
}

TEST_CASE("One rank alone knows its exposed communication, but no wait and no transfer",
          "[ledger]") {
  const StepLedger alone = ledgers(recorded_of(64, {10}), 100).at(0);
  CHECK(ns(alone, Part::exposed_undivided) == 90);
  CHECK_FALSE(is_known(alone, Part::exposed_wait));
  CHECK_FALSE(is_known(alone, Part::exposed_transfer));
  CHECK_FALSE(is_known(alone, Part::below_clock_error));
  CHECK(is_known(alone, Part::compute));
  // A group of one rank waits for no other.
  const StepLedger single = ledgers(recorded_of(1, {10}), 100).at(0);
  CHECK(ns(single, Part::exposed_transfer) == 90);
  CHECK(is_known(single, Part::exposed_wait));
}

/// What an instant belongs to, from what is active in it.
struct Instant {
  bool compute = false;
  bool copy = false;
  std::array<bool, part_count> communication{};

  std::optional<Part> part() const {
    if (compute) return Part::compute;
    for (const Part one : {Part::exposed_transfer,
                           Part::exposed_undivided,
                           Part::below_clock_error,
                           Part::exposed_wait})
      if (communication[index_of(one)]) return one;
    return copy ? std::optional(Part::exposed_copy) : std::nullopt;
  }
};

TEST_CASE("Ledgers of any splits agree with a count of every nanosecond", "[ledger]") {
  constexpr int length = 200;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
    Job job = job_of(2);
    Recording& recording = job.recordings[0];
    for (int i = 0; i < 12; ++i) {
      const int start = below(length);
      const int stream = 7 + below(3);
      DeviceEvent& event =
          add_call(recording, CollectiveKind::all_reduce, start, start + below(length / 4), stream);
      const int what = below(4);
      if (what == 0) event.work_class = WorkClass::gemm;
      if (what == 1) event.work_class = WorkClass::copy;
    }
    sort_events(recording);
    std::vector<Instant> instants(length);
    Waits waits;
    waits.by_rank.resize(2);
    for (std::uint32_t i = 0; i < recording.device_events.size(); ++i) {
      const DeviceEvent& event = recording.device_events[i];
      const auto mark = [&](std::int64_t from, std::int64_t until, auto set) {
        for (auto t = from; t < std::min<std::int64_t>(until, length); ++t)
          set(instants[static_cast<std::size_t>(t)]);
      };
      const std::int64_t start = event.start.count();
      const std::int64_t end = event.end.count();
      if (!is_communication(event)) {
        const bool copy = event.work_class == WorkClass::copy;
        mark(start, end, [&](Instant& at) { (copy ? at.copy : at.compute) = true; });
        continue;
      }
      CommunicationSplit split{.event = i, .start = event.start, .end = event.end};
      split.split = split.start + (split.end - split.start) * below(3) / 2;
      split.known = below(2) == 0;
      split.below_error = below(2) == 0;
      if (!split.below_error && below(2) == 0) split.waited_for = Place{1};
      waits.by_rank[0].push_back(split);
      const auto communicates = [&](Part part) {
        return [part](Instant& at) { at.communication[index_of(part)] = true; };
      };
      mark(start,
           split.split.count(),
           communicates(split.below_error ? Part::below_clock_error : Part::exposed_wait));
      mark(split.split.count(),
           end,
           communicates(split.known ? Part::exposed_transfer : Part::exposed_undivided));
    }
    StepPlan plan;
    plan.by_rank = {{{0, nanoseconds(0), nanoseconds(length), {}}}, {}};
    const StepLedger step = build_job_ledger(job, plan, waits, ClockMap(2)).at(0);
    nanoseconds sum{};
    for (const Part part : recording_parts) sum += step.part(part);
    CHECK(sum == nanoseconds(length));
    std::array<std::int64_t, part_count> counted{};
    std::int64_t hidden = 0;
    for (const Instant& at : instants) {
      if (const auto part = at.part()) ++counted[index_of(*part)];
      Instant without = at;
      without.compute = without.copy = false;
      hidden += at.compute && without.part().has_value();
    }
    for (const Part part : {Part::compute,
                            Part::exposed_transfer,
                            Part::exposed_undivided,
                            Part::below_clock_error,
                            Part::exposed_wait,
                            Part::exposed_copy})
      CHECK(ns(step, part) == counted[index_of(part)]);
    CHECK((step.overlapped_transfer + step.overlapped_wait + step.overlapped_undivided).count() ==
          hidden);
  }
}

Job jobs_of(const std::vector<std::vector<std::pair<const char*, int>>>& kernels) {
  Job job = job_of(kernels.size());
  for (std::size_t rank = 0; rank < kernels.size(); ++rank) {
    int now = 0;
    for (const auto& [name, time] : kernels[rank]) {
      add_kernel(job.recordings[rank], name, now, now + time);
      now += time;
    }
  }
  return job;
}

TEST_CASE("Ranks whose kernels are those of other programs are told apart", "[attribute]") {
  const std::vector<std::pair<const char*, int>> training{{"gemm", 60}, {"dgrad", 30}, {"add", 10}};
  const std::vector<std::pair<const char*, int>> other{{"sort", 90}, {"add", 10}};
  // More of the same work, and a little of one's own, is the same program.
  const std::vector<std::pair<const char*, int>> slower{{"gemm", 300}, {"dgrad", 90}, {"loss", 50}};
  using Programs = std::vector<std::string>;
  CHECK(attribute(jobs_of({training, slower, training})).result.programs == Programs{});
  CHECK(attribute(jobs_of({training, other, slower, other})).result.programs ==
        Programs{"ranks 0 and 2", "ranks 1 and 3"});
  Job stages = jobs_of({training, other});
  for (int stage = 0; stage < 2; ++stage)
    stages.recordings[static_cast<std::size_t>(stage)].origin.pipeline_stage = stage;
  CHECK(attribute(stages).result.programs.empty());
}

TEST_CASE("Of one rank of many the attribution says that its recording cannot tell",
          "[attribute]") {
  Job job = recorded_of(8, {10});
  job.recordings[0].origin.world_size = 8;
  CHECK(attribute(job).result.stragglers.abstention ==
        Finding(FindingId::no_verdict, FindingId::recording_alone));
  job.recordings[0].origin.world_size = 1;
  CHECK(attribute(job).result.stragglers.abstention == Finding(FindingId::waits_for_no_other));
}
}  // namespace
}  // namespace scaleworth::trace
