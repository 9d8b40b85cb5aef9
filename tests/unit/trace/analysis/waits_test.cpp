// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/faulty_job.h"
#include "tests/unit/trace/analysis/small_jobs.h"
#include "trace/analysis/waits.h"
#include "trace/attribute.h"

namespace scaleworth::trace {
namespace {

Alignment same_clock(const Job& job, int error = 0) {
  Alignment alignment{ClockMap(job.recordings.size()), {}, {}};
  alignment.report.error = nanoseconds(error);
  return alignment;
}

Waits split(const Job& job, int error = 0) {
  return split_waits(job, match_collectives(job), same_clock(job, error));
}

std::vector<int> waits_of(const CollectiveWait& collective) {
  std::vector<int> waits;
  for (const auto& participant : collective.participants) {
    waits.push_back(static_cast<int>(participant.wait.count()));
    CHECK(participant.wait + participant.transfer == participant.end - participant.start);
  }
  return waits;
}

TEST_CASE("Everybody waits for the last arriver of an all-reduce") {
  Job job = job_of(3);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 10, 70);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 60, 71);
  add_call(job.recordings[2], CollectiveKind::all_reduce, 30, 72);
  const Waits waits = split(job);
  REQUIRE(waits.collectives.size() == 1);
  const CollectiveWait& collective = waits.collectives[0];
  CHECK(waits_of(collective) == std::vector{50, 0, 30});
  CHECK(collective.last_arriver == Rank{1});
  CHECK(collective.shortest == nanoseconds(11));
  CHECK(collective.spread_of_starts == nanoseconds(50));
  CHECK(collective.spread_of_ends == nanoseconds(2));
  CHECK(waits.by_rank[0][0].waited_for == Place{1});
  CHECK(waits.by_rank[0][0].split == nanoseconds(60));
  CHECK_FALSE(waits.by_rank[1][0].waited_for);
}

TEST_CASE("A wait never lasts longer than its own kernel") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 40);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 50, 60);
  CHECK(waits_of(split(job).collectives[0]) == std::vector{40, 0});
}

TEST_CASE("Two that come last together within the clock error are a tie, for which nobody pays") {
  Job job = job_of(3);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 100);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 80, 100);
  add_call(job.recordings[2], CollectiveKind::all_reduce, 85, 100);
  const Waits tied = split(job, 5);
  CHECK_FALSE(tied.collectives[0].last_arriver);
  CHECK_FALSE(tied.by_rank[0][0].waited_for);
  CHECK(tied.by_rank[0][0].split == nanoseconds(85));
  CHECK(split(job, 4).collectives[0].last_arriver == Rank{2});
}

TEST_CASE("A wait below the clock error is charged to nobody") {
  Job job = job_of(3);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 100);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 70, 100);
  add_call(job.recordings[2], CollectiveKind::all_reduce, 80, 100);
  const Waits waits = split(job, 9);
  CHECK(waits.by_rank[0][0].waited_for == Place{2});
  CHECK(split(job, 10).by_rank[1][0].waited_for == std::nullopt);
}

Job rooted(CollectiveKind kind) {
  Job job = job_of(3);
  const int starts[] = {10, 50, 30};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    add_group_call(job.recordings[rank], kind, {starts[rank], 90}, "world", 0).root = 2;
  }
  return job;
}

TEST_CASE("Of a broadcast everybody waits for the root only") {
  const Waits waits = split(rooted(CollectiveKind::broadcast));
  CHECK(waits_of(waits.collectives[0]) == std::vector{20, 0, 0});
  CHECK(waits.by_rank[0][0].waited_for == Place{2});
  CHECK_FALSE(waits.collectives[0].last_arriver);
}

TEST_CASE("Of a reduce only the root waits, for the last of the others") {
  const Waits waits = split(rooted(CollectiveKind::reduce));
  CHECK(waits_of(waits.collectives[0]) == std::vector{0, 0, 20});
  CHECK(waits.by_rank[2][0].waited_for == Place{1});
}

TEST_CASE("A broadcast from nobody knows where is transfer, and not known") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::broadcast, 0, 50);
  add_call(job.recordings[1], CollectiveKind::broadcast, 20, 50);
  const Waits waits = split(job);
  CHECK(waits_of(waits.collectives[0]) == std::vector{0, 0});
  CHECK_FALSE(waits.by_rank[0][0].known);
}

Job message(int send_start, int send_end, int receive_start, int receive_end) {
  Job job = job_of(2);
  add_group_call(job.recordings[0], CollectiveKind::send, {send_start, send_end}, "pp").peer = 1;
  add_group_call(job.recordings[1], CollectiveKind::receive, {receive_start, receive_end}, "pp")
      .peer = 0;
  return job;
}

TEST_CASE("A message has a late sender, a late receiver, or was left in a buffer") {
  CHECK(waits_of(split(message(30, 50, 10, 51)).collectives[0]) == std::vector{0, 20});
  CHECK(waits_of(split(message(10, 50, 30, 51)).collectives[0]) == std::vector{20, 0});
  CHECK(waits_of(split(message(10, 15, 30, 51)).collectives[0]) == std::vector{0, 0});
}

