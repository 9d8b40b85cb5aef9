// SPDX-License-Identifier: Apache-2.0
/// What NCCL said joined with what ran, ranges from their two ends, steps from ranges.
#include "tests/catch.h"
#include "tests/unit/trace/formats/swtrace/memory_source.h"
#include "trace/formats/swtrace/rows.h"
#include "trace/formats/swtrace/swtrace.h"

namespace scaleworth::trace::recording {
namespace {

constexpr std::uint32_t thread = 10;

/// A kernel of NCCL, its launch at `launched_ns`, names 1 (kernel) and 2 (call).
void launch(Batch& batch,
            std::uint64_t launched_ns,
            std::uint32_t correlation,
            std::uint32_t name = 1) {
  batch.kernels.push_back(
      {.start_ns = launched_ns + 100, .duration_ns = 50, .correlation = correlation, .name = name});
  batch.calls.push_back({.start_ns = launched_ns,
                         .duration_ns = 10,
                         .correlation = correlation,
                         .name = 2,
                         .thread = thread,
                         .layer = CallLayer::driver});
}

Batch with_names() {
  Batch batch;
  batch.names = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                 "cuLaunchKernelEx",
                 "AllReduce",
                 "ReduceScatter",
                 "Send",
                 "Recv"};
  return batch;
}

CollectiveRow said(std::uint64_t time_ns, std::uint32_t function, std::uint64_t bytes) {
  return {.time_ns = time_ns,
          .communicator = 0xabcdU,
          .bytes = bytes,
          .fields = collective_has_bytes,
          .function = function,
          .thread = thread,
          .source = CollectiveSource::plugin};
}

Recording assemble(const Batch& batch) {
  std::string bytes = file_header();
  append_batch(batch, bytes);
  append_end(bytes);
  MemorySource source(std::move(bytes));
  return std::move(read_recording(source).front());
}

constexpr std::uint32_t reduce_scatter_kernel = 7;
constexpr std::uint32_t send_kernel = 8;
constexpr std::uint32_t gemm = 9;

Batch with_kernels() {
  Batch batch = with_names();
  batch.names.insert(batch.names.end(),
                     {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgs)",
                      "ncclDevKernel_SendRecv(ncclDevKernelArgs)",
                      "gemm",
                      "ncclCommInit"});
  return batch;
}

TEST_CASE("what the plugin reports belongs to the last kernel on its thread: NCCL launches first",
          "[recording]") {
  Batch batch = with_kernels();
  batch.collectives = {said(1600, 3, 4096), said(3600, 4, 64)};
  batch.collectives[0].fields |= collective_has_sequence;
  batch.collectives[0].sequence = 12;
  launch(batch, 1500, 5);
  launch(batch, 3500, 6, reduce_scatter_kernel);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 2);
  const Communication& first =
      recording.communications.at(recording.device_events[0].communication);
  REQUIRE(first.kind == CollectiveKind::all_reduce);
  REQUIRE(first.input_bytes == 4096);
  REQUIRE(first.sequence == 12);
  REQUIRE(recording.names.at(first.group) == "communicator 000000000000abcd");
  const Communication& second =
      recording.communications.at(recording.device_events[1].communication);
  REQUIRE(second.kind == CollectiveKind::reduce_scatter);
  REQUIRE(second.output_bytes == 64);
  REQUIRE_FALSE(second.input_bytes);
}

TEST_CASE("a launch that two layers record is one", "[recording]") {
  Batch batch = with_kernels();
  launch(batch, 1500, 5);
  CallRow inner = batch.calls.back();
  inner.start_ns = 1502;
  inner.duration_ns = 5;
  inner.layer = CallLayer::runtime;
  batch.calls.push_back(inner);
  batch.collectives = {said(1600, 3, 64)};
  REQUIRE(assemble(batch).communications.size() == 1);
}

TEST_CASE("ranges belong to the next kernel, the call to its own", "[recording]") {
  Batch batch = with_kernels();
  batch.collectives = {said(1000, 3, 4096), said(3000, 4, 64)};
  for (CollectiveRow& row : batch.collectives) row.source = CollectiveSource::range;
  launch(batch, 1500, 5);
  launch(batch, 3500, 6, reduce_scatter_kernel);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.at(recording.device_events[0].communication).input_bytes ==
          4096);
  REQUIRE(recording.communications.at(recording.device_events[1].communication).output_bytes == 64);
}

