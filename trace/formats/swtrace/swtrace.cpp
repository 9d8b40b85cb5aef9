// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/swtrace/swtrace.h"

#include "src/core/error.h"
#include "trace/capture_settings.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/codec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>

namespace scaleworth::trace {
std::vector<Recording> read_recording(ByteSource& source) {
  recording::FrameReader frames(source);
  recording::Assembler assembler;
  recording::Batch batch;
  bool ended = false;
  std::int64_t frames_read = 0;
  std::int64_t unknown = 0;
  std::int64_t malformed = 0;
  while (frames.next()) {
    batch.clear();
    const auto decoded = recording::decode_frame(frames.kind(), frames.payload(), batch);
    assembler.add(batch);
    ++frames_read;
    if (decoded == recording::Decoded::unknown_kind) ++unknown;
    if (decoded == recording::Decoded::malformed) ++malformed;
    ended = frames.kind() == recording::FrameKind::end;
  }
  if (frames_read == 0) {
    throw UserError(fmt::format(
        "{}: {}; nothing of it can be read, record again",
        source.name(),
        frames.damage().empty() ? "byte 16: the file ends after its header" : frames.damage()));
  }
  Recording recording = assembler.finish(source.name());
  if (unknown > 0) recording.losses["frames_of_a_later_version"] += unknown;
  if (malformed > 0) recording.losses["malformed_frames"] += malformed;
  if (frames.lost_bytes() > 0) recording.losses["truncated_bytes"] += frames.lost_bytes();
  if (!frames.damage().empty())
    recording.remarks.push_back(fmt::format("{}; what is before it was read", frames.damage()));
  if (!ended) {
    recording.remarks.emplace_back(
        "the process did not end its recording (killed, _exit, or still running): up to about its "
        "last second is missing");
  }
  return recording::split_by_device(std::move(recording), assembler.device_ranks());
}

namespace {
using recording::FrameKind;

std::uint64_t rows_of(std::string_view payload) {
  return recording::take_varint(payload).value_or(0);  // the first number of every frame of rows
}

void add_texts(const recording::Batch& batch, RecordingSummary& summary) {
  for (const auto& [key, value] : batch.facts) {
    if (key == "remark") {
      summary.remarks.push_back(value);
    } else {
      summary.facts[key] = value;
    }
  }
  for (const auto& [name, count] : batch.losses) {
    if (name.starts_with("dropped_")) summary.lost += count;
  }
}
}  // namespace

RecordingSummary summarise_recording(ByteSource& source) {
  RecordingSummary summary;
  recording::FrameReader frames(source);
  while (frames.next()) {
    switch (frames.kind()) {
      case FrameKind::facts:
      case FrameKind::losses: {
        recording::Batch batch;
        recording::decode_frame(frames.kind(), frames.payload(), batch);
        add_texts(batch, summary);
        break;
      }
      case FrameKind::kernels:
      case FrameKind::copies:
      case FrameKind::fills:
        summary.device_events += rows_of(frames.payload());
        break;
      case FrameKind::calls:
      case FrameKind::waits:
      case FrameKind::marks:
      case FrameKind::collectives:
        summary.other_events += rows_of(frames.payload());
        break;
      case FrameKind::end:
        summary.ended = true;
        break;
      default:
        break;
    }
  }
  return summary;
}
}  // namespace scaleworth::trace

