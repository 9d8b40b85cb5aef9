// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/trace/recordings.h"
#include "trace/analysis/intervals.h"
#include "trace/classify.h"
#include "trace/formats/nsight/contents.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

std::int64_t count(const Recording& recording, DeviceOperation operation) {
  return std::count_if(recording.device_events.begin(),
                       recording.device_events.end(),
                       [&](const DeviceEvent& event) { return event.operation == operation; });
}

std::int64_t count(const Recording& recording, HostActivity activity) {
  return std::count_if(recording.host_events.begin(),
                       recording.host_events.end(),
                       [&](const HostEvent& event) { return event.activity == activity; });
}

std::int64_t busy(const Recording& recording, bool (*wanted)(const DeviceEvent&)) {
  std::vector<TimeInterval> times;
  for (const DeviceEvent& event : recording.device_events)
    if (wanted(event)) times.push_back({event.start, event.end});
  return IntervalSet(std::move(times)).length().count();
}

bool nccl(const DeviceEvent& event) {
  return event.work_class == WorkClass::communication;
}
bool compute(const DeviceEvent& event) {
  return event.operation == DeviceOperation::kernel && !nccl(event);
}
bool copy(const DeviceEvent& event) {
  return event.operation != DeviceOperation::kernel;
}
bool anything(const DeviceEvent&) {
  return true;
}

}  // namespace

TEST_CASE("The recording of two GPUs gives the counts and times that were taken from it by hand",
          "[nsight]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const RuleTable rules = RuleTable::built_in();
  std::vector<Recording> ranks = read_nsight(*path, rules);
  REQUIRE(ranks.size() == 2);
  for (Recording& rank : ranks) classify(rank, rules);

  CHECK(ranks[0].origin.process == 144);
  CHECK(ranks[0].origin.device == 0);
  CHECK(ranks[1].origin.process == 145);
  CHECK(ranks[1].origin.device == 1);
  CHECK(ranks[1].origin.rank == 1);
  CHECK(ranks[1].origin.rank_from == "order of process and device");
  CHECK(ranks[0].origin.tool == "Nsight Systems 2026.2.1.210");
  CHECK(ranks[0].origin.host == "modal");

  CHECK(count(ranks[0], DeviceOperation::kernel) == 1993);
  CHECK(count(ranks[1], DeviceOperation::kernel) == 2017);
  CHECK(count(ranks[0], DeviceOperation::copy) + count(ranks[1], DeviceOperation::copy) == 1020);
  CHECK(count(ranks[0], DeviceOperation::fill) + count(ranks[1], DeviceOperation::fill) == 269);

  CHECK(busy(ranks[0], nccl) == 17'172'652);
  CHECK(busy(ranks[1], nccl) == 8'229'100);
  CHECK(busy(ranks[0], compute) == 253'690'832);
  CHECK(busy(ranks[1], compute) == 256'095'624);
  CHECK(busy(ranks[0], copy) == 2'954'303);
  CHECK(busy(ranks[1], copy) == 2'951'192);
  CHECK(busy(ranks[0], anything) == 273'817'787);
  CHECK(busy(ranks[1], anything) == 267'275'916);
  CHECK(ranks[0].losses.empty());
}

TEST_CASE("Host calls, waits and the tool's own work are read from the recording of two GPUs",
          "[nsight]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const std::vector<Recording> ranks = read_nsight(*path, RuleTable::built_in());
  std::int64_t calls = 0;
  std::int64_t waits = 0;
  std::int64_t overhead = 0;
  for (const Recording& rank : ranks) {
    calls += count(rank, HostActivity::runtime_call) + count(rank, HostActivity::driver_call);
    waits += count(rank, HostActivity::synchronization);
    overhead += count(rank, HostActivity::overhead);
    CHECK(rank.step_marks.empty());
  }
  CHECK(calls == 7466);
  CHECK(waits == 366);
  CHECK(overhead == 6);
  // utcEpochNs of the file plus the first kernel's start, which is rank 1's
  CHECK(ranks[1].device_events.front().start ==
        nanoseconds(1'779'782'330'176'752'435 + 60'111'513'113));
}

TEST_CASE("NCCL's ranges of the recording of two GPUs give each kernel the group of calls it runs",
          "[nsight]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const RuleTable rules = RuleTable::built_in();
  for (Recording& rank : read_nsight(*path, rules)) {
    classify(rank, rules);
    // 33 kernels, of which the first was launched before the recording begins
    CHECK(rank.communications.size() == 32);
    for (const Communication& communication : rank.communications)
      CHECK(communication.kind == CollectiveKind::send_receive);
    std::int64_t without_call = 0;
    for (const DeviceEvent& event : rank.device_events) {
      if (!nccl(event)) CHECK(event.communication == no_index);
      without_call += nccl(event) && event.communication == no_index;
    }
    CHECK(without_call == 1);
  }
}
