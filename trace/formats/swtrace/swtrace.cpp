// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/swtrace/swtrace.h"

#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/whole_number.h"
#include "trace/capture_settings.h"
#include "trace/formats/kineto.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/rows.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>

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
  if (kind == WaitKind::event) return Synchronization::Kind::event;
  if (kind == WaitKind::stream_wait_event) return Synchronization::Kind::stream_wait_event;
  if (kind == WaitKind::context) return Synchronization::Kind::context;
  return Synchronization::Kind::stream;
}

std::optional<std::int64_t> integer(const std::map<std::string, std::string>& facts,
                                    const std::string& key) {
  const std::string* fact = value_at(facts, key);
  return fact ? parse_number<std::int64_t>(*fact) : std::nullopt;
}

nanoseconds time_of(const MarkRow& row) {
  return nanoseconds(static_cast<std::int64_t>(std::min(row.time_ns, latest_time)));
}

/// What is said of the process, and remarks as the capture wrote them.
void take_facts(const Batch& batch,
                std::map<std::string, std::string>& facts,
                std::vector<Finding>& remarks) {
  for (const auto& [key, value] : batch.facts) {
    if (key == "remark") {
      remarks.emplace_back(FindingId::stated, value);
    } else {
      facts[key] = value;
    }
  }
}

constexpr std::array device_rows = {FrameKind::kernels, FrameKind::copies, FrameKind::fills};
constexpr std::array other_rows = {
    FrameKind::calls, FrameKind::waits, FrameKind::marks, FrameKind::collectives};

/// From the rows of a capture to a Recording: names resolved, waits and ranges joined with calls.
class Assembler {
 public:
  /// Takes a batch in the order of the file.
  void add(const Batch& batch) {
    add_texts(batch);
    add_device_work(batch);
    add_host_work(batch);
  }

  /// When all is in: events sorted, and what NCCL reported of the ranks of the process's devices,
  /// by communicator. `file` is for the origin. To be called once.
  std::pair<Recording, std::map<std::uint64_t, DeviceRanks>> finish(const std::string& file) {
    join_waits();
    place_payloads();
    add_ranges();
    std::erase_if(collectives_, [](const CollectiveRow& row) { return row.time_ns > latest_time; });
    for (CollectiveRow& row : collectives_) {
      for (std::uint32_t* number : {&row.function, &row.algorithm, &row.protocol})
        *number = static_cast<std::uint32_t>(name(*number));
      row.thread = thread(row.thread);
    }
    auto device_ranks = join_collectives(recording_, std::move(collectives_));
    add_facts(file);
    sort_events(recording_);
    marks_from_ranges(recording_, "NVTX range");
    return {std::move(recording_), std::move(device_ranks)};
  }

 private:
  void add_texts(const Batch& batch) {
    for (const std::string& text : batch.names)
      names_.push_back(recording_.names.intern(demangled(text)));
    take_facts(batch, facts_, recording_.remarks);
    for (const auto& [loss, count] : batch.losses) {
      std::int64_t& sum = recording_.losses[loss];
      const auto more = static_cast<std::int64_t>(std::min(count, latest_time));
      sum = std::min(sum + more, static_cast<std::int64_t>(latest_time));
    }
  }

  void add_device_work(const Batch& batch) {
    const auto add = [this](const auto& row, DeviceOperation operation, NameId called) {
      DeviceEvent event;
      if (!set_times(event, row.start_ns, row.duration_ns)) return false;
      event.correlation = row.correlation;
      event.graph_node = row.graph_node;
      event.name = called;
      event.stream = row.stream;
      event.device = whole_number<std::uint16_t>(row.device).value_or(0xffff);
      event.operation = operation;
      recording_.device_events.push_back(event);
      return true;
    };
    for (const ShapeRow& row : batch.shapes)
      shapes_.push_back(shape_number(
          recording_, {row.grid_x, row.grid_y, row.grid_z, row.block_x, row.block_y, row.block_z}));
    for (const KernelRow& row : batch.kernels)
      if (add(row, DeviceOperation::kernel, name(row.name)) && row.shape < shapes_.size())
        recording_.device_events.back().shape = shapes_[row.shape];
    for (const CopyRow& row : batch.copies) {
      const std::string direction(direction_word(row.direction));
      if (!add(row, DeviceOperation::copy, recording_.names.intern("Memcpy " + direction)))
        continue;
      const auto bytes = static_cast<std::int64_t>(std::min(row.bytes, latest_time));
      recording_.device_events.back().copy =
          append(recording_.copies, {bytes, recording_.names.intern(direction)});
    }
    if (batch.fills.empty()) return;
    const NameId fill = recording_.names.intern("Memset");
    for (const FillRow& row : batch.fills) add(row, DeviceOperation::fill, fill);
  }

