// SPDX-License-Identifier: Apache-2.0
/// The public Kineto recordings; numbers counted independently with Python's json and decimal.
#include "tests/catch.h"
#include "tests/skip.h"
#include "tests/unit/trace/formats/text_source.h"
#include "trace/formats/kineto.h"

#include <algorithm>

using namespace scaleworth::trace;
using scaleworth::CollectiveKind;
using scaleworth::testing::public_recording;

namespace {

/// Absent, with a warning that says so, where the recordings are not.
std::optional<Recording> read_public(const std::string& path) {
  const auto found = public_recording(path);
  if (!found) {
    scaleworth::tests::skip("the public recording " + path + " is not on this machine");
    return std::nullopt;
  }
  const auto source = open_byte_source(*found);
  return std::move(read_kineto(*source, [](std::string_view) { return false; }).front());
}

std::int64_t device_events(const Recording& recording, DeviceOperation operation) {
  return std::count_if(recording.device_events.begin(),
                       recording.device_events.end(),
                       [&](const DeviceEvent& event) { return event.operation == operation; });
}

std::int64_t host_events(const Recording& recording, HostActivity activity) {
  return std::count_if(recording.host_events.begin(),
                       recording.host_events.end(),
                       [&](const HostEvent& event) { return event.activity == activity; });
}

/// Sum of the durations of all work on the device, in ns.
std::int64_t device_time(const Recording& recording) {
  std::int64_t sum = 0;
  for (const auto& event : recording.device_events) sum += (event.end - event.start).count();
  return sum;
}

struct Counts {
  const char* path;
  std::int64_t kernels;
  std::int64_t copies;
  std::int64_t fills;
  std::int64_t calls;
  std::int64_t annotations;  // without step markers
  std::int64_t steps;
  std::int64_t synchronizations;
  std::int64_t device_ns;
  std::int64_t first_ns;
};

constexpr Counts all_counts[] = {
    {"dlrm_8xv100/worker0_step_12.1694128201545.pt.trace.json.gz",
     245,
     16,
     0,
     525,
     39,
     1,
     0,
     6851000,
     1694128201428006000},
    {"dlrm_8xv100/worker1_step_12.1694128201556.pt.trace.json.gz",
     310,
     16,
     0,
     527,
     39,
     1,
     0,
     12601000,
     1694128201422243000},
    {"dlrm_8xv100/worker2_step_12.1694128201554.pt.trace.json.gz",
     246,
     16,
     0,
     513,
     39,
     1,
     0,
     4579000,
     1694128201429646000},
    {"dlrm_8xv100/worker3_step_12.1694128201557.pt.trace.json.gz",
     315,
     16,
     6,
     541,
     39,
     1,
     0,
     11042000,
     1694128201422243000},
    {"dlrm_8xv100/worker4_step_12.1694128201547.pt.trace.json.gz",
     251,
     16,
     6,
     523,
     39,
     1,
     0,
     7739000,
     1694128201425339000},
    {"dlrm_8xv100/worker5_step_12.1694128201549.pt.trace.json.gz",
     245,
     16,
     0,
     505,
     39,
     1,
     0,
     7311000,
     1694128201425499000},
    {"dlrm_8xv100/worker6_step_12.1694128201553.pt.trace.json.gz",
     246,
     16,
     0,
     515,
     39,
     1,
     0,
     4628000,
     1694128201429650000},
    {"dlrm_8xv100/worker7_step_12.1694128201553.pt.trace.json.gz",
     246,
     16,
     0,
     504,
     39,
     1,
     0,
     2825000,
     1694128201430147000},
    {"hta/critical_path/cuda_event_sync/event_sync_trace.json.gz",
     4,
     1,
     0,
     12,
     0,
     1,
     4,
     51000,
     1707417525512145000},
    {"hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz",
     3,
     0,
     3,
     39,
     0,
     0,
     5,
     372000,
     1712867402348667000},
    {"hta/nccl_parser_config/nccl_data.json.gz",
     2700,
     960,
     114,
     8740,
     39,
     3,
     0,
     165185838,
     1716423322422880181},
    {"hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
     4350,
     1600,
     145,
     15329,
     65,
     5,
     0,
     472454441,
     1712195495505582988},
    {"hta/trace_file_list/inference_rank_1.json.gz",
     4,
     0,
     0,
     8,
     0,
     0,
     0,
     30000,
     1665536373729077000},
};

}  // namespace

