// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/report/fixture.h"

#include <fmt/format.h>

namespace scaleworth::report::fixture {
namespace {

using std::chrono::microseconds;
using namespace std::chrono_literals;

constexpr int ranks = 4;
constexpr int steps = 6;
constexpr int late = 3;

void set(StepLedger& ledger, Part part, Nanoseconds time) {
  ledger.part(part) = time;
}

void set_class(StepLedger& ledger, WorkClass which, Nanoseconds time) {
  ledger.compute_by_class[static_cast<std::size_t>(which)] = time;
}

/// 20 ms: compute 13, transfer 1.5, then 4 ms of waiting or, on the late rank, of a late host.
StepLedger ledger(int step, int rank) {
  StepLedger one;
  one.step = step;
  one.rank = Rank{rank};
  const Nanoseconds wobble = 10us * step;
  one.start = 20ms * step;
  set(one, Part::compute, 13ms + wobble);
  set_class(one, WorkClass::gemm, 9ms + wobble);
  set_class(one, WorkClass::elementwise, 3900us);
  set_class(one, WorkClass::unclassified, 100us);
  set(one, Part::exposed_transfer, 1500us);
  set(one, Part::exposed_copy, 120us);
  set(one, Part::dependency_idle, 300us);
  set(one, Part::launch_gap, 180us);
  if (rank == late) {
    set(one, Part::host_late, 4500us);
    one.host_late_by_cause[static_cast<std::size_t>(HostCause::data_loading)] = 4200us;
    one.host_late_by_cause[static_cast<std::size_t>(HostCause::launch_bound)] = 300us;
  } else {
    set(one, Part::host_late, 500us);
    one.host_late_by_cause[static_cast<std::size_t>(HostCause::launch_bound)] = 500us;
    set(one, Part::exposed_wait, 4ms);
    one.waited_for[Place{late}] = 3990us;
    one.uncharged_wait = 10us;
  }
  set(one, Part::unattributed, 400us - wobble);
  one.end = one.start + 20ms;
  one.overlapped_transfer = 2ms;
  one.overlapped_wait = rank == late ? 0us : 700us;
  if (step == 4) {
    for (const Part part : recording_parts) one.pieces.push_back({part, one.part(part)});
  }
  one.communication = 1500us + 2ms + (rank == late ? 0us : 4700us);
  if (step == 0) one.excluded = {.cause = ExclusionCause::warm_up, .excess = 0.4};
  if (step == steps - 1) one.excluded = {ExclusionCause::last_step};
  return one;
}

CollectiveWait collective(int step, int index) {
  CollectiveWait one;
  one.kind = index == 0 ? CollectiveKind::all_reduce : CollectiveKind::all_gather;
  one.group = "data parallel";
  one.step = step;
  one.index = step * 2 + index;
  if (index == 0) one.bytes = 64 << 20;
  const Nanoseconds begin = 20ms * step + 13ms + 2ms * index;
  const Nanoseconds lateness = index == 0 ? 4ms : 0ms;
  for (int rank = 0; rank < ranks; ++rank) {
    CollectiveWait::Participant part;
    part.rank = Rank{rank};
    part.start = begin + (rank == late ? lateness : Nanoseconds::zero());
    part.end = begin + lateness + 750us;
    part.wait = begin + lateness - part.start;
    part.transfer = 750us;
    one.participants.push_back(part);
  }
  if (index == 0) {
    one.algorithm = "RING";
    one.protocol = "SIMPLE";
    one.channels = 16;
  }
  if (index == 0) one.last_arriver = Rank{late};
  one.spread_of_starts = lateness;
  one.spread_of_ends = 3us;
  one.shortest = 750us;
  return one;
}

StragglerReport stragglers() {
  StragglerReport report;
  report.finding = StragglerFinding::named;
  report.pairs = {{Rank{0}, Rank{1}, 35us, 35us}};
  for (int rank = 0; rank < late; ++rank)
    report.pairs.push_back({Rank{rank}, Rank{late}, 4 * 3990us, 4 * 4690us, 4 * 3990us});
  Straggler straggler;
  straggler.rank = Rank{late};
  straggler.unit = "rank 3";
  straggler.waited = 3 * 4 * 4690us;
  straggler.exposed = 3 * 4 * 3990us;
  straggler.exposed_per_step_ms = 3.99;
  straggler.gpu_seconds = 3 * 4 * 3.99e-3;
  straggler.collectives = 4;
  straggler.steps = 4;
  straggler.significant = true;
  straggler.cause = LateCause::host;
  straggler.shares = {
      {LateCause::host, 3700us, {}, HostCause::data_loading},
      {LateCause::slower_kernels, 290us, Finding(FindingId::stated, "gemm kernels +3 %")}};
  report.stragglers = {straggler};
  report.recurrence = Recurrence::one_rank;
  return report;
}

Efficiency efficiency() {
  Efficiency result;
  result.window = Finding(FindingId::stated, "steps 1 to 4");
  result.runtime = 80ms;
  result.useful = {52ms, 52ms, 52ms, 52ms};
  result.load_balance = 1.0;
  result.transfer = 0.925;
  result.host = 0.78;
  result.dependency = 0.65 / 0.925 / 0.78;
  result.serialization = result.host * result.dependency;
  result.parallel = 0.65;
  result.step_time = 20ms;
  result.replay_error = 0.012;
  result.what_if = {{ReplayChange::on_time, 16100us, 3900us, {"rank 3"}},
                    {ReplayChange::no_transfer, 18500us, 1500us},
                    {ReplayChange::hidden_communication, 16500us, 3500us}};
  return result;
}

RankRecording recording(int rank) {
  RankRecording one;
  one.rank = Rank{rank};
  one.file = fmt::format("rank-{}.json.gz", rank);
  one.where = fmt::format("host node-1, pid {}, GPU {}", 100 + rank, rank);
  one.rank_from = "distributedInfo";
  one.device_events = 1000 + rank;
  one.host_events = 5000;
  if (rank == 2) one.losses["dropped_records"] = 12;
  return one;
}

}  // namespace

Attribution straggler_job() {
  Attribution job;
  for (int rank = 0; rank < ranks; ++rank) {
    job.recordings.push_back(recording(rank));
    job.clocks.ranks.push_back({Rank{rank}, 1us * rank, 0.2 * rank, 900ns, 3us, 12});
  }
  job.remarks = {{FindingId::stated, "Ranks were found from distributedInfo."}};
  job.step_choice.source = "ProfilerStep markers";
  job.step_choice.found = Finding(FindingId::stated, "a step lasts from one marker to the next");
  job.step_choice.steps = 6;
  job.step_choice.excluded = 2;
  job.clocks.error = 5us;
  job.clocks.method = Finding(FindingId::stated, "ends of 12 collectives agree");
  job.classes = {{WorkClass::unclassified, 40, 2ms, {{"my_kernel(float*)", 2ms}}},
                 {WorkClass::communication, 48, 90ms, {{"ncclDevKernel_AllReduce", 80ms}}},
                 {WorkClass::gemm, 2000, 220ms, {{"ampere_bf16_gemm", 200ms}}}};
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) job.ledger.push_back(ledger(step, rank));
    for (int index = 0; index < 2; ++index) job.collectives.push_back(collective(step, index));
  }
  // Of the four steps that count: each all-reduce keeps three ranks waiting for 4 ms.
  job.collective_sums = {{CollectiveKind::all_reduce, 4, 48ms, 12ms, 0ms},
                         {CollectiveKind::all_gather, 4, 0ms, 12ms, 0ms}};
  job.collective_ways = {job.collective_sums[1], job.collective_sums[0]};
  for (CollectiveSum& one : job.collective_ways) {
    one.shortest.assign(4, 750e-6);
    one.spread_of_ends.assign(4, 3e-6);
  }
  CollectiveSum& reduced = job.collective_ways[1];
  reduced.way = "RING SIMPLE";
  reduced.bytes = 4.0 * (64 << 20);
  reduced.seconds_with_bytes = 4 * 750e-6;
  job.stragglers = stragglers();
  job.efficiency = efficiency();
  return job;
}