TEST_CASE("What NCCL told goes with the collective where its ranks agree") {
  Job job = job_of(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[rank];
    Communication& known =
        add_group_call(recording, CollectiveKind::all_reduce, {0, 50}, "world", 0);
    known.algorithm = recording.names.intern("RING");
    known.protocol = recording.names.intern(rank == 0 ? "LL" : "SIMPLE");
    known.channels = 4;
  }
  const Waits waits = split(job);
  REQUIRE(waits.collectives.size() == 1);
  const CollectiveWait& collective = waits.collectives[0];
  CHECK(collective.algorithm == "RING");
  CHECK(collective.protocol.empty());
  CHECK(collective.channels == 4);
}

TEST_CASE("Calls without partners are transfer that is not known") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 5, 9);
  const Waits waits = split(job);
  CHECK(waits.collectives.empty());
  REQUIRE(waits.by_rank[0].size() == 1);
  CHECK_FALSE(waits.by_rank[0][0].known);
  CHECK(waits.by_rank[0][0].split == nanoseconds(5));
  CHECK(waits.by_rank[0][0].collective == -1);
}

TEST_CASE("Ranks whose clocks cannot be compared have no waits for each other") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 50);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 20, 50);
  Alignment alignment = same_clock(job);
  alignment.component = {0, 1};
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  CHECK(waits.collectives.empty());
  CHECK_FALSE(waits.by_rank[0][0].known);
}

TEST_CASE("Collectives are in the order of their first arrival on the common clock") {
  Job job = job_of(2);
  for (Recording& recording : job.recordings) {
    add_group_call(recording, CollectiveKind::all_reduce, {0, 5}, "b", 0);
    add_group_call(recording, CollectiveKind::all_reduce, {10, 15}, "a", 0);
    add_group_call(recording, CollectiveKind::all_reduce, {20, 25}, "b", 1);
  }
  const Waits waits = split(job);
  REQUIRE(waits.collectives.size() == 3);
  CHECK(waits.collectives[1].group == "a");
  CHECK(waits.by_rank[1][1].collective == 1);
  CHECK(waits.by_rank[1][2].collective == 2);
}

TEST_CASE("A timeline that records calls once all are there has its waits before the calls") {
  Job job = job_of(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[rank];
    recording.origin.pipeline_stage = 0;
    recording.origin.framework_timeline = true;
    recording.origin.data_parallel_rank = static_cast<int>(rank);
    add_kernel(recording, "forward-compute", 0, rank == 0 ? 40 : 100);
    add_call(recording, CollectiveKind::all_reduce, 100, 110);
  }
  const Waits waits = split(job);
  CHECK(waits_of(waits.collectives[0]) == std::vector{60, 0});
  CHECK(waits.by_rank[0][0].start == nanoseconds(40));
  CHECK(waits.by_rank[0][0].waited_for == Place{1});
}

TEST_CASE("What the last rank of a timeline does before its call is no transfer") {
  Job job = job_of(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[rank];
    recording.origin.framework_timeline = true;
    add_kernel(recording, "backward-compute", 0, rank == 0 ? 40 : 100);
    add_call(recording, CollectiveKind::all_reduce, 117, 150);
  }
  const Waits waits = split(job);
  CHECK(waits_of(waits.collectives[0]) == std::vector{60, 0});
  CHECK(waits.collectives[0].shortest == nanoseconds(33));
}

TEST_CASE("Time between steps of a timeline is no waiting and no transfer") {
  Job job = job_of(2);
  for (int rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[static_cast<std::size_t>(rank)];
    recording.origin.framework_timeline = true;
    add_kernel(recording, "optimizer", 0, 40 + 20 * rank);
    add_call(recording, CollectiveKind::all_gather, 200 + rank, 210);
    add_kernel(recording, "forward-compute", 210, 250 + 10 * rank);
    add_call(recording, CollectiveKind::all_reduce, 300, 310);
    recording.step_marks = {{0, nanoseconds(0), nanoseconds(60)},
                            {1, nanoseconds(200 + rank), nanoseconds(310)}};
  }
  const Waits waits = split(job);
  CHECK(waits_of(waits.collectives[0]) == std::vector{1, 0});
  CHECK(waits.by_rank[0][0].start == nanoseconds(200));
  CHECK(waits_of(waits.collectives[1]) == std::vector{10, 0});
}

TEST_CASE("Transfers of a timeline last as long with pauses between its steps as without") {
  testing::JobPlan plan;
  plan.replicas = 2;
  plan.stages = 4;
  plan.timeline = true;
  std::vector<nanoseconds> exposed;
  for (const double pause_ns : {0.0, 80e6}) {
    plan.pause_ns = pause_ns;
    const testing::GeneratedJob generated = testing::generate_job(plan);
    const Attribution result = attribute(generated.job).result;
    nanoseconds sum{};
    for (const StepLedger& step : result.ledger) sum += step.part(Part::exposed_transfer);
    exposed.push_back(sum / std::ssize(result.ledger));
    for (const CollectiveWait& one : result.collectives)
      CHECK((one.kind != CollectiveKind::all_gather ||
             static_cast<double>(one.shortest.count()) < 1.2 * plan.transfer_ns));
    // A message that is sent while another one is received counts twice in the simulator's sum.
    const double ratio = static_cast<double>(exposed.back().count()) / generated.transfer_ns;
    CHECK(ratio < 1.01);
    CHECK(ratio > 0.8);
  }
  CHECK(exposed[0] == exposed[1]);
}

}  // namespace
}  // namespace scaleworth::trace