  void add_host_work(const Batch& batch) {
    const auto add = [this](const auto& row, HostActivity activity, std::uint64_t correlation) {
      HostEvent event;
      if (!set_times(event, row.start_ns, row.duration_ns)) return;
      event.correlation = correlation;
      event.name = name(row.name);
      event.thread = thread(row.thread);
      event.activity = activity;
      recording_.host_events.push_back(event);
    };
    for (const CallRow& row : batch.calls)
      add(row,
          row.layer == CallLayer::driver ? HostActivity::driver_call : HostActivity::runtime_call,
          row.correlation);
    for (const OverheadRow& row : batch.overheads) add(row, HostActivity::overhead, 0);
    for (const EventRow& row : batch.events) event_records_[row.event_use] = row;
    waits_.insert(waits_.end(), batch.waits.begin(), batch.waits.end());
    marks_.insert(marks_.end(), batch.marks.begin(), batch.marks.end());
    collectives_.insert(collectives_.end(), batch.collectives.begin(), batch.collectives.end());
  }

  void join_waits() {
    if (waits_.empty()) return;
    const std::uint32_t unknown = thread(0);  // of a wait whose call was not recorded
    std::set<std::uint64_t> queries;  // by correlation: they return at once, and are no waits
    auto is_query = remembered(recording_.names, [](std::string_view call) {
      return call.find("Query") != std::string_view::npos;
    });
    for (const HostEvent& call : recording_.host_events)
      if (is_call(call) && is_query(call.name)) queries.insert(call.correlation);
    for (const WaitRow& row : waits_) {
      HostEvent event;
      if (queries.contains(row.correlation)) continue;
      if (!set_times(event, row.start_ns, row.duration_ns)) continue;
      event.correlation = row.correlation;
      event.name = recording_.names.intern(synchronization_name(wait_kind(row.kind)));
      event.thread = unknown;
      event.activity = HostActivity::synchronization;
      Synchronization wait;
      wait.kind = wait_kind(row.kind);
      if (row.stream != no_index) wait.stream = row.stream;
      const auto* record = value_at(event_records_, row.event_use);
      if (row.event_use != 0 && record) {
        wait.waits_on = record->stream;
        wait.event_record = record->correlation;
      }
      event.synchronization = append(recording_.synchronizations, wait);
      recording_.host_events.push_back(event);
    }
    place_synchronizations(recording_);
  }