Attribution lone_recording() {
  Attribution job;
  job.recordings = {recording(0)};
  job.step_choice.source = "whole span";
  job.step_choice.found = Finding(FindingId::stated, "no markers and no repetition were found");
  job.step_choice.steps = job.step_choice.excluded = 1;
  job.classes = {{WorkClass::unclassified, 0, 0ms, {}}};
  StepLedger only = ledger(0, 0);
  only.waited_for = {};
  // Without the other ranks nobody can say what of it was waiting.
  only.part(Part::exposed_undivided) =
      only.part(Part::exposed_wait) + only.part(Part::exposed_transfer);
  only.overlapped_undivided = only.overlapped_wait + only.overlapped_transfer;
  only.part(Part::exposed_wait) = only.part(Part::exposed_transfer) = 0ns;
  only.overlapped_wait = only.overlapped_transfer = 0ns;
  only.uncharged_wait = 0ns;
  only.excluded = {ExclusionCause::only_step};
  job.ledger = {only};
  job.unmatched_collectives = 7;
  job.stragglers.abstention = Finding(FindingId::stated, "one rank alone cannot tell who was late");
  job.efficiency_reason =
      Finding(FindingId::stated, "one rank alone says nothing about the others");
  job.clocks.comparable = false;
  job.clocks.reason = Finding(FindingId::stated, "there is one recording only");
  return job;
}

RenderOptions attribution_options(Format format) {
  RenderOptions options;
  options.format = format;
  options.input = "traces/";
  options.tool_version = "0.1.0";
  options.git_revision = "0123456789ab";
  return options;
}

}  // namespace scaleworth::report::fixture
