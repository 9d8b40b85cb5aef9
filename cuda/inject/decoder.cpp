// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/decoder.h"

#include "trace/formats/nvidia_records.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace scaleworth::gpu {

namespace {
/// Of CUpti_ActivityMemcpyKind.
CopyDirection copy_direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyDirection::to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyDirection::to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyDirection::on_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyDirection::between_devices;
    default:
      return CopyDirection::other;
  }
}

struct OverheadName {
  CUpti_ActivityOverheadKind kind;
  const char* name;  // as Kineto writes it
};
constexpr std::array<OverheadName, 9> overhead_names{
    {{CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, "Driver Compiler"},
     {CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, "Buffer Flush"},
     {CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, "Instrumentation"},
     {CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, "Resource"},
     {CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING, "Runtime Triggered Module Loading"},
     {CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, "Lazy Function Loading"},
     {CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, "Command Buffer Full"},
     {cupti::overhead_buffer_request, "Activity Buffer Request"},
     {cupti::overhead_uvm_init, "UVM Activity Init"}}};

const char* overhead_name(CUpti_ActivityOverheadKind kind) {
  const auto found = std::ranges::find(overhead_names, kind, &OverheadName::kind);
  return found == overhead_names.end() ? "Unrecognized Overhead" : found->name;
}

/// Sets start and duration; false, and counted, when CUPTI has no times for it.
template <class Record, class Row>
bool take_times(const Record& record, Row& row, Batch& batch) {
  if (record.start == 0 || record.end < record.start) {
    batch.losses.emplace_back("records_without_times", 1);
    return false;
  }
  row.start_ns = record.start;
  row.duration_ns = record.end - record.start;
  return true;
}

/// The fields that work on a GPU shares by name.
template <class Record, class Row>
bool take_place(const Record& record, Row& row, Batch& batch) {
  if (!take_times(record, row, batch)) return false;
  row.correlation = record.correlationId;
  row.stream = record.streamId;
  row.device = record.deviceId;
  row.graph_node = record.graphNodeId;
  return true;
}

template <class Record>
void add_copy(const Record& record, CopyDirection direction, Batch& batch) {
  CopyRow row;
  if (!take_place(record, row, batch)) return;
  row.bytes = record.bytes;
  row.direction = direction;
  batch.copies.push_back(row);
}

void add_fill(const CUpti_ActivityMemset4& record, Batch& batch) {
  FillRow row;
  if (!take_place(record, row, batch)) return;
  row.bytes = record.bytes;
  batch.fills.push_back(row);
}

template <class Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}
}  // namespace

std::size_t RecordDecoder::ShapeHash::operator()(const ShapeRow& shape) const {
  static_assert(std::has_unique_object_representations_v<ShapeRow>);
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&shape), sizeof(shape)});
}

std::uint32_t RecordDecoder::kernel_name(const char* name, Batch& batch) {
  if (name == nullptr) return 0;
  KnownName& known = kernel_names_[name];
  if (known.number == 0 || known.text != name) known = {name, names_.intern(name, batch)};
  return known.number;
}

std::uint32_t RecordDecoder::call_name(CUpti_CallbackDomain domain,
                                       CUpti_CallbackId id,
                                       Batch& batch) {
  // CUPTI's lists are far shorter: a damaged number.
  constexpr CUpti_CallbackId most_calls = 1U << 16U;
  if (id >= most_calls) return 0;
  auto& known = call_names_[domain == CUPTI_CB_DOMAIN_DRIVER_API ? 1 : 0];
  if (id >= known.size()) known.resize(id + 1);
  if (known[id] != 0) return known[id];
  const std::string name = questions_.call_name ? questions_.call_name(domain, id) : std::string();
  const std::string text = name.empty() ? "call " + std::to_string(id) : name;
  return known[id] = names_.intern(without_release(text), batch);
}

