// SPDX-License-Identifier: Apache-2.0
/// Files as bytes: what is written reads again, whatever end a killed process left.
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/swtrace/memory_source.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/rows.h"
#include "trace/formats/swtrace/swtrace.h"

namespace scaleworth::trace::recording {
namespace {

constexpr std::uint64_t day = 1'763'000'000'000'000'000U;  // ns since 1970, in 2025

Recording read(const std::string& bytes) {
  MemorySource source(bytes);
  return std::move(read_recording(source).front());
}

std::string file_of(const std::vector<Batch>& batches) {
  std::string bytes = file_header();
  for (const Batch& batch : batches) append_batch(batch, bytes);
  return bytes;
}

Batch one_kernel(std::uint64_t start_ns) {
  Batch batch;
  batch.names = {"_Z3addPfS_i", "cudaLaunchKernel"};
  batch.kernels = {{.start_ns = start_ns,
                    .duration_ns = 4000,
                    .correlation = 17,
                    .name = 1,
                    .stream = 7,
                    .device = 2}};
  batch.calls = {{.start_ns = start_ns - 9000,
                  .duration_ns = 2000,
                  .correlation = 17,
                  .name = 2,
                  .thread = 4242}};
  return batch;
}

TEST_CASE("a kernel and its launch read as they were written, the name demangled", "[recording]") {
  Batch batch = one_kernel(day);
  batch.facts = {{"host", "gpu-17"}, {"process", "4240"}, {"program", "python"}, {"rank", "3"}};
  const Recording recording = read(file_of({batch}));
  REQUIRE(recording.device_events.size() == 1);
  const DeviceEvent& kernel = recording.device_events.front();
  REQUIRE(kernel.start.count() == static_cast<std::int64_t>(day));
  REQUIRE((kernel.end - kernel.start).count() == 4000);
  REQUIRE(recording.names.at(kernel.name) == "add(float*, float*, int)");
  REQUIRE(kernel.stream == 7);
  REQUIRE(kernel.device == 2);
  REQUIRE(recording.host_events.size() == 1);
  REQUIRE(recording.host_events.front().correlation == kernel.correlation);
  REQUIRE(recording.threads == std::vector<std::string>{"python 4240/4242"});
  REQUIRE(recording.origin.host == "gpu-17");
  REQUIRE(recording.origin.rank == 3);
  REQUIRE(recording.origin.device == 2);
}

TEST_CASE("a process whose GPUs are a rank each gives a recording for each", "[recording]") {
  Batch batch;
  batch.names = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)", "cuLaunchKernelEx", "AllReduce"};
  for (const std::uint32_t device : {0U, 1U}) {
    const std::uint64_t time = day + 10'000 * device;
    batch.collectives.push_back({.time_ns = time + 20,  // after its launch, as NCCL reports
                                 .communicator = 0xabc,
                                 .function = 3,
                                 .rank = 4 + device,
                                 .ranks = 8,
                                 .thread = 1,
                                 .source = CollectiveSource::plugin});
    batch.calls.push_back({.start_ns = time + 10,
                           .duration_ns = 5,
                           .correlation = 1 + device,
                           .name = 2,
                           .thread = 1,
                           .layer = CallLayer::driver});
    batch.kernels.push_back({.start_ns = time + 100,
                             .duration_ns = 50,
                             .correlation = 1 + device,
                             .name = 1,
                             .device = device,
                             .shape = device});  // that of the first is not known
  }
  batch.shapes = {
      {.grid_x = 4, .grid_y = 2, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1}};
  const std::string bytes = file_of({batch});
  MemorySource source(bytes);
  const auto recordings = read_recording(source);
  REQUIRE(recordings.size() == 2);
  CHECK(recordings[0].origin.rank == 4);
  CHECK(recordings[1].origin.rank == 5);
  CHECK(recordings[1].origin.world_size == 8);
  CHECK(recordings[1].host_events.size() == 1);
  CHECK(recordings[0].device_events.at(0).shape == 0);
  CHECK(recordings[1].shapes.at(NameId{recordings[1].device_events.at(0).shape}) ==
        "[4, 2, 1] [128, 1, 1]");
}

TEST_CASE("names of later batches go on where those before ended", "[recording]") {
  Batch later;
  later.names = {"second"};
  later.kernels = {{.start_ns = day + 10'000, .duration_ns = 1, .name = 3}};
  const Recording recording = read(file_of({one_kernel(day), later}));
  REQUIRE(recording.device_events.size() == 2);
  REQUIRE(recording.names.at(recording.device_events[1].name) == "second");
}

TEST_CASE("copies and fills keep bytes and direction", "[recording]") {
  Batch batch;
  batch.copies = {
      {{.start_ns = day, .duration_ns = 10, .bytes = 1U << 20U}, CopyDirection::to_device}};
  batch.fills = {{.start_ns = day + 50, .duration_ns = 5, .bytes = 64}};
  const Recording recording = read(file_of({batch}));
  REQUIRE(recording.device_events.size() == 2);
  const DeviceEvent& copy = recording.device_events.front();
  REQUIRE(copy.operation == DeviceOperation::copy);
  REQUIRE(recording.copies.at(copy.copy).bytes == 1 << 20);
  REQUIRE(recording.names.at(recording.copies.at(copy.copy).direction) == "HtoD");
  REQUIRE(recording.device_events.back().operation == DeviceOperation::fill);
}

TEST_CASE("a wait for an event names the stream that it was recorded on", "[recording]") {
  Batch batch;
  batch.names = {"cudaStreamWaitEvent"};
  batch.events = {{.event_use = 900, .correlation = 5, .stream = 20}};
  batch.calls = {{.start_ns = day, .duration_ns = 9, .correlation = 6, .name = 1, .thread = 77}};
  batch.waits = {{.start_ns = day,
                  .duration_ns = 8,
                  .event_use = 900,
                  .correlation = 6,
                  .stream = 7,
                  .kind = WaitKind::stream_wait_event}};
  const Recording recording = read(file_of({batch}));
  REQUIRE(recording.synchronizations.size() == 1);
  const Synchronization& wait = recording.synchronizations.front();
  REQUIRE(wait.kind == Synchronization::Kind::stream_wait_event);
  REQUIRE(wait.stream == 7);
  REQUIRE(wait.waits_on == 20);
  REQUIRE(wait.event_record == 5);
  REQUIRE(recording.host_events.size() == 2);
  REQUIRE(recording.host_events[0].thread == recording.host_events[1].thread);
}

TEST_CASE("a wait whose call was not recorded has a thread of its own", "[recording]") {
  Batch batch;
  batch.waits = {{.start_ns = day, .duration_ns = 8, .correlation = 6, .kind = WaitKind::context}};
  const Recording recording = read(file_of({batch}));
  REQUIRE(recording.threads.at(recording.host_events.at(0).thread).ends_with("/0"));
}

TEST_CASE("a file cut at any byte gives the batches that were whole", "[recording]") {
  const std::string first = file_of({one_kernel(day)});
  Batch second;
  second.kernels = {{.start_ns = day + 50'000, .duration_ns = 1, .name = 1}};
  std::string bytes = first;
  append_batch(second, bytes);
  for (std::size_t cut = first.size() + 1; cut < bytes.size(); ++cut) {
    const Recording recording = read(bytes.substr(0, cut));
    REQUIRE(recording.device_events.size() == 1);
    REQUIRE(recording.losses.at("truncated_bytes") ==
            static_cast<std::int64_t>(cut - first.size()));
    REQUIRE(recording.remarks.front().id == FindingId::frames_damaged);
    REQUIRE(std::get<std::string>(recording.remarks.front().arguments.at(0).value)
                .starts_with("byte " + std::to_string(first.size()) + ":"));
  }
}

TEST_CASE("a changed byte is found and what is before its frame reads", "[recording]") {
  const std::string first = file_of({one_kernel(day)});
  std::string bytes = first;
  append_batch(one_kernel(day + 50'000), bytes);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const Recording recording = read(bytes);
  REQUIRE(recording.device_events.size() >= 1);
  REQUIRE(recording.losses.at("truncated_bytes") > 0);
}

TEST_CASE("a file that its process ended says nothing of a lost end", "[recording]") {
  std::string bytes = file_of({one_kernel(day)});
  REQUIRE(read(bytes).remarks == std::vector<Finding>{FindingId::recording_not_ended});
  append_end(bytes);
  REQUIRE(read(bytes).remarks.empty());
}

TEST_CASE("losses add up over the batches", "[recording]") {
  Batch batch = one_kernel(day);
  batch.losses = {{"dropped_records", 4}};
  Batch later;
  later.losses = {{"dropped_records", 3}};
  REQUIRE(read(file_of({batch, later})).losses.at("dropped_records") == 7);
}

TEST_CASE("a newer version is refused with both versions named", "[recording]") {
  MemorySource source(file_header(format_version + 1));
  REQUIRE_THROWS_WITH(read_recording(source),
                      "rank0.swtrace: byte 8: format version 2, this program reads up to 1; use a "
                      "newer scaleworth");
}

TEST_CASE("other bytes are refused as no recording", "[recording]") {
  MemorySource empty("");
  REQUIRE_THROWS_AS(read_recording(empty), UserError);
  MemorySource text("{\"traceEvents\": []}       ");
  REQUIRE_THROWS_AS(read_recording(text), UserError);
  MemorySource header_only(file_header());
  REQUIRE_THROWS_AS(read_recording(header_only), UserError);
}

TEST_CASE("frames of kinds that a later version adds are passed over and counted", "[recording]") {
  std::string bytes = file_header();
  append_frame(static_cast<FrameKind>(900), bytes, [](std::string& to) { to += "later"; });
  append_batch(one_kernel(day), bytes);
  const Recording recording = read(bytes);
  REQUIRE(recording.device_events.size() == 1);
  REQUIRE(recording.losses.at("frames_of_a_later_version") == 1);
}

TEST_CASE("times that no clock shows are left out and counted", "[recording]") {
  Batch batch = one_kernel(day);
  batch.kernels.push_back({.start_ns = ~std::uint64_t{0}, .duration_ns = 9});
  batch.kernels.push_back({.start_ns = day, .duration_ns = ~std::uint64_t{0}});
  const Recording recording = read(file_of({batch}));
  REQUIRE(recording.device_events.size() == 1);
  REQUIRE(recording.losses.at("events_with_impossible_times") == 2);
}

}  // namespace
}  // namespace scaleworth::trace::recording