TEST_CASE("a group sends and receives: its bytes are two sums", "[recording]") {
  Batch batch = with_kernels();
  batch.collectives = {said(1600, 5, 100), said(1601, 6, 200), said(1602, 5, 30)};
  launch(batch, 1500, 5, send_kernel);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.communications[0].kind == CollectiveKind::send_receive);
  REQUIRE(recording.communications[0].input_bytes == 130);
  REQUIRE(recording.communications[0].output_bytes == 200);
}

TEST_CASE("a single receive puts nothing in", "[recording]") {
  Batch batch = with_kernels();
  batch.collectives = {said(1600, 6, 200)};
  launch(batch, 1500, 5, send_kernel);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications[0].output_bytes == 200);
  REQUIRE_FALSE(recording.communications[0].input_bytes);
}

TEST_CASE("calls whose launch ran no kernel of NCCL's stay apart and are counted", "[recording]") {
  Batch batch = with_kernels();
  launch(batch, 1500, 5);
  launch(batch, 1700, 6, gemm);
  batch.collectives = {said(1400, 3, 1), said(1800, 3, 2)};
  batch.kernels.pop_back();  // as a launch that a graph captures: a call, and no kernel
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.empty());
  REQUIRE(recording.losses.at("collective_calls_without_their_kernel") == 2);
}

TEST_CASE("ranges and kernels that do not pair stay apart and are counted", "[recording]") {
  Batch batch = with_names();
  batch.collectives = {said(1000, 3, 1), said(1001, 3, 2), said(1002, 3, 3)};
  for (CollectiveRow& row : batch.collectives) row.source = CollectiveSource::range;
  launch(batch, 1500, 5);
  launch(batch, 1600, 6);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.empty());
  REQUIRE(recording.losses.at("collective_calls_without_their_kernel") == 3);
}

TEST_CASE("one rank alone exchanges nothing: no kernel of its calls is missing", "[recording]") {
  Batch batch = with_kernels();
  launch(batch, 1500, 5, gemm);
  // As NCCL's plugin reports: the size once, when the communicator is made.
  CollectiveRow creation = said(1200, 10, 0);
  creation.fields = collective_has_ranks;
  creation.ranks = 1;
  batch.collectives = {creation, said(1400, 3, 1), said(1450, 3, 2)};
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.empty());
  REQUIRE_FALSE(recording.losses.contains("collective_calls_without_their_kernel"));
}

TEST_CASE("a call that its kernel's name contradicts is counted and not joined", "[recording]") {
  Batch batch = with_kernels();
  batch.collectives = {said(1600, 4, 64), said(2600, 3, 64), said(3600, 5, 64), said(4600, 5, 8)};
  launch(batch, 1500, 5);                         // an all-reduce for a reduce-scatter
  launch(batch, 2500, 6, send_kernel);            // a message for an all-reduce
  launch(batch, 3500, 7, reduce_scatter_kernel);  // a reduce-scatter for a message
  launch(batch, 4500, 8, send_kernel);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.losses.at("collective_calls_that_contradict_their_kernel") == 3);
}

TEST_CASE("a collective without a kernel takes none of another", "[recording]") {
  Batch batch = with_kernels();
  batch.names.emplace_back(copy_engine_word);  // 11
  batch.collectives = {said(1600, 3, 64), said(1700, 3, 64)};
  batch.collectives[1].algorithm = 11;
  launch(batch, 1500, 5);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.communications[0].input_bytes == 64);
  REQUIRE(recording.losses.at("copy_engine_collectives_without_their_copies") == 1);
}

