// SPDX-License-Identifier: Apache-2.0
#include "trace/format/export/event_arguments.h"

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

/// As PyTorch spells it where that differs from our names.
std::string_view collective_name(CollectiveKind kind) {
  if (kind == CollectiveKind::send_receive) return "sendrecv";
  return attribution::collective_kind_name(kind);
}

std::string_view sync_kind(Synchronization::Kind kind) {
  switch (kind) {
    case Synchronization::Kind::event:
      return "Event Sync";
    case Synchronization::Kind::stream_wait_event:
      return "Stream Wait Event";
    case Synchronization::Kind::stream:
      return "Stream Sync";
    case Synchronization::Kind::context:
      return "Context Sync";
  }
  return "";
}

}  // namespace

std::string_view category_of(const DeviceEvent& event) {
  if (event.operation == DeviceOperation::copy) return "gpu_memcpy";
  if (event.operation == DeviceOperation::fill) return "gpu_memset";
  return "kernel";
}

std::string_view category_of(const HostEvent& event) {
  switch (event.activity) {
    case HostActivity::runtime_call:
      return "cuda_runtime";
    case HostActivity::driver_call:
      return "cuda_driver";
    case HostActivity::synchronization:
      return "cuda_sync";
    case HostActivity::operation:
      return "cpu_op";
    case HostActivity::annotation:
      return "user_annotation";
    case HostActivity::overhead:
      return "overhead";
  }
  return "";
}

const std::vector<Argument>& EventArguments::of(const DeviceEvent& event) {
  all_.clear();
  number("device", event.device);
  number("stream", event.stream);
  if (event.correlation != 0) number("correlation", static_cast<std::int64_t>(event.correlation));
  if (event.graph_node != 0) number("graph node id", static_cast<std::int64_t>(event.graph_node));
  if (event.operation == DeviceOperation::kernel)
    text("class", attribution::work_class_name(event.work_class));
  if (event.communication != no_index)
    add_communication(recording_.communications.at(event.communication));
  if (event.copy != no_index)
    if (const auto bytes = recording_.copies.at(event.copy).bytes) number("bytes", *bytes);
  return all_;
}

void EventArguments::add_communication(const Communication& communication) {
  if (communication.kind != CollectiveKind::unknown)
    text("Collective name", collective_name(communication.kind));
  if (communication.input_bytes) number("In msg nelems", *communication.input_bytes);
  if (communication.output_bytes) number("Out msg nelems", *communication.output_bytes);
  if (communication.input_bytes || communication.output_bytes) text("dtype", "Byte");
  if (communication.group != NameId::none) add_group(communication.group);
  if (communication.sequence) number("Seq", *communication.sequence);
  if (communication.algorithm != NameId::none)
    text("Algorithm", recording_.names.at(communication.algorithm));
  if (communication.protocol != NameId::none)
    text("Protocol", recording_.names.at(communication.protocol));
  if (communication.root) number("Root Rank", *communication.root);
  if (!communication.peer) return;
  number(communication.kind == CollectiveKind::receive ? "Src Rank" : "Dst Rank",
         *communication.peer);
}

void EventArguments::add_group(NameId group) {
  text("Process Group Name", recording_.names.at(group));
  const auto known = recording_.groups.find(group);
  if (known == recording_.groups.end()) return;
  if (known->second.size) number("Group size", *known->second.size);
}

void EventArguments::add_synchronization(const Synchronization& synchronization) {
  text("cuda_sync_kind", sync_kind(synchronization.kind));
  if (synchronization.stream) number("stream", *synchronization.stream);
  if (synchronization.waits_on) number("wait_on_stream", *synchronization.waits_on);
  if (synchronization.event_record)
    number("wait_on_cuda_event_record_corr_id",
           static_cast<std::int64_t>(*synchronization.event_record));
}

const std::vector<Argument>& EventArguments::of(const HostEvent& event) {
  all_.clear();
  if (event.correlation != 0) number("correlation", static_cast<std::int64_t>(event.correlation));
  if (event.synchronization != no_index)
    add_synchronization(recording_.synchronizations.at(event.synchronization));
  if (event.cause) text("idle because", attribution::host_cause_name(*event.cause));
  return all_;
}

}  // namespace scaleworth::trace
