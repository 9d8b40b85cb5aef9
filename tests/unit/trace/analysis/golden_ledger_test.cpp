// SPDX-License-Identifier: Apache-2.0
// Golden numbers: README of the recordings, computed there independently, from raw clocks.
#include "tests/catch.h"
#include "tests/unit/trace/recordings.h"
#include "trace/analysis/ledger.h"
#include "trace/classify.h"
#include "trace/formats/read_job.h"

#include <array>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

/// Each rank's ledger summed over all steps, flagged ones included, with clocks as they are.
std::vector<StepLedger> totals(const Job& job) {
  const ClockMap clocks(job.recordings.size());
  Alignment alignment;
  alignment.map = clocks;
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  std::vector<StepLedger> sums(job.recordings.size());
  for (const StepLedger& step : build_job_ledger(job, find_steps(job, clocks), waits, clocks)) {
    StepLedger& sum = sums.at(static_cast<std::size_t>(step.rank.index));
    for (std::size_t i = 0; i < sum.parts.size(); ++i) sum.parts[i] += step.parts[i];
    sum.communication += step.communication;
    sum.overlapped_wait += step.overlapped_wait;
    sum.overlapped_transfer += step.overlapped_transfer;
    sum.overlapped_copy += step.overlapped_copy;
  }
  return sums;
}

std::int64_t of(const StepLedger& ledger, Part part) {
  return ledger.part(part).count();
}

/// The recordings of `path`, classified.
Job classified_job(const std::string& path) {
  const RuleTable rules = RuleTable::built_in();
  Job job = read_job({path}, rules);
  for (Recording& recording : job.recordings) classify(recording, rules);
  return job;
}

nanoseconds idle_time(const StepLedger& ledger) {
  nanoseconds sum{};
  for (const Part part : {Part::host_late,
                          Part::dependency_idle,
                          Part::launch_gap,
                          Part::profiler_overhead,
                          Part::unattributed})
    sum += ledger.part(part);
  return sum;
}

}  // namespace

TEST_CASE("the pair of processes recorded by Nsight Systems has its golden ledger", "[golden]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const auto sums = totals(classified_job(*path));
  REQUIRE(sums.size() == 2);
  struct Golden {
    std::int64_t compute, communication, copies, busy, wait, transfer;
  };
  const std::array<Golden, 2> golden{
      {{253'690'832, 17'172'652, 2'954'303, 273'817'787, 10'898'336, 6'274'316},
       {256'095'624, 8'229'100, 2'951'192, 267'275'916, 2'477'480, 5'751'620}}};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CAPTURE(rank);
    const StepLedger& sum = sums[rank];
    CHECK(of(sum, Part::compute) == golden[rank].compute);
    CHECK(sum.communication.count() == golden[rank].communication);
    CHECK(of(sum, Part::exposed_copy) + sum.overlapped_copy.count() == golden[rank].copies);
    CHECK(of(sum, Part::compute) + sum.communication.count() + of(sum, Part::exposed_copy) ==
          golden[rank].busy);
    CHECK(of(sum, Part::exposed_wait) == golden[rank].wait);
    CHECK(of(sum, Part::exposed_transfer) == golden[rank].transfer);
    CHECK(sum.overlapped_wait + sum.overlapped_transfer == nanoseconds(0));
  }
}

