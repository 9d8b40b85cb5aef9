// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/kineto.h"

#include "src/core/error.h"
#include "trace/formats/json_events.h"
#include "trace/recording.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::trace {
std::vector<Recording> read_kineto(ByteSource& source, const KeepOperation& keep) {
  Recording recording;
  recording.origin.file = source.name();
  recording.origin.tool = "Kineto";
  KinetoReader reader(recording, keep);
  walk_trace(source, reader, recording);
  reader.finish();
  if (recording.device_events.empty() && recording.host_events.empty() &&
      recording.step_marks.empty())
    throw UserError(fmt::format(
        "{} holds no events of the PyTorch profiler{}: record with activities CPU and CUDA.",
        source.name(),
        source.damage().empty() ? "" : " (" + source.damage() + ")"));
  std::vector<Recording> recordings;
  recordings.push_back(std::move(recording));
  return recordings;
}

namespace {
/// Drops what `unwanted` says of the events in order, and counts it.
template <typename Events, typename Unwanted>
void drop(Events& events, Recording& recording, const char* loss, Unwanted unwanted) {
  const auto end = std::remove_if(events.begin(), events.end(), unwanted);
  const auto dropped = events.end() - end;
  if (dropped > 0) recording.losses[loss] += dropped;
  events.erase(end, events.end());
}

/// Events at the same time and place are put next to their doubles; without a correlation nothing
/// tells doubles apart, and those keep their order.
template <typename Events, typename Place, typename Identity>
void drop_repeated(Events& events, Recording& recording, Place place, Identity identity) {
  for (auto run = events.begin(); run != events.end();) {
    const auto end = std::find_if(
        run, events.end(), [&](const auto& event) { return place(event) != place(*run); });
    if (end - run > 1)
      std::stable_sort(
          run, end, [&](const auto& a, const auto& b) { return identity(a) < identity(b); });
    run = end;
  }
  const auto same = [&](const auto& a, const auto& b) {
    return a.correlation != 0 && place(a) == place(b) && identity(a) == identity(b);
  };
  const auto end = std::unique(events.begin(), events.end(), same);
  const auto dropped = events.end() - end;
  if (dropped > 0) recording.losses["duplicate_events"] += dropped;
  events.erase(end, events.end());
}

/// Each part is within +-2^61, so that the sum is within 64 bits.
template <typename Event>
bool shifted_out_of_range(Event& event, std::chrono::nanoseconds base) {
  event.start += base;
  event.end += base;
  const auto farthest = std::chrono::nanoseconds(farthest_nanosecond);
  return event.start < -farthest || event.end > farthest;
}

/// Moves all times by `base`, and drops what that puts beyond +-2^61 ns ("events_out_of_range").
void shift_times(Recording& recording, std::chrono::nanoseconds base) {
  const auto out = [&](auto& event) { return shifted_out_of_range(event, base); };
  drop(recording.device_events, recording, "events_out_of_range", out);
  drop(recording.host_events, recording, "events_out_of_range", out);
  drop(recording.step_marks, recording, "events_out_of_range", out);
}

/// Puts each of the tool's records of waiting on the thread whose call it belongs to, by
/// correlation; those without a call stay where they are.
void place_synchronizations(Recording& recording) {
  if (recording.synchronizations.empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls;
  for (const auto& event : recording.host_events)
    if (event.activity == HostActivity::runtime_call || event.activity == HostActivity::driver_call)
      calls.emplace_back(event.correlation, event.thread);
  std::ranges::sort(calls);
  for (auto& event : recording.host_events) {
    if (event.activity != HostActivity::synchronization) continue;
    const auto call = std::ranges::lower_bound(calls, std::pair(event.correlation, 0U));
    if (call != calls.end() && call->first == event.correlation) event.thread = call->second;
  }
}

/// Sorts the events and drops those that occur twice in all that is known of them
/// ("duplicate_events"). Events without a correlation are never taken for the same.
void sort_and_drop_duplicates(Recording& recording) {
  sort_events(recording);
  using DeviceIdentity = std::tuple<std::uint64_t, std::uint64_t, NameId>;
  using HostIdentity = std::tuple<std::uint64_t, HostActivity, NameId>;
  drop_repeated(
      recording.device_events,
      recording,
      [](const DeviceEvent& e) { return std::tuple(e.start, e.end, e.stream, e.device); },
      [](const DeviceEvent& e) {
        return e.correlation == 0 ? DeviceIdentity{}
                                  : DeviceIdentity(e.correlation, e.graph_node, e.name);
      });
  drop_repeated(
      recording.host_events,
      recording,
      [](const HostEvent& e) { return std::tuple(e.start, e.end, e.thread); },
      [](const HostEvent& e) {
        return e.correlation == 0 ? HostIdentity{}
                                  : HostIdentity(e.correlation, e.activity, e.name);
      });
  auto& marks = recording.step_marks;
  const auto same = [](const StepMark& a, const StepMark& b) {
    return std::tuple(a.number, a.start, a.end) == std::tuple(b.number, b.start, b.end);
  };
  marks.erase(std::unique(marks.begin(), marks.end(), same), marks.end());
}

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

std::uint32_t ThreadTable::index(std::string_view process, std::string_view thread) {
  key_ = bare_token(process);
  key_ += '/';
  key_ += bare_token(thread);
  if (!numbers_.empty() && key_ == last_) return last_index_;
  last_index_ =
      numbers_.try_emplace(key_, static_cast<std::uint32_t>(numbers_.size())).first->second;
  last_ = key_;
  return last_index_;
}

void ThreadTable::name_process(std::string_view process, std::string_view name) {
  process_names_.insert_or_assign(std::string(bare_token(process)), std::string(name));
}

std::vector<std::string> ThreadTable::labels() const {
  std::vector<std::string> labels(numbers_.size());
  for (const auto& [key, number] : numbers_) {
    const auto process = process_names_.find(key.substr(0, key.find('/')));
    labels[number] = process == process_names_.end() ? key : process->second + " " + key;
  }
  return labels;
}
}  // namespace scaleworth::trace