  /// Time, thread and function of what NCCL attached to a range come from the range's start.
  void place_payloads() {
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

  /// Adds a range per pair of ends as an annotation. One that was never closed lasts until the last
  /// event of the recording, and is counted in losses as one that was never opened is, unless all
  /// work was done before it was opened, as when a program ends within it; instants are left out.
  void add_ranges() {
    nanoseconds last{};
    for (const DeviceEvent& event : recording_.device_events) last = std::max(last, event.end);
    const nanoseconds last_work = last;
    for (const HostEvent& event : recording_.host_events) last = std::max(last, event.end);
    std::unordered_map<std::uint32_t, const MarkRow*> open;  // by id
    const auto add = [&](const MarkRow& row, nanoseconds end) {
      const nanoseconds start = time_of(row);
      HostEvent event{start, std::max(start, end)};
      event.name = name(row.name);
      event.thread = thread(row.thread);
      event.activity = HostActivity::annotation;
      recording_.host_events.push_back(event);
    };
    for (const MarkRow& row : marks_) {
      last = std::max(last, time_of(row));
      if (row.phase == MarkPhase::opened) {
        open[row.id] = &row;
      } else if (row.phase == MarkPhase::closed) {
        const auto found = open.find(row.id);
        if (found == open.end()) {
          ++recording_.losses["ranges_without_a_start"];
          continue;
        }
        add(*found->second, time_of(row));
        open.erase(found);
      }
    }
    // NCCL ends what it tells of its communicators by nvtxRangePopPayload, of which CUPTI reports
    // nothing (CUPTI 13.0, "NVTX extended payload": not supported).
    std::erase_if(open, [this](const auto& one) {
      return recording_.names.at(name(one.second->name)).starts_with("ncclComm");
    });
    for (const auto& [id, row] : open) add(*row, last);
    const auto lost = std::ranges::count_if(
        open, [&](const auto& one) { return time_of(*one.second) <= last_work; });
    if (lost > 0) recording_.losses["ranges_without_an_end"] += lost;
  }

  void add_facts(const std::string& file) {
    Origin& origin = recording_.origin;
    origin.file = file;
    origin.tool = facts_.contains("tool") ? facts_["tool"] : "scaleworth trace";
    origin.host = facts_["host"];
    origin.run = facts_["run"];
    origin.process = integer(facts_, "process");
    state_rank(
        recording_, integer(facts_, "rank"), integer(facts_, "world_size"), facts_["rank_from"]);
    const auto& events = recording_.device_events;
    const auto other =
        std::ranges::adjacent_find(events, std::not_equal_to<>{}, &DeviceEvent::device);
    if (!events.empty() && other == events.end()) origin.device = events.front().device;
    recording_.threads.resize(threads_.size());
    for (const auto& [system_id, index] : threads_)
      recording_.threads[index] =
          fmt::format("{} {}/{}", facts_["program"], facts_["process"], system_id);
  }

  NameId name(std::uint32_t number) {
    if (number < names_.size()) return names_[number];
    ++recording_.losses["names_that_are_missing"];
    return NameId::none;
  }

  std::uint32_t thread(std::uint32_t system_id) {
    const auto next = static_cast<std::uint32_t>(threads_.size());
    return threads_.try_emplace(system_id, next).first->second;
  }

  /// Sets start and end; false, and counted as lost, when no clock shows such times.
  template <class Event>
  bool set_times(Event& event, std::uint64_t start_ns, std::uint64_t duration_ns) {
    if (start_ns > latest_time || duration_ns > latest_time - start_ns) {
      ++recording_.losses["events_with_impossible_times"];
      return false;
    }
    event.start = nanoseconds(static_cast<std::int64_t>(start_ns));
    event.end = event.start + nanoseconds(static_cast<std::int64_t>(duration_ns));
    return true;
  }

  Recording recording_;
  std::vector<NameId> names_{NameId::none};  // by the file's numbers
  std::vector<std::uint16_t> shapes_{0};     // likewise
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  std::map<std::string, std::string> facts_;
  std::vector<WaitRow> waits_;
  std::unordered_map<std::uint64_t, EventRow> event_records_;  // by event_use
  std::vector<MarkRow> marks_;
  std::vector<CollectiveRow> collectives_;
};
}  // namespace
}  // namespace scaleworth::trace::recording

namespace scaleworth::trace {
std::vector<Recording> read_recording(ByteSource& source) {
  using namespace recording;
  FrameReader frames(source);
  Assembler assembler;
  Batch batch;
  bool ended = false;
  std::int64_t frames_read = 0;
  std::int64_t unknown = 0;
  std::int64_t malformed = 0;
  while (frames.next()) {
    batch.clear();
    const auto decoded = decode_frame(frames.kind(), frames.payload(), batch);
    assembler.add(batch);
    ++frames_read;
    if (!decoded) ++unknown;
    if (decoded == false) ++malformed;
    ended = frames.kind() == FrameKind::end;
  }
  if (frames_read == 0) {
    throw UserError(
        "{}: {}; nothing of it can be read, record again",
        source.name(),
        frames.damage().empty() ? "byte 16: the file ends after its header" : frames.damage());
  }
  auto [recording, device_ranks] = assembler.finish(source.name());
  if (unknown > 0) recording.losses["frames_of_a_later_version"] += unknown;
  if (malformed > 0) recording.losses["malformed_frames"] += malformed;
  if (frames.lost_bytes() > 0) recording.losses[loss_name::truncated_bytes] += frames.lost_bytes();
  if (!frames.damage().empty())
    recording.remarks.emplace_back(FindingId::frames_damaged, frames.damage());
  if (!ended) recording.remarks.emplace_back(FindingId::recording_not_ended);
  return split_by_device(std::move(recording), device_ranks);
}

RecordingSummary summarise_recording(ByteSource& source) {
  using namespace recording;
  RecordingSummary summary;
  FrameReader frames(source);
  while (frames.next()) {
    const FrameKind kind = frames.kind();
    std::string_view payload = frames.payload();
    if (kind == FrameKind::facts || kind == FrameKind::losses) {
      Batch batch;
      decode_frame(kind, payload, batch);
      take_facts(batch, summary.facts, summary.remarks);
      for (const auto& [name, count] : batch.losses)
        if (name.starts_with("dropped_")) summary.lost += count;
    }
    // The first number of every frame of rows is how many there are.
    if (std::ranges::find(device_rows, kind) != device_rows.end())
      summary.device_events += take_varint(payload).value_or(0);
    if (std::ranges::find(other_rows, kind) != other_rows.end())
      summary.other_events += take_varint(payload).value_or(0);
    summary.ended = summary.ended || kind == FrameKind::end;
  }
  return summary;
}
}  // namespace scaleworth::trace
