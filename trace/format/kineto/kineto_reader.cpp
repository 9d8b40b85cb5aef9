// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/kineto_reader.h"

#include "trace/format/json/number.h"
#include "trace/format/kineto/collective.h"
#include "trace/format/kineto/finish.h"
#include "trace/format/kineto/job_metadata.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace scaleworth::trace {

namespace {

/// 32 bits of a number that may be missing, negative or all ones for "none".
std::optional<std::uint32_t> index_number(std::string_view token) {
  const auto value = parse_integer(token);
  if (!value || *value < 0 || *value >= no_index) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::int32_t> step_number(std::string_view name) {
  constexpr std::string_view marker = "ProfilerStep#";
  if (!name.starts_with(marker)) return std::nullopt;
  const auto value = parse_integer(name.substr(marker.size()));
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

DeviceOperation operation_of(KinetoCategory category) {
  if (category == KinetoCategory::copy) return DeviceOperation::copy;
  if (category == KinetoCategory::fill) return DeviceOperation::fill;
  return DeviceOperation::kernel;
}

HostActivity activity_of(KinetoCategory category) {
  if (category == KinetoCategory::driver_call) return HostActivity::driver_call;
  if (category == KinetoCategory::synchronization) return HostActivity::synchronization;
  if (category == KinetoCategory::overhead) return HostActivity::overhead;
  if (category == KinetoCategory::operation) return HostActivity::operation;
  if (category == KinetoCategory::annotation) return HostActivity::annotation;
  return HostActivity::runtime_call;
}

Synchronization::Kind synchronization_kind(std::string_view kind) {
  if (kind == "Event Sync") return Synchronization::Kind::event;
  if (kind == "Stream Wait Event") return Synchronization::Kind::stream_wait_event;
  if (kind == "Context Sync") return Synchronization::Kind::context;
  return Synchronization::Kind::stream;
}

}  // namespace

TraceReader::Use KinetoReader::event(simdjson::ondemand::object& event) {
  KinetoFields fields;
  if (read_fields(event, fields) != simdjson::SUCCESS) return Use::malformed;
  if (fields.category == KinetoCategory::none) return Use::passed_over;
  return add(fields) ? Use::kept : Use::passed_over;
}

void KinetoReader::member(std::string_view key, std::string_view json) {
  read_kineto_member(key, json, recording_, base_);
}

bool KinetoReader::is_kept_operation(std::string_view name) {
  operation_ = name;
  const auto found = kept_operations_.find(operation_);
  if (found != kept_operations_.end()) return found->second;
  return kept_operations_.emplace(operation_, keep_(name)).first->second;
}

std::optional<KinetoReader::Span> KinetoReader::span_of(const KinetoFields& fields) {
  const auto start = parse_microseconds(fields.start);
  if (!start) {
    lose("events_without_time");
    return std::nullopt;
  }
  const auto duration = parse_microseconds(fields.duration);
  if (!duration) lose("events_without_duration");
  if (duration && *duration < nanoseconds(0)) lose("events_ending_before_their_start");
  return Span{*start, *start + std::max(duration.value_or(nanoseconds(0)), nanoseconds(0))};
}

/// False when nothing is kept of it.
bool KinetoReader::add(const KinetoFields& fields) {
  using enum KinetoCategory;
  if (fields.category == metadata) {
    if (fields.name == "process_name") threads_.name_process(fields.process, fields.label);
    return true;
  }
  if (fields.category == operation && !is_kept_operation(fields.name)) return false;
  const auto span = span_of(fields);
  if (!span) return true;
  if (fields.category == kernel || fields.category == copy || fields.category == fill) {
    add_device_event(fields, *span);
  } else if (fields.category == annotation || fields.category == gpu_annotation) {
    add_annotation(fields, *span);
  } else {
    add_host_event(fields, *span);
  }
  return true;
}

void KinetoReader::add_device_event(const KinetoFields& fields, Span span) {
  DeviceEvent event;
  event.start = span.start;
  event.end = span.end;
  event.correlation = parse_identifier(fields.correlation).value_or(0);
  event.graph_node = parse_identifier(fields.graph_node).value_or(0);
  event.name = recording_.names.intern(fields.name);
  event.operation = operation_of(fields.category);
  // Rows lie on the process "device" and the thread "stream" where the arguments do not say it.
  auto stream = index_number(fields.stream);
  if (!stream) stream = index_number(fields.thread);
  event.stream = stream.value_or(0);
  auto device = index_number(fields.device);
  if (!device) device = index_number(fields.process);
  event.device = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(device.value_or(0), std::numeric_limits<std::uint16_t>::max()));
  if (event.operation == DeviceOperation::kernel) {
    event.communication = add_communication(fields, recording_);
    if (!recording_.origin.device) recording_.origin.device = event.device;
  } else {
    event.copy = add_copy(fields);
  }
  recording_.device_events.push_back(event);
}

std::uint32_t KinetoReader::add_copy(const KinetoFields& fields) {
  Copy copy;
  copy.bytes = parse_integer(fields.bytes);
  if (copy.bytes && *copy.bytes < 0) copy.bytes.reset();  // a writer's 32 bits ran over
  constexpr std::array<std::string_view, 7> directions = {
      "HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "HtoA", "AtoH"};
  for (const auto direction : directions)
    if (fields.name.find(direction) != std::string_view::npos)
      copy.direction = recording_.names.intern(direction);
  recording_.copies.push_back(copy);
  return static_cast<std::uint32_t>(recording_.copies.size() - 1);
}

void KinetoReader::add_annotation(const KinetoFields& fields, Span span) {
  const bool on_host = fields.category == KinetoCategory::annotation;
  if (const auto step = step_number(fields.name)) {
    auto& marks = on_host ? recording_.step_marks : gpu_step_marks_;
    marks.push_back({*step, span.start, span.end});
  } else if (on_host) {
    add_host_event(fields, span);
  }
}

void KinetoReader::add_host_event(const KinetoFields& fields, Span span) {
  HostEvent event;
  event.start = span.start;
  event.end = span.end;
  event.correlation = parse_identifier(fields.correlation).value_or(0);
  event.name = recording_.names.intern(fields.name);
  event.thread = threads_.index(fields.process, fields.thread);
  event.activity = activity_of(fields.category);
  if (event.activity == HostActivity::synchronization) {
    event.synchronization = add_synchronization(fields);
  } else if (!recording_.origin.process) {
    recording_.origin.process = parse_integer(fields.process);
  }
  recording_.host_events.push_back(event);
}

std::uint32_t KinetoReader::add_synchronization(const KinetoFields& fields) {
  Synchronization synchronization;
  const auto kind = bare_token(fields.sync_kind);
  synchronization.kind = synchronization_kind(kind.empty() ? fields.name : kind);
  synchronization.stream = index_number(fields.stream);
  synchronization.waits_on = index_number(fields.waits_on);
  if (const auto record = index_number(fields.event_record)) synchronization.event_record = *record;
  recording_.synchronizations.push_back(synchronization);
  return static_cast<std::uint32_t>(recording_.synchronizations.size() - 1);
}

void KinetoReader::finish() {
  const bool on_host = !recording_.step_marks.empty();
  if (!on_host) recording_.step_marks = std::move(gpu_step_marks_);
  if (!recording_.step_marks.empty())
    recording_.step_marks_from = on_host ? "ProfilerStep" : "ProfilerStep on the GPU";
  recording_.threads = threads_.labels();
  shift_times(recording_, base_);
  place_synchronizations(recording_);
  sort_and_drop_duplicates(recording_);
}

}  // namespace scaleworth::trace
