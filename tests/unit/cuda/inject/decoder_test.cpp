// SPDX-License-Identifier: Apache-2.0
/// CUPTI's records, made up, as rows.
#include "cuda/inject/decoder.h"

#include "tests/catch.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace scaleworth::gpu {
namespace {

using namespace trace::recording;

template <class Record>
void add(RecordDecoder& decoder, const Record& record, Batch& batch) {
  decoder.add(reinterpret_cast<const CUpti_Activity&>(record), batch);
}

CUpti_ActivityKernel9 kernel(std::uint64_t start, std::uint64_t end, const char* name) {
  CUpti_ActivityKernel9 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = start;
  record.end = end;
  record.name = name;
  record.gridX = 132;
  record.blockX = 256;
  return record;
}

TEST_CASE("a kernel keeps its times, place, graph and shape", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  auto record = kernel(1000, 1700, "_Z4gemmPf");
  record.correlationId = 9;
  record.deviceId = 3;
  record.streamId = 13;
  record.graphNodeId = 77;
  record.blockX = 128;
  add(decoder, record, batch);
  add(decoder, kernel(2000, 2100, "_Z4gemmPf"), batch);
  REQUIRE(batch.kernels.size() == 2);
  const KernelRow& row = batch.kernels.front();
  REQUIRE(row.start_ns == 1000);
  REQUIRE(row.duration_ns == 700);
  REQUIRE(row.correlation == 9);
  REQUIRE(row.device == 3);
  REQUIRE(row.stream == 13);
  REQUIRE(row.graph_node == 77);
  REQUIRE(batch.names == std::vector<std::string>{"_Z4gemmPf"});
  REQUIRE(batch.shapes.size() == 2);
  REQUIRE(batch.shapes.front().block_x == 128);
}

TEST_CASE("a name's memory that another kernel gets is looked at again", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  char memory[16] = "first";
  add(decoder, kernel(1, 2, memory), batch);
  std::strcpy(memory, "second");
  add(decoder, kernel(3, 4, memory), batch);
  REQUIRE(batch.names == std::vector<std::string>{"first", "second"});
  REQUIRE(batch.kernels[1].name == 2);
}

TEST_CASE("records without times are counted as lost", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  add(decoder, kernel(0, 0, "a"), batch);
  add(decoder, kernel(500, 400, "a"), batch);
  REQUIRE(batch.kernels.empty());
  REQUIRE(batch.losses.size() == 2);
  REQUIRE(batch.losses.front().first == "records_without_times");
}

TEST_CASE("copies know their direction, also between GPUs", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  CUpti_ActivityMemcpy5 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.start = 10;
  copy.end = 30;
  copy.bytes = 4096;
  add(decoder, copy, batch);
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.start = 40;
  peer.end = 50;
  peer.bytes = 8;
  add(decoder, peer, batch);
  REQUIRE(batch.copies.size() == 2);
  REQUIRE(batch.copies[0].direction == CopyDirection::to_host);
  REQUIRE(batch.copies[0].bytes == 4096);
  REQUIRE(batch.copies[1].direction == CopyDirection::between_devices);
}

TEST_CASE("calls are named without the release that brought them", "[capture]") {
  int asked = 0;
  RecordDecoder decoder({[&asked](CUpti_CallbackDomain domain, CUpti_CallbackId) {
                           ++asked;
                           return std::string(domain == CUPTI_CB_DOMAIN_RUNTIME_API
                                                  ? "cudaLaunchKernel_v7000"
                                                  : "cuMemcpyHtoDAsync_v2");
                         },
                         {}});
  Batch batch;
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = 211;
  call.start = 5;
  call.end = 9;
  call.threadId = 77;
  add(decoder, call, batch);
  add(decoder, call, batch);
  call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  add(decoder, call, batch);
  REQUIRE(batch.names == std::vector<std::string>{"cudaLaunchKernel", "cuMemcpyHtoDAsync_v2"});
  REQUIRE(asked == 2);
  REQUIRE(batch.calls[0].thread == 77);
  REQUIRE(batch.calls[2].layer == CallLayer::driver);
}

TEST_CASE("waits and the events they wait for carry the same use", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  cupti::CudaEvent2 event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.cudaEventSyncId = 31;
  event.streamId = 20;
  add(decoder, event, batch);
  cupti::Synchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  wait.start = 3;
  wait.end = 4;
  wait.streamId = 7;
  wait.cudaEventSyncId = 31;
  add(decoder, wait, batch);
  wait.returnValue = CUDA_ERROR_NOT_READY;
  add(decoder, wait, batch);
  REQUIRE(batch.waits.size() == 1);  // one that failed is no wait
  REQUIRE(batch.waits.front().kind == WaitKind::stream_wait_event);
  REQUIRE(batch.waits.front().event_use == batch.events.front().event_use);
}

TEST_CASE("a record of an older CUPTI is not read beyond its end", "[capture]") {
  RecordDecoder decoder({.call_name = {}, .schema = {}, .version = cupti_of_cuda_12_4});
  Batch batch;
  cupti::CudaEvent2 event{};  // what lies behind the older record is another's
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.cudaEventSyncId = 31;
  add(decoder, event, batch);
  cupti::Synchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = 3;
  wait.end = 4;
  wait.streamId = 7;
  wait.cudaEventSyncId = 31;
  wait.returnValue = CUDA_ERROR_NOT_READY;
  add(decoder, wait, batch);
  REQUIRE(batch.waits.size() == 1);
  REQUIRE(batch.waits.front().kind == WaitKind::stream);
  REQUIRE(batch.waits.front().stream == 7);
  REQUIRE(batch.waits.front().event_use == 0);
  REQUIRE(batch.events.empty());
}

TEST_CASE("overheads are named by their kind", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  overhead.overheadData = std::malloc(8);  // the decoder frees it
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.threadId = 5;
  overhead.start = 1;
  overhead.end = 2;
  add(decoder, overhead, batch);
  REQUIRE(batch.names.front() == "Command Buffer Full");
  REQUIRE(batch.overheads.front().thread == 5);
}

TEST_CASE("the two ends of a range carry one id, its start the name", "[capture]") {
  RecordDecoder decoder;
  Batch batch;
  CUpti_ActivityMarker2 marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  marker.id = 8;
  marker.name = "ncclAllReduce";
  marker.timestamp = 100;
  add(decoder, marker, batch);
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  marker.name = nullptr;
  marker.timestamp = 140;
  add(decoder, marker, batch);
  REQUIRE(batch.marks[0].phase == MarkPhase::opened);
  REQUIRE(batch.marks[1].phase == MarkPhase::closed);
  REQUIRE(batch.marks[0].id == batch.marks[1].id);
  REQUIRE(batch.names == std::vector<std::string>{"ncclAllReduce"});
}

struct AllReducePayload {
  std::uint64_t communicator;
  std::size_t bytes;
  int operation;
};

/// As CUPTI hands it over: a copy that the client frees.
cupti::MarkerData2 payload_record(const AllReducePayload& payload) {
  auto* data = static_cast<cupti::PayloadData*>(std::malloc(sizeof(cupti::PayloadData)));
  void* copy = std::malloc(sizeof(payload));
  std::memcpy(copy, &payload, sizeof(payload));
  *data = {500, sizeof(payload), copy};
  cupti::MarkerData2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA;
  record.id = 8;
  record.payloadKind = cupti::extended_payload;
  record.payload.metricValueUint64 = reinterpret_cast<std::uintptr_t>(data);
  return record;
}

TEST_CASE("NCCL's payload is read by the names of its schema", "[capture]") {
  cupti::PayloadEntry entries[3]{};
  entries[0].type = 18;  // uint64
  entries[0].name = "NCCL communicator ID";
  entries[0].offset = offsetof(AllReducePayload, communicator);
  entries[1].type = 22;  // size_t
  entries[1].name = "Message size [bytes]";
  entries[1].offset = offsetof(AllReducePayload, bytes);
  entries[2].type = 9999;  // an enumeration of NCCL's
  entries[2].name = "Reduction operation";
  cupti::PayloadSchema schema{};
  schema.entries = entries;
  schema.numEntries = 3;
  RecordDecoder decoder(
      {{}, [&schema](std::uint32_t, std::uint64_t id) { return id == 500 ? &schema : nullptr; }});
  Batch batch;
  add(decoder, payload_record({0xc0ffee, 1U << 20U, 0}), batch);
  REQUIRE(batch.collectives.size() == 1);
  REQUIRE(batch.collectives.front().communicator == 0xc0ffee);
  REQUIRE(batch.collectives.front().bytes == 1U << 20U);
  REQUIRE(batch.collectives.front().fields == collective_has_bytes);
  REQUIRE(batch.collectives.front().range == 8);
}

TEST_CASE("a payload of others, or one shorter than its schema, says nothing", "[capture]") {
  cupti::PayloadEntry entries[2]{};
  entries[0].type = 18;  // uint64
  entries[0].name = "Rank";
  cupti::PayloadSchema schema{};
  schema.entries = entries;
  schema.numEntries = 1;
  REQUIRE(nccl_layout(schema).empty());
  entries[1].type = 18;  // uint64
  entries[1].name = "NCCL communicator ID";
  entries[1].offset = ~std::uint64_t{0};
  schema.numEntries = 2;
  CollectiveRow row;
  read_payload(nccl_layout(schema), {}, row);
  REQUIRE(row.communicator == 0);
}

}  // namespace
}  // namespace scaleworth::gpu