TEST_CASE("the eight ranks recorded by Kineto have their golden ledgers", "[golden]") {
  const auto path = shared_recording("dlrm_8xv100");
  if (!path) return;
  const Job job = classified_job(*path);
  const auto sums = totals(job);
  REQUIRE(sums.size() == 8);
  struct Golden {
    std::int64_t step, span, compute, communication, overlapped, exposed, idle, wait, transfer;
  };
  // In microseconds; compute includes copies, span is from the first work to the last.
  const std::array<Golden, 8> golden{{{14455, 13009, 1053, 5798, 261, 5537, 6419, 5580, 218},
                                      {19901, 18749, 1265, 11336, 280, 11056, 6428, 11125, 211},
                                      {13017, 11350, 1087, 3492, 275, 3217, 7046, 3280, 212},
                                      {19313, 18853, 1268, 9774, 334, 9440, 8145, 9571, 203},
                                      {17979, 16589, 1152, 6587, 37, 6550, 8887, 6370, 217},
                                      {17797, 16392, 1060, 6251, 40, 6211, 9121, 6041, 210},
                                      {13091, 11410, 1070, 3558, 269, 3289, 7051, 3342, 216},
                                      {12509, 10967, 1079, 1746, 166, 1580, 8308, 1534, 212}}};
  for (std::size_t rank = 0; rank < 8; ++rank) {
    CAPTURE(rank);
    const StepLedger& sum = sums[rank];
    const Golden& us = golden[rank];
    const auto compute = of(sum, Part::compute) + of(sum, Part::exposed_copy);
    const auto wait = of(sum, Part::exposed_wait) + sum.overlapped_wait.count();
    const auto transfer = of(sum, Part::exposed_transfer) + sum.overlapped_transfer.count();
    CHECK(sum.communication == nanoseconds(us.communication * 1000));
    CHECK(wait == us.wait * 1000);
    CHECK(transfer == us.transfer * 1000);
    // Copies under communication only (ranks 3 and 4, fills) are communication here and compute
    // there.
    const auto copies_under_communication = us.compute * 1000 - compute;
    CHECK(copies_under_communication >= 0);
    CHECK(copies_under_communication <= sum.overlapped_copy.count());
    CHECK(of(sum, Part::exposed_wait) + of(sum, Part::exposed_transfer) -
              copies_under_communication ==
          us.exposed * 1000);
    CHECK(idle_time(sum) == nanoseconds((us.idle + us.step - us.span) * 1000));
  }
}

TEST_CASE("a recording whose profilers start apart has a boundary step", "[golden]") {
  const auto path = shared_recording("dlrm_8xv100");
  if (!path) return;
  const Job job = classified_job(*path);
  const StepPlan plan = find_steps(job, ClockMap(job.recordings.size()));
  CHECK(plan.choice.source == "ProfilerStep markers");
  REQUIRE(plan.by_rank.at(0).size() == 1);
  CHECK(plan.by_rank[0][0].number == 10);
  CHECK(exclusion_text(plan.by_rank[0][0].excluded.value()) ==
        "boundary: the only step of a rank's recording; the ranks begin it within 7.5 ms and end "
        "it within 0.9 ms, as when profiling starts in its midst");
}

TEST_CASE("steps last as long as on the device while the host runs ahead", "[golden]") {
  // By the host's markers the steps take 35, 72, 96, 96 and 96 ms: its queue of launches fills up.
  const auto path =
      shared_recording("hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz");
  if (!path) return;
  const StepPlan plan = find_steps(classified_job(*path), ClockMap(1));
  REQUIRE(plan.by_rank.at(0).size() == 5);
  for (const std::size_t i : {1U, 2U, 3U}) {
    const StepSpan& step = plan.by_rank[0][i];
    CHECK_FALSE(step.excluded);
    CHECK(step.end - step.start > nanoseconds(95'400'000));
    CHECK(step.end - step.start < nanoseconds(95'900'000));
  }
}

TEST_CASE("the rules know every kernel of the shared recordings", "[golden]") {
  for (const char* name : {"dlrm_8xv100",
                           "nsys_2gpu_before.sqlite",
                           "hta/nccl_parser_config/nccl_data.json.gz",
                           "hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
                           "hta/critical_path/cuda_event_sync/event_sync_trace.json.gz",
                           "hta/trace_file_list/inference_rank_1.json.gz"}) {
    const auto path = shared_recording(name);
    if (!path) continue;
    CAPTURE(name);
    const auto classes = classified_time(classified_job(*path));
    CHECK(classes.at(0).work_class == WorkClass::unclassified);
    CHECK(classes[0].kernels == 0);
  }
}