std::uint32_t RecordDecoder::shape(const CUpti_ActivityKernel9& record, Batch& batch) {
  const ShapeRow row{.grid_x = static_cast<std::uint32_t>(record.gridX),
                     .grid_y = static_cast<std::uint32_t>(record.gridY),
                     .grid_z = static_cast<std::uint32_t>(record.gridZ),
                     .block_x = static_cast<std::uint32_t>(record.blockX),
                     .block_y = static_cast<std::uint32_t>(record.blockY),
                     .block_z = static_cast<std::uint32_t>(record.blockZ)};
  const auto next = static_cast<std::uint32_t>(shapes_.size() + 1);
  const auto [entry, added] = shapes_.try_emplace(row, next);
  if (added) batch.shapes.push_back(row);
  return entry->second;
}

void RecordDecoder::add_kernel(const CUpti_ActivityKernel9& record, Batch& batch) {
  KernelRow row;
  if (!take_place(record, row, batch)) return;
  row.name = kernel_name(record.name, batch);
  row.shape = shape(record, batch);
  batch.kernels.push_back(row);
}

void RecordDecoder::add_wait(const CUpti_ActivitySynchronization& record, Batch& batch) {
  constexpr std::array kinds{WaitKind::other,
                             WaitKind::event,
                             WaitKind::stream_wait_event,
                             WaitKind::stream,
                             WaitKind::context};
  WaitRow row;
  if (questions_.version >= cupti_of_cuda_12_8) {
    const auto& newer = static_cast<const cupti::Synchronization2&>(record);
    if (newer.returnValue != 0) return;
    row.event_use = newer.cudaEventSyncId;
  }
  if (!take_times(record, row, batch)) return;
  const auto type = static_cast<std::size_t>(record.type);
  row.kind = type < kinds.size() ? kinds[type] : WaitKind::other;
  row.correlation = record.correlationId;
  row.stream = record.streamId;
  batch.waits.push_back(row);
}

void RecordDecoder::add_event(const CUpti_ActivityCudaEvent& record, Batch& batch) {
  // Before, no wait says which use of an event it waits for.
  if (questions_.version < cupti_of_cuda_12_8) return;
  const auto& newer = static_cast<const cupti::CudaEvent2&>(record);
  batch.events.push_back({.event_use = newer.cudaEventSyncId,
                          .correlation = record.correlationId,
                          .stream = record.streamId});
}

void RecordDecoder::add_call(const CUpti_ActivityAPI& record, Batch& batch) {
  CallRow row;
  if (!take_times(record, row, batch)) return;
  const bool driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  row.layer = driver ? CallLayer::driver : CallLayer::runtime;
  row.correlation = record.correlationId;
  row.thread = record.threadId;
  row.name = call_name(
      driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, record.cbid, batch);
  batch.calls.push_back(row);
}

void RecordDecoder::add_marker(const CUpti_ActivityMarker2& record, Batch& batch) {
  MarkRow row;
  row.time_ns = record.timestamp;
  row.id = record.id;
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) row.thread = record.objectId.pt.threadId;
  if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
    row.phase = MarkPhase::opened;
  } else if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) {
    row.phase = MarkPhase::closed;
  }
  if (row.phase != MarkPhase::closed && record.name != nullptr)
    row.name = names_.intern(record.name, batch);
  batch.marks.push_back(row);
}

void RecordDecoder::add_marker_data(const cupti::MarkerData2& record, Batch& batch) {
  if (record.payloadKind != cupti::extended_payload) return;
  auto* data = reinterpret_cast<cupti::PayloadData*>(record.payload.metricValueUint64);
  if (data == nullptr) return;
  const std::pair key(record.cuptiDomainId, data->schemaId);
  auto known = layouts_.find(key);
  if (known == layouts_.end()) {
    const cupti::PayloadSchema* schema =
        questions_.schema ? questions_.schema(key.first, key.second) : nullptr;
    known = layouts_.emplace(key, schema == nullptr ? PayloadLayout{} : nccl_layout(*schema)).first;
  }
  if (!known->second.empty() && data->payload != nullptr) {
    CollectiveRow row;
    row.range = record.id;
    read_payload(known->second, {static_cast<const std::byte*>(data->payload), data->size}, row);
    batch.collectives.push_back(row);
  }
  // CUPTI's copy, which its client has to free.
  std::free(const_cast<void*>(data->payload));
  std::free(data);
}