TEST_CASE("a query is no wait", "[recording]") {
  Batch batch = with_names();
  batch.names.emplace_back("cudaEventQuery");  // 7
  batch.calls = {{.start_ns = 10, .duration_ns = 4, .correlation = 3, .name = 7, .thread = thread},
                 {.start_ns = 30, .duration_ns = 9, .correlation = 4, .name = 2, .thread = thread}};
  batch.waits = {{.start_ns = 11, .duration_ns = 2, .correlation = 3, .kind = WaitKind::event},
                 {.start_ns = 31, .duration_ns = 7, .correlation = 4, .kind = WaitKind::event}};
  const Recording recording = assemble(batch);
  REQUIRE(recording.synchronizations.size() == 1);
}

TEST_CASE("a call of another thread takes no kernel", "[recording]") {
  Batch batch = with_names();
  batch.collectives = {said(1600, 3, 1)};
  batch.collectives[0].thread = thread + 1;
  launch(batch, 1500, 5);
  const Recording recording = assemble(batch);
  REQUIRE(recording.device_events[0].communication == no_index);
}

TEST_CASE("where the plugin spoke the ranges are not counted twice", "[recording]") {
  Batch batch = with_names();
  batch.collectives = {said(1000, 3, 4096), said(1600, 3, 4096)};
  batch.collectives[0].source = CollectiveSource::range;
  launch(batch, 1500, 5);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.communications[0].input_bytes == 4096);
}

TEST_CASE("what NCCL attached to a range is placed where the range began", "[recording]") {
  Batch batch = with_names();
  batch.names.emplace_back("ncclAllReduce");  // 7
  batch.collectives = {{.communicator = 0xabcdU,
                        .bytes = 512,
                        .fields = collective_has_bytes,
                        .range = 40,
                        .source = CollectiveSource::range}};
  batch.marks = {
      {.time_ns = 1000, .id = 40, .name = 7, .thread = thread, .phase = MarkPhase::opened},
      {.time_ns = 1700, .id = 40, .thread = thread, .phase = MarkPhase::closed}};
  launch(batch, 1500, 5);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.communications[0].kind == CollectiveKind::all_reduce);
  REQUIRE(recording.communications[0].input_bytes == 512);
}

TEST_CASE("the way that NCCL chose goes with its kernel", "[recording]") {
  Batch batch = with_names();
  batch.names.insert(batch.names.end(), {"RING", "SIMPLE"});  // 7 and 8
  batch.collectives = {said(1600, 3, 4096)};
  batch.collectives[0].algorithm = 7;
  batch.collectives[0].protocol = 8;
  batch.collectives[0].channels = 2;
  launch(batch, 1500, 5);
  const Recording recording = assemble(batch);
  REQUIRE(recording.communications.size() == 1);
  const Communication& first = recording.communications[0];
  CHECK(recording.names.at(first.algorithm) == "RING");
  CHECK(recording.names.at(first.protocol) == "SIMPLE");
  CHECK(first.channels == 2);
}

TEST_CASE("a communicator's creation gives its size", "[recording]") {
  Batch batch;
  batch.names = {"ncclCommInitRank"};
  batch.collectives = {{.time_ns = 5,
                        .communicator = 0xabcdU,
                        .fields = collective_has_ranks,
                        .function = 1,
                        .rank = 3,
                        .ranks = 8}};
  const Recording recording = assemble(batch);
  REQUIRE(recording.groups.size() == 1);
  REQUIRE(recording.groups.begin()->second.size == 8);
}

TEST_CASE("ranges nest and overlap by their ids", "[recording]") {
  Batch batch;
  batch.names = {"outer", "inner"};
  batch.marks = {{.time_ns = 10, .id = 1, .name = 1, .thread = thread, .phase = MarkPhase::opened},
                 {.time_ns = 20, .id = 2, .name = 2, .thread = thread, .phase = MarkPhase::opened},
                 {.time_ns = 30, .id = 2, .thread = thread, .phase = MarkPhase::closed},
                 {.time_ns = 40, .id = 1, .thread = thread, .phase = MarkPhase::closed}};
  const Recording recording = assemble(batch);
  REQUIRE(recording.host_events.size() == 2);
  REQUIRE(recording.names.at(recording.host_events[0].name) == "outer");
  REQUIRE(recording.host_events[0].end.count() == 40);
  REQUIRE(recording.host_events[1].start.count() == 20);
  REQUIRE(recording.host_events[1].end.count() == 30);
}

