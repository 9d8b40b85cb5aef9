// SPDX-License-Identifier: Apache-2.0
#include "trace/classify/classify.h"

#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::trace;
using attribution::CollectiveKind;
using attribution::HostCause;
using attribution::WorkClass;

namespace {

DeviceEvent device_event(Recording& recording, const char* name, std::int64_t length) {
  DeviceEvent event;
  event.end = nanoseconds(length);
  event.name = recording.names.intern(name);
  return event;
}

}  // namespace

TEST_CASE("metadata of a collective overrules the name", "[classify]") {
  Recording recording;
  recording.communications.push_back({});
  recording.communications.back().kind = CollectiveKind::all_to_all;
  recording.communications.push_back({});  // kind unknown
  for (std::uint32_t communication : {no_index, 0u, 1u}) {
    DeviceEvent event = device_event(recording, "ncclDevKernel_SendRecv(int)", 5);
    event.communication = communication;
    recording.device_events.push_back(event);
  }
  classify(recording, RuleTable::built_in());
  CHECK(recording.device_events[0].collective == CollectiveKind::send_receive);
  CHECK(recording.device_events[1].collective == CollectiveKind::all_to_all);
  CHECK(recording.device_events[2].collective == CollectiveKind::send_receive);
}

TEST_CASE("copies are copies unless they carry out a collective", "[classify]") {
  Recording recording;
  recording.communications.push_back({});
  recording.communications.back().kind = CollectiveKind::all_gather;
  DeviceEvent copy = device_event(recording, "gemm", 5);
  copy.operation = DeviceOperation::copy;
  recording.device_events.push_back(copy);
  copy.communication = 0;
  recording.device_events.push_back(copy);
  classify(recording, RuleTable::built_in());
  CHECK(recording.device_events[0].work_class == WorkClass::copy);
  CHECK(recording.device_events[1].work_class == WorkClass::communication);
  CHECK(recording.device_events[1].collective == CollectiveKind::all_gather);
}

TEST_CASE("a host that stands still is synchronizing, a stream that waits is not", "[classify]") {
  Recording recording;
  recording.synchronizations.resize(2);
  recording.synchronizations[0].kind = Synchronization::Kind::context;
  recording.synchronizations[1].kind = Synchronization::Kind::stream_wait_event;
  for (std::uint32_t index : {0u, 1u}) {
    HostEvent event;
    event.activity = HostActivity::synchronization;
    event.synchronization = index;
    event.name = recording.names.intern("a tool's own word");
    recording.host_events.push_back(event);
  }
  classify(recording, RuleTable::built_in());
  CHECK(recording.host_events[0].cause == HostCause::synchronizing_call);
  CHECK(!recording.host_events[1].cause);
}

TEST_CASE("time by class sums over recordings and always shows what no rule knows", "[classify]") {
  Job job;
  job.recordings.resize(2);
  for (Recording& recording : job.recordings) {
    recording.device_events = {device_event(recording, "volta_sgemm_128x32_nn", 10),
                               device_event(recording, "volta_sgemm_32x32_nn", 30)};
    classify(recording, RuleTable::built_in());
  }
  const auto classes = classified_time(job);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].work_class == WorkClass::unclassified);
  CHECK(classes[0].kernels == 0);
  CHECK(classes[1].work_class == WorkClass::gemm);
  CHECK(classes[1].kernels == 4);
  CHECK(classes[1].time == nanoseconds(80));
  REQUIRE(classes[1].largest.size() == 2);
  CHECK(classes[1].largest[0] == std::pair<std::string, nanoseconds>("volta_sgemm_32x32_nn", 60));
}