void RecordDecoder::add_overhead(const CUpti_ActivityOverhead3& record, Batch& batch) {
  OverheadRow row;
  if (record.overheadKind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL)
    std::free(record.overheadData);
  if (!take_times(record, row, batch)) return;
  row.name = names_.intern(overhead_name(record.overheadKind), batch);
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) row.thread = record.objectId.pt.threadId;
  batch.overheads.push_back(row);
}

void RecordDecoder::add(const CUpti_Activity& record, Batch& batch) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return add_kernel(as<CUpti_ActivityKernel9>(record), batch);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_call(as<CUpti_ActivityAPI>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = as<CUpti_ActivityMemcpy5>(record);
      return add_copy(copy, copy_direction(copy.copyKind), batch);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_copy(as<CUpti_ActivityMemcpyPtoP4>(record), CopyDirection::between_devices, batch);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_fill(as<CUpti_ActivityMemset4>(record), batch);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_wait(as<CUpti_ActivitySynchronization>(record), batch);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return add_event(as<CUpti_ActivityCudaEvent>(record), batch);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(as<CUpti_ActivityOverhead3>(record), batch);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return add_marker(as<CUpti_ActivityMarker2>(record), batch);
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
      return add_marker_data(as<cupti::MarkerData2>(record), batch);
    default:
      return;
  }
}

/// A row keeps it in one of two members.
struct PayloadField {
  std::string_view name;
  std::uint32_t flag;  // in CollectiveRow::fields; 0 for none
  std::uint32_t CollectiveRow::*number;
  std::uint64_t CollectiveRow::*wide = nullptr;
};

namespace {
constexpr std::array<PayloadField, 7> payload_fields{
    {{"NCCL communicator ID", 0, nullptr, &CollectiveRow::communicator},
     {"Message size [bytes]", collective_has_bytes, nullptr, &CollectiveRow::bytes},
     {"Root", collective_has_root, &CollectiveRow::root},
     {"Peer rank", collective_has_peer, &CollectiveRow::peer},
     {"Rank", 0, &CollectiveRow::rank},
     {"No. of ranks", collective_has_ranks, &CollectiveRow::ranks},
     {"CUDA device", 0, &CollectiveRow::device}}};
}  // namespace

PayloadLayout nccl_layout(const cupti::PayloadSchema& schema) {
  PayloadLayout layout;
  if (schema.entries == nullptr) return layout;
  bool has_communicator = false;
  for (std::size_t i = 0; i < schema.numEntries; ++i) {
    const cupti::PayloadEntry& entry = schema.entries[i];
    if (entry.name == nullptr) continue;
    const auto field =
        std::ranges::find(payload_fields, std::string_view(entry.name), &PayloadField::name);
    const std::size_t bytes = nvtx_integer_bytes(entry.type);
    if (field == payload_fields.end() || bytes == 0) continue;
    has_communicator = has_communicator || field == payload_fields.begin();
    layout.push_back({&*field, entry.offset, bytes});
  }
  // "Rank" and "Root" alone may be of another library.
  if (!has_communicator) layout.clear();
  return layout;
}

void read_payload(const PayloadLayout& layout,
                  std::span<const std::byte> payload,
                  CollectiveRow& row) {
  for (const PayloadPlace& place : layout) {
    if (place.offset > payload.size() || place.bytes > payload.size() - place.offset) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, payload.data() + place.offset, place.bytes);
    row.fields |= place.field->flag;
    if (place.field->wide != nullptr) {
      row.*place.field->wide = value;
    } else {
      row.*place.field->number = static_cast<std::uint32_t>(value);
    }
  }
}
}  // namespace scaleworth::gpu