TEST_CASE("a range that a program ends within, after all work, is not counted as lost",
          "[recording]") {
  Batch batch = with_names();
  launch(batch, 1500, 5);  // ends at 1650
  batch.marks = {{.time_ns = 1700, .id = 1, .name = 3, .phase = MarkPhase::opened}};
  const Recording recording = assemble(batch);
  REQUIRE_FALSE(recording.losses.contains("ranges_without_an_end"));
}

TEST_CASE("a range that a kill left open lasts until the last event and is counted",
          "[recording]") {
  Batch batch = with_names();
  launch(batch, 1500, 5);
  batch.marks = {{.time_ns = 100, .id = 1, .name = 3, .phase = MarkPhase::opened},
                 {.time_ns = 100, .id = 9, .phase = MarkPhase::closed}};
  const Recording recording = assemble(batch);
  REQUIRE(recording.host_events.front().end.count() == 1650);
  REQUIRE(recording.losses.at("ranges_without_an_end") == 1);
  REQUIRE(recording.losses.at("ranges_without_a_start") == 1);
}

TEST_CASE("NCCL's ranges of a communicator, whose end CUPTI does not report, are no loss",
          "[recording]") {
  Batch batch = with_kernels();
  launch(batch, 1500, 5, gemm);
  batch.marks = {{.time_ns = 100, .id = 1, .name = 10, .phase = MarkPhase::opened}};
  const Recording recording = assemble(batch);
  REQUIRE_FALSE(recording.losses.contains("ranges_without_an_end"));
  REQUIRE(std::ranges::none_of(recording.host_events, [](const HostEvent& event) {
    return event.activity == HostActivity::annotation;
  }));
}

TEST_CASE("steps are those of the preferred name, numbered where it has no number", "[recording]") {
  Batch batch;
  batch.names = {"step", "batch 7"};
  std::uint32_t id = 0;
  for (const std::uint64_t start : {100U, 200U, 300U}) {
    batch.marks.push_back({.time_ns = start, .id = ++id, .name = 1, .phase = MarkPhase::opened});
    batch.marks.push_back({.time_ns = start + 90, .id = id, .phase = MarkPhase::closed});
  }
  batch.marks.push_back({.time_ns = 120, .id = 50, .name = 2, .phase = MarkPhase::opened});
  batch.marks.push_back({.time_ns = 130, .id = 50, .phase = MarkPhase::closed});
  const Recording recording = assemble(batch);
  REQUIRE(recording.step_marks.size() == 3);
  REQUIRE(recording.step_marks[2].number == 2);
  REQUIRE(recording.step_marks[2].start.count() == 300);
  REQUIRE(recording.step_marks_from == "NVTX range 'step'");
}

TEST_CASE("the program of XLA that takes most launching is a step, those of its autotuning are not",
          "[recording]") {
  Batch batch;
  batch.names = {"XlaModule:#hlo_module=jit_update,program_id=59#",
                 "XlaModule:#hlo_module=jit_convert,program_id=60#",
                 "XlaModule:#hlo_module=gemm_fusion_dot.24#"};
  std::uint32_t id = 0;
  const auto add = [&](std::uint64_t start, std::uint32_t name, std::uint64_t length) {
    batch.marks.push_back({.time_ns = start, .id = ++id, .name = name, .phase = MarkPhase::opened});
    batch.marks.push_back({.time_ns = start + length, .id = id, .phase = MarkPhase::closed});
  };
  for (std::uint64_t i = 0; i < 50; ++i) add(100 + 10 * i, 3, 9);
  for (std::uint64_t i = 0; i < 4; ++i) {
    add(1000 + 100 * i, 1, 50);
    add(1060 + 100 * i, 2, 5);
    add(1070 + 100 * i, 2, 5);
  }
  const Recording recording = assemble(batch);
  REQUIRE(recording.step_marks.size() == 4);
  REQUIRE(recording.step_marks[1].start.count() == 1100);
  REQUIRE(recording.step_marks_from == "NVTX range 'jit_update'");
}

}  // namespace
}  // namespace scaleworth::trace::recording