TEST_CASE("events of every public Kineto recording are counted as Python counts them",
          "[trace][kineto]") {
  for (const auto& counts : all_counts) {
    INFO(counts.path);
    const auto recording = read_public(counts.path);
    if (!recording) return;
    CHECK(device_events(*recording, DeviceOperation::kernel) == counts.kernels);
    CHECK(device_events(*recording, DeviceOperation::copy) == counts.copies);
    CHECK(device_events(*recording, DeviceOperation::fill) == counts.fills);
    CHECK(host_events(*recording, HostActivity::runtime_call) == counts.calls);
    CHECK(host_events(*recording, HostActivity::annotation) == counts.annotations);
    CHECK(host_events(*recording, HostActivity::synchronization) == counts.synchronizations);
    // Of operators only those that may explain an idle GPU.
    for (const HostEvent& event : recording->host_events)
      CHECK((event.activity != HostActivity::operation ||
             event.end - event.start >= nanoseconds(500'000)));
    CHECK(static_cast<std::int64_t>(recording->step_marks.size()) == counts.steps);
    CHECK(device_time(*recording) == counts.device_ns);
    CHECK(recording->device_events.front().start.count() == counts.first_ns);
    CHECK(recording->losses.empty());
    CHECK(recording->remarks.empty());
  }
}

TEST_CASE("a rank of the DLRM job is known by its metadata", "[trace][kineto]") {
  const auto recording = read_public("dlrm_8xv100/worker3_step_12.1694128201557.pt.trace.json.gz");
  if (!recording) return;
  CHECK(recording->origin.rank == 3);
  CHECK(recording->origin.world_size == 8);
  CHECK(recording->origin.rank_from == "distributedInfo");
  CHECK(recording->origin.device == 3);
  CHECK(recording->origin.process == 59814);
  CHECK(recording->origin.tool == "Kineto");
  REQUIRE(recording->step_marks.size() == 1);
  CHECK(recording->step_marks[0].number == 10);
  CHECK((recording->step_marks[0].end - recording->step_marks[0].start).count() == 19313000);
  CHECK(recording->step_marks_from == "ProfilerStep");
  CHECK(recording->communications.empty());
  // "Memcpy HtoD (Pinned -> Device)" of 832 bytes on stream 22.
  const auto copy = std::find_if(recording->device_events.begin(),
                                 recording->device_events.end(),
                                 [](const auto& event) { return event.correlation == 42139; });
  REQUIRE(copy != recording->device_events.end());
  CHECK(copy->stream == 22);
  CHECK(copy->device == 3);
  CHECK(recording->copies.at(copy->copy).bytes == 832);
  CHECK(recording->names.at(recording->copies.at(copy->copy).direction) == "HtoD");
}

TEST_CASE("collectives with metadata tell kind, bytes and group", "[trace][kineto]") {
  const auto recording = read_public("hta/nccl_parser_config/nccl_data.json.gz");
  if (!recording) return;
  std::int64_t reduces = 0;
  for (const auto& each : recording->communications)
    reduces += each.kind == CollectiveKind::all_reduce ? 1 : 0;
  CHECK(recording->communications.size() == 21);
  CHECK(reduces == 15);
  const auto reduce = std::find_if(recording->device_events.begin(),
                                   recording->device_events.end(),
                                   [](const auto& event) { return event.correlation == 60047; });
  REQUIRE(reduce != recording->device_events.end());
  const auto& communication = recording->communications.at(reduce->communication);
  CHECK(communication.kind == CollectiveKind::all_reduce);
  CHECK(communication.input_bytes == 4 * 6637568);
  CHECK(communication.output_bytes == 4 * 6637568);
  const auto& group = recording->groups.at(communication.group);
  CHECK(recording->names.at(communication.group) == "0");
  CHECK(group.description == "default_pg");
  CHECK(group.size == 2);
  CHECK(group.ranks == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("waits of the tool's own record stand on the thread of their call", "[trace][kineto]") {
  const auto recording =
      read_public("hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz");
  if (!recording) return;
  std::vector<HostEvent> waits;
  for (const auto& event : recording->host_events)
    if (event.activity == HostActivity::synchronization) waits.push_back(event);
  REQUIRE(waits.size() == 5);
  for (const auto& wait : waits)
    CHECK(recording->threads.at(wait.thread) == "python3.10 3727853/3727853");
  const auto at = [&](std::size_t i) {
    return recording->synchronizations.at(waits[i].synchronization);
  };
  CHECK(at(0).kind == Synchronization::Kind::event);
  CHECK_FALSE(at(0).stream);
  CHECK_FALSE(at(0).waits_on);
  CHECK_FALSE(at(0).event_record);
  CHECK(at(1).waits_on == 20);
  CHECK(at(1).event_record == 32);
  CHECK(at(2).kind == Synchronization::Kind::stream_wait_event);
  CHECK(at(2).stream == 24);
  CHECK(at(4).kind == Synchronization::Kind::context);
}