namespace scaleworth::trace::recording {
namespace {
constexpr std::uint64_t latest_time = std::uint64_t{1} << 61U;

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> words(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && words ? std::string(words.get()) : name;
}

std::string_view direction_word(CopyDirection direction) {
  constexpr std::array<std::string_view, 5> words{"", "HtoD", "DtoH", "DtoD", "PtoP"};
  const auto index = static_cast<std::size_t>(direction);
  return index < words.size() ? words[index] : "";
}

Synchronization::Kind wait_kind(WaitKind kind) {
  switch (kind) {
    case WaitKind::event:
      return Synchronization::Kind::event;
    case WaitKind::stream_wait_event:
      return Synchronization::Kind::stream_wait_event;
    case WaitKind::context:
      return Synchronization::Kind::context;
    default:
      return Synchronization::Kind::stream;
  }
}

template <class Integer>
std::optional<Integer> integer(const std::map<std::string, std::string>& facts,
                               const std::string& key) {
  const auto found = facts.find(key);
  if (found == facts.end()) return std::nullopt;
  const std::string& text = found->second;
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

nanoseconds last_time(const Recording& recording) {
  nanoseconds last{};
  for (const DeviceEvent& event : recording.device_events) last = std::max(last, event.end);
  for (const HostEvent& event : recording.host_events) last = std::max(last, event.end);
  return last;
}

nanoseconds time_of(const MarkRow& row) {
  constexpr std::uint64_t latest = std::uint64_t{1} << 61U;
  return nanoseconds(static_cast<std::int64_t>(std::min(row.time_ns, latest)));
}

/// What the numbers of a MarkRow mean in a Recording.
struct MarkNames {
  NameId name = NameId::none;
  std::uint32_t thread = 0;
};

/// Adds a range per pair of ends as an annotation. One that was never closed lasts until the last
/// event of the recording, and is counted in losses as one that was never opened is; instants are
/// left out.
void add_ranges(Recording& recording,
                std::span<const MarkRow> marks,
                const std::function<MarkNames(const MarkRow&)>& resolve) {
  nanoseconds last = last_time(recording);
  std::unordered_map<std::uint32_t, const MarkRow*> open;  // by id
  const auto add = [&](const MarkRow& row, nanoseconds end) {
    const MarkNames names = resolve(row);
    const nanoseconds start = time_of(row);
    HostEvent event{start, std::max(start, end)};
    event.name = names.name;
    event.thread = names.thread;
    event.activity = HostActivity::annotation;
    recording.host_events.push_back(event);
  };
  for (const MarkRow& row : marks) {
    last = std::max(last, time_of(row));
    if (row.phase == MarkPhase::opened) {
      open[row.id] = &row;
    } else if (row.phase == MarkPhase::closed) {
      const auto found = open.find(row.id);
      if (found == open.end()) {
        ++recording.losses["ranges_without_a_start"];
        continue;
      }
      add(*found->second, time_of(row));
      open.erase(found);
    }
  }
  for (const auto& [id, row] : open) add(*row, last);
  if (!open.empty())
    recording.losses["ranges_without_an_end"] += static_cast<std::int64_t>(open.size());
}

/// Sets step_marks from the annotations that name steps: those of the preferred kind of name, then
/// of the thread that has most of them; names without a number are numbered in order. Leaves marks
/// that are there already.
void find_step_marks(Recording& recording) {
  if (!recording.step_marks.empty()) return;
  struct Kind {
    int preference = 0;
    std::vector<StepMark> marks;
  };
  std::map<std::pair<std::string, std::uint32_t>, Kind> found;  // by kind and thread
  std::map<NameId, std::optional<StepName>> known;
  for (const HostEvent& event : recording.host_events) {
    if (event.activity != HostActivity::annotation) continue;
    const auto [entry, added] = known.try_emplace(event.name);
    if (added) entry->second = parse_step_name(recording.names.at(event.name));
    if (!entry->second) continue;
    Kind& kind = found[{entry->second->kind, event.thread}];
    kind.preference = entry->second->preference;
    const auto order = static_cast<std::int32_t>(kind.marks.size());
    kind.marks.push_back({entry->second->number.value_or(order), event.start, event.end});
  }
  const auto best = std::ranges::min_element(found, [](const auto& a, const auto& b) {
    return std::pair(a.second.preference, b.second.marks.size()) <
           std::pair(b.second.preference, a.second.marks.size());
  });
  if (best == found.end()) return;
  recording.step_marks = std::move(best->second.marks);
  recording.step_marks_from = fmt::format("NVTX range '{}'", best->first.first);
}
}  // namespace

void Assembler::add(const Batch& batch) {
  add_texts(batch);
  add_device_work(batch);
  add_host_work(batch);
}

void Assembler::add_texts(const Batch& batch) {
  for (const std::string& text : batch.names)
    names_.push_back(recording_.names.intern(demangled(text)));
  for (const auto& [key, value] : batch.facts) {
    if (key == "remark") {
      recording_.remarks.push_back(value);
    } else {
      facts_[key] = value;
    }
  }
  for (const auto& [loss, count] : batch.losses) {
    std::int64_t& sum = recording_.losses[loss];
    const auto more = static_cast<std::int64_t>(std::min(count, latest_time));
    sum = std::min(sum + more, static_cast<std::int64_t>(latest_time));
  }
}

NameId Assembler::name(std::uint32_t number) {
  if (number < names_.size()) return names_[number];
  ++recording_.losses["names_that_are_missing"];
  return NameId::none;
}

std::uint32_t Assembler::thread(std::uint32_t system_id) {
  const auto next = static_cast<std::uint32_t>(threads_.size());
  return threads_.try_emplace(system_id, next).first->second;
}

template <class Event>
bool Assembler::set_times(Event& event, std::uint64_t start_ns, std::uint64_t duration_ns) {
  if (start_ns > latest_time || duration_ns > latest_time - start_ns) {
    ++recording_.losses["events_with_impossible_times"];
    return false;
  }
  event.start = nanoseconds(static_cast<std::int64_t>(start_ns));
  event.end = event.start + nanoseconds(static_cast<std::int64_t>(duration_ns));
  return true;
}

void Assembler::add_device_work(const Batch& batch) {
  const auto add = [this](const auto& row, DeviceOperation operation, NameId called) {
    DeviceEvent event;
    if (!set_times(event, row.start_ns, row.duration_ns)) return;
    event.correlation = row.correlation;
    event.graph_node = row.graph_node;
    event.name = called;
    event.stream = row.stream;
    event.device = static_cast<std::uint16_t>(row.device);
    event.operation = operation;
    recording_.device_events.push_back(event);
  };
  for (const KernelRow& row : batch.kernels) add(row, DeviceOperation::kernel, name(row.name));
  for (const CopyRow& row : batch.copies) {
    const std::string direction(direction_word(row.direction));
    const std::size_t before = recording_.device_events.size();
    add(row, DeviceOperation::copy, recording_.names.intern("Memcpy " + direction));
    if (recording_.device_events.size() == before) continue;
    recording_.device_events.back().copy = static_cast<std::uint32_t>(recording_.copies.size());
    const auto bytes = static_cast<std::int64_t>(std::min(row.bytes, latest_time));
    recording_.copies.push_back({bytes, recording_.names.intern(direction)});
  }
  if (batch.fills.empty()) return;
  const NameId fill = recording_.names.intern("Memset");
  for (const FillRow& row : batch.fills) add(row, DeviceOperation::fill, fill);
}

void Assembler::add_host_work(const Batch& batch) {
  for (const CallRow& row : batch.calls) {
    HostEvent event;
    if (!set_times(event, row.start_ns, row.duration_ns)) continue;
    event.correlation = row.correlation;
    event.name = name(row.name);
    event.thread = thread(row.thread);
    event.activity =
        row.layer == CallLayer::driver ? HostActivity::driver_call : HostActivity::runtime_call;
    recording_.host_events.push_back(event);
  }
  for (const OverheadRow& row : batch.overheads) {
    HostEvent event;
    if (!set_times(event, row.start_ns, row.duration_ns)) continue;
    event.name = name(row.name);
    event.thread = thread(row.thread);
    event.activity = HostActivity::overhead;
    recording_.host_events.push_back(event);
  }
  for (const EventRow& row : batch.events) event_records_[row.event_use] = row;
  waits_.insert(waits_.end(), batch.waits.begin(), batch.waits.end());
  marks_.insert(marks_.end(), batch.marks.begin(), batch.marks.end());
  collectives_.insert(collectives_.end(), batch.collectives.begin(), batch.collectives.end());
  nccl_uses_.add(batch.networks);
  nccl_uses_.add(batch.channels);
}

void Assembler::join_waits() {
  if (waits_.empty()) return;
  const std::uint32_t unknown = thread(0);  // of a wait whose call was not recorded
  std::unordered_map<std::uint64_t, std::uint32_t> thread_of;  // by correlation
  for (const WaitRow& row : waits_) thread_of[row.correlation] = unknown;
  for (const HostEvent& call : recording_.host_events) {
    const auto found = thread_of.find(call.correlation);
    if (found != thread_of.end()) found->second = call.thread;
  }
  for (const WaitRow& row : waits_) {
    HostEvent event;
    if (!set_times(event, row.start_ns, row.duration_ns)) continue;
    event.correlation = row.correlation;
    event.name = recording_.names.intern(synchronization_name(wait_kind(row.kind)));
    event.thread = thread_of[row.correlation];
    event.activity = HostActivity::synchronization;
    event.synchronization = static_cast<std::uint32_t>(recording_.synchronizations.size());
    Synchronization wait;
    wait.kind = wait_kind(row.kind);
    if (row.stream != no_index) wait.stream = row.stream;
    const auto record = event_records_.find(row.event_use);
    if (row.event_use != 0 && record != event_records_.end()) {
      wait.waits_on = record->second.stream;
      wait.event_record = record->second.correlation;
    }
    recording_.synchronizations.push_back(wait);
    recording_.host_events.push_back(event);
  }
}

void Assembler::place_payloads() {
  std::unordered_map<std::uint32_t, CollectiveRow*> rows;  // by range
  for (CollectiveRow& row : collectives_) {
    if (row.source == CollectiveSource::range && row.range != 0) rows[row.range] = &row;
  }
  if (rows.empty()) return;
  for (const MarkRow& mark : marks_) {
    const auto found = rows.find(mark.id);
    if (found == rows.end() || mark.phase != MarkPhase::opened) continue;
    found->second->time_ns = mark.time_ns;
    found->second->thread = mark.thread;
    found->second->function = mark.name;
  }
}

void Assembler::add_facts(const std::string& file) {
  Origin& origin = recording_.origin;
  origin.file = file;
  origin.tool = facts_.contains("tool") ? facts_["tool"] : "scaleworth trace";
  origin.host = facts_["host"];
  origin.run = facts_["run"];
  origin.process = integer<std::int64_t>(facts_, "process");
  origin.rank = integer<std::int32_t>(facts_, "rank");
  origin.world_size = integer<std::int32_t>(facts_, "world_size");
  origin.rank_from = facts_["rank_from"];
  const std::string process = facts_["process"];
  recording_.threads.resize(threads_.size());
  for (const auto& [system_id, index] : threads_)
    recording_.threads[index] = fmt::format("{} {}/{}", facts_["program"], process, system_id);
}

void Assembler::add_device() {
  const auto& events = recording_.device_events;
  if (events.empty()) return;
  const bool one = std::ranges::all_of(
      events, [&](const DeviceEvent& event) { return event.device == events.front().device; });
  if (one) recording_.origin.device = events.front().device;
}

Recording Assembler::finish(const std::string& file) {
  join_waits();
  place_payloads();
  add_ranges(recording_, marks_, [this](const MarkRow& row) {
    return MarkNames{name(row.name), thread(row.thread)};
  });
  std::vector<CollectiveCall> calls;
  for (const CollectiveRow& row : collectives_) {
    if (row.time_ns > latest_time) continue;
    calls.push_back(
        {row, name(row.function), name(row.algorithm), name(row.protocol), thread(row.thread)});
  }
  nccl_uses_.sort();
  if (nccl_uses_.impossible() > 0)
    recording_.losses["impossible_network_operations"] += nccl_uses_.impossible();
  device_ranks_ = join_collectives(recording_, std::move(calls), nccl_uses_);
  add_facts(file);
  add_device();
  sort_events(recording_);
  find_step_marks(recording_);
  return std::move(recording_);
}
}  // namespace scaleworth::trace::recording
