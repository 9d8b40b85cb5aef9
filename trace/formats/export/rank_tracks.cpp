// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
/// What is open in one lane, by its end; the innermost last.
using OpenEnds = std::vector<nanoseconds>;

bool fits(OpenEnds& open, const TimeInterval& event, Nesting nesting) {
  while (!open.empty() && open.back() <= event.start) open.pop_back();
  return open.empty() || (nesting == Nesting::inside_allowed && event.end <= open.back());
}
}  // namespace

std::vector<std::uint32_t> assign_lanes(const std::vector<TimeInterval>& events, Nesting nesting) {
  std::vector<OpenEnds> lanes;
  std::vector<std::uint32_t> result;
  result.reserve(events.size());
  for (const TimeInterval& event : events) {
    std::uint32_t lane = 0;
    while (lane < lanes.size() && !fits(lanes[lane], event, nesting)) ++lane;
    if (lane == lanes.size() && lane < most_lanes) lanes.emplace_back();
    if (lane < lanes.size()) lanes[lane].push_back(event.end);
    result.push_back(lane);
  }
  return result;
}

namespace {
/// Ends slices that are over before the next one begins.
class NestingTrack {
 public:
  NestingTrack(ExportWriter& writer, TrackId track) : writer_(writer), track_(track) {}
  NestingTrack(const NestingTrack&) = delete;
  NestingTrack& operator=(const NestingTrack&) = delete;

  void add(const ExportSlice& slice) {
    end_before(slice.start);
    writer_.begin(track_, slice);
    open_.push_back(slice.end);
  }
  void finish() { end_before(nanoseconds::max()); }

 private:
  void end_before(nanoseconds time) {
    for (; !open_.empty() && open_.back() <= time; open_.pop_back())
      writer_.end(track_, open_.back());
  }
  ExportWriter& writer_;
  TrackId track_;
  std::vector<nanoseconds> open_;
};

using attribution::CollectiveKind;

/// As PyTorch spells it where that differs from our names.
std::string_view collective_name(CollectiveKind kind) {
  if (kind == CollectiveKind::send_receive) return "sendrecv";
  return attribution::collective_kind_name(kind);
}

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

/// Arguments of one event; valid until the next call.
class EventArguments {
 public:
  explicit EventArguments(const Recording& recording) : recording_(recording) {}

  const std::vector<Argument>& of(const DeviceEvent& event) {
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

  const std::vector<Argument>& of(const HostEvent& event) {
    all_.clear();
    if (event.correlation != 0) number("correlation", static_cast<std::int64_t>(event.correlation));
    if (event.synchronization != no_index)
      add_synchronization(recording_.synchronizations.at(event.synchronization));
    if (event.cause) text("idle because", attribution::host_cause_name(*event.cause));
    return all_;
  }

 private:
  void number(std::string_view name, std::int64_t value) { all_.push_back({name, value}); }
  void text(std::string_view name, std::string_view value) { all_.push_back({name, value}); }
  void add_communication(const Communication& communication) {
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

  void add_group(NameId group) {
    text("Process Group Name", recording_.names.at(group));
    const auto known = recording_.groups.find(group);
    if (known == recording_.groups.end()) return;
    if (known->second.size) number("Group size", *known->second.size);
  }

  void add_synchronization(const Synchronization& synchronization) {
    text("cuda_sync_kind", synchronization_name(synchronization.kind));
    if (synchronization.stream) number("stream", *synchronization.stream);
    if (synchronization.waits_on) number("wait_on_stream", *synchronization.waits_on);
    if (synchronization.event_record)
      number("wait_on_cuda_event_record_corr_id",
             static_cast<std::int64_t>(*synchronization.event_record));
  }

  const Recording& recording_;
  std::vector<Argument> all_;
};

constexpr std::int64_t most_samples = 1000;  // of one rank's load
constexpr nanoseconds shortest_sample = std::chrono::microseconds(10);

std::int64_t percent(nanoseconds part, nanoseconds whole) {
  return (100 * part.count() + whole.count() / 2) / whole.count();
}

/// Share of time in which anything runs, in pieces of equal length.
void count_load(const IntervalSet& busy, TimeInterval window, TrackId track, ExportWriter& writer) {
  const nanoseconds step = std::max((window.end - window.start) / most_samples, shortest_sample);
  std::int64_t last = -1;
  auto range = busy.ranges().begin();
  for (nanoseconds start = window.start; start < window.end; start += step) {
    const nanoseconds end = std::min(start + step, window.end);
    nanoseconds covered{};
    while (range != busy.ranges().end() && range->end <= start) ++range;
    for (auto next = range; next != busy.ranges().end() && next->start < end; ++next)
      covered += std::min(next->end, end) - std::max(next->start, start);
    const std::int64_t value = percent(covered, end - start);
    if (value != last) writer.count(track, start, value);
    last = value;
  }
  writer.count(track, window.end, 0);
}

std::int64_t bytes_of(const Communication& communication) {
  return std::max(communication.input_bytes.value_or(0), communication.output_bytes.value_or(0));
}

void export_counters(const ExportSource& source, std::size_t rank, ExportWriter& writer) {
  const Recording& recording = source.job.recordings.at(rank);
  const ClockMap& map = source.attributed.alignment.map;
  std::vector<TimeInterval> active;
  std::map<nanoseconds, std::int64_t> changes;  // of the bytes in flight
  for (const DeviceEvent& event : recording.device_events) {
    const nanoseconds start = map.to_common(rank, event.start);
    const nanoseconds end = map.to_common(rank, event.end);
    if (!source.selection.shows(start, end)) continue;
    active.push_back({start, end});
    if (event.communication == no_index) continue;
    const std::int64_t bytes = bytes_of(recording.communications.at(event.communication));
    if (bytes == 0) continue;
    changes[start] += bytes;
    changes[end] -= bytes;
  }
  if (active.empty()) return;
  const auto process = static_cast<std::int32_t>(rank) + 1;
  const IntervalSet busy(std::move(active));
  TimeInterval span{std::max(busy.ranges().front().start, source.selection.window.start),
                    std::min(busy.ranges().back().end, source.selection.window.end)};
  if (!busy.empty() && span.end > span.start)
    count_load(busy, span, writer.add_counter(process, "GPU busy", "%"), writer);
  if (changes.empty()) return;
  const TrackId track = writer.add_counter(process, "communication in flight", "bytes");
  std::int64_t in_flight = 0;
  for (const auto& [time, change] : changes)
    if (change != 0) writer.count(track, time, in_flight += change);
}

class RankExporter {
 public:
  RankExporter(const ExportSource& source, std::size_t rank, ExportWriter& writer)
      : source_(source),
        rank_(rank),
        process_(static_cast<std::int32_t>(rank) + 1),
        recording_(source.job.recordings.at(rank)),
        arguments_(recording_),
        writer_(writer),
        split_of_(recording_.device_events.size(), no_index) {
    const auto& splits = source.attributed.waits.by_rank.at(rank);
    for (std::uint32_t i = 0; i < splits.size(); ++i)
      if (splits[i].known) split_of_.at(splits[i].event) = i;
  }

  void write() {
    write_process();
    write_steps();
    if (writer_.is_read_back()) write_step_marks();
    write_streams();
    write_threads();
    export_counters(source_, rank_, writer_);
  }

 private:
  template <typename Event>
  TimeInterval common(const Event& event) const {
    const ClockMap& map = source_.attributed.alignment.map;
    return {map.to_common(rank_, event.start), map.to_common(rank_, event.end)};
  }
  template <typename Event>
  bool shown(const Event& event) const {
    const TimeInterval time = common(event);
    return source_.selection.shows(time.start, time.end);
  }

  std::string rank_label(std::size_t place) const {
    return fmt::format("rank {}", source_.numbers.at(place).index);
  }

  void write_process() {
    const Origin& origin = recording_.origin;
    std::string name = rank_label(rank_);
    if (!origin.host.empty()) name += ", " + origin.host;
    if (origin.device) name += fmt::format(", GPU {}", *origin.device);
    const auto ranks = static_cast<std::int32_t>(source_.job.recordings.size());
    writer_.add_process({process_, name, &recording_, origin.world_size.value_or(ranks)});
  }

  void write_steps() {
    const auto& steps = source_.attributed.steps.by_rank.at(rank_);
    if (steps.empty()) return;
    NestingTrack track(writer_, writer_.add_track(process_, "steps"));
    for (const StepSpan& step : steps) {
      if (!source_.selection.shows(step.start, step.end)) continue;
      const std::string name = fmt::format("step {}", step.number);
      const auto arguments = ledger_arguments(step.number);
      track.add({step.start, step.end, name, "step", arguments, {}, std::nullopt});
    }
    track.finish();
  }

  /// As PyTorch writes its own, so that whoever reads the file back finds what this rank's steps
  /// were found from.
  void write_step_marks() {
    std::vector<Placed> marks;
    for (std::uint32_t i = 0; i < recording_.step_marks.size(); ++i)
      if (shown(recording_.step_marks[i])) marks.push_back({i, common(recording_.step_marks[i])});
    if (marks.empty()) return;
    write_lanes("step marks",
                std::move(marks),
                Nesting::inside_allowed,
                [this](NestingTrack& track, std::uint32_t index) {
                  const StepMark& mark = recording_.step_marks[index];
                  const TimeInterval time = common(mark);
                  const std::string name = fmt::format("ProfilerStep#{}", mark.number);
                  track.add({time.start, time.end, name, "user_annotation", {}, {}, std::nullopt});
                });
  }

  std::vector<Argument> ledger_arguments(std::int32_t step) const {
    std::vector<Argument> arguments;
    const Rank rank = source_.numbers.at(rank_);
    const auto& ledger = source_.attributed.result.ledger;
    const auto entry = std::ranges::find_if(ledger, [&](const auto& candidate) {
      return candidate.step == step && candidate.rank == rank;
    });
    if (entry == ledger.end()) return arguments;
    for (const Part part : recording_parts)
      arguments.push_back({part_key(part), static_cast<std::int64_t>(entry->part(part).count())});
    arguments.push_back(
        {"overlapped_wait_ns", static_cast<std::int64_t>(entry->overlapped_wait.count())});
    arguments.push_back(
        {"overlapped_transfer_ns", static_cast<std::int64_t>(entry->overlapped_transfer.count())});
    if (!entry->excluded.empty())
      arguments.push_back({"not averaged", std::string_view(entry->excluded)});
    return arguments;
  }

  void write_streams() {
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<Placed>> streams;
    for (std::uint32_t i = 0; i < recording_.device_events.size(); ++i) {
      const DeviceEvent& event = recording_.device_events[i];
      if (!shown(event)) continue;
      TimeInterval time = common(event);
      if (const CommunicationSplit* split = split_of(i))
        time.start = std::min(time.start, split->start);
      streams[{event.device, event.stream}].push_back({i, time});
    }
    for (auto& [place, events] : streams)
      write_lanes(
          fmt::format("GPU {} stream {}", place.first, place.second),
          std::move(events),
          Nesting::none,
          [this](NestingTrack& track, std::uint32_t index) { add_device_event(track, index); });
  }

  const CommunicationSplit* split_of(std::uint32_t event) const {
    const std::uint32_t split = split_of_[event];
    return split == no_index ? nullptr : &source_.attributed.waits.by_rank.at(rank_)[split];
  }

  /// Wait and transfer lie inside the kernel's slice; what was waited before it lies in front.
  void add_device_event(NestingTrack& track, std::uint32_t index) {
    const DeviceEvent& event = recording_.device_events[index];
    const TimeInterval time = common(event);
    const CommunicationSplit* split = split_of(index);
    if (split) add_wait(track, *split, {split->start, std::min(split->split, time.start)});
    track.add({time.start,
               time.end,
               recording_.names.at(event.name),
               category_of(event),
               arguments_.of(event),
               source_.arrows.out_of(rank_, index),
               std::nullopt});
    if (!split) return;
    const nanoseconds turn = std::clamp(split->split, time.start, time.end);
    add_wait(track, *split, {std::max(split->start, time.start), turn});
    track.add({turn, time.end, "transfer", "transfer", {}, {}, source_.arrows.into(rank_, index)});
  }

  void add_wait(NestingTrack& track, const CommunicationSplit& split, TimeInterval time) {
    if (time.end <= time.start) return;
    std::string name = "wait";
    if (split.waited_for)
      name += " for " + rank_label(static_cast<std::size_t>(split.waited_for->index));
    track.add({time.start, time.end, name, "wait", {}, {}, std::nullopt});
  }

  void write_threads() {
    std::map<std::uint32_t, std::vector<Placed>> threads;
    for (std::uint32_t i = 0; i < recording_.host_events.size(); ++i) {
      const HostEvent& event = recording_.host_events[i];
      // Steps have a track of their own.
      const bool step = event.activity == HostActivity::annotation &&
                        recording_.names.at(event.name).starts_with("ProfilerStep#");
      if (!step && shown(event)) threads[event.thread].push_back({i, common(event)});
    }
    for (auto& [thread, events] : threads) {
      std::string name = thread < recording_.threads.size() ? recording_.threads[thread] : "";
      if (name.empty()) name = "host";
      write_lanes(
          name,
          std::move(events),
          Nesting::inside_allowed,
          [this](NestingTrack& track, std::uint32_t index) { add_host_event(track, index); });
    }
  }

  void add_host_event(NestingTrack& track, std::uint32_t index) {
    const HostEvent& event = recording_.host_events[index];
    const TimeInterval time = common(event);
    track.add({time.start,
               time.end,
               recording_.names.at(event.name),
               category_of(event),
               arguments_.of(event),
               {},
               std::nullopt});
  }

  /// An event, and the time for which it needs a lane.
  struct Placed {
    std::uint32_t index;
    TimeInterval time;
  };
  template <typename Add>
  /// `add(track, index)` writes one event.
  void write_lanes(const std::string& name, std::vector<Placed> events, Nesting nesting, Add add) {
    std::ranges::stable_sort(events, [](const Placed& a, const Placed& b) {
      return std::tie(a.time.start, b.time.end) < std::tie(b.time.start, a.time.end);
    });
    std::vector<TimeInterval> times;
    times.reserve(events.size());
    for (const Placed& event : events) times.push_back(event.time);
    const std::vector<std::uint32_t> lanes = assign_lanes(times, nesting);
    const std::uint32_t last = *std::ranges::max_element(lanes);
    for (std::uint32_t lane = 0; lane <= std::min(last, most_lanes - 1); ++lane) {
      const std::string lane_name = lane == 0 ? name : fmt::format("{} ({})", name, lane + 1);
      NestingTrack track(writer_, writer_.add_track(process_, lane_name));
      for (std::size_t i = 0; i < events.size(); ++i)
        if (lanes[i] == lane) add(track, events[i].index);
      track.finish();
    }
    for (const std::uint32_t lane : lanes)
      if (lane == most_lanes) writer_.leave_out();
  }

  const ExportSource& source_;
  std::size_t rank_;
  std::int32_t process_;
  const Recording& recording_;
  EventArguments arguments_;
  ExportWriter& writer_;
  std::vector<std::uint32_t> split_of_;  // by device event; into the rank's splits
};
}  // namespace

void export_rank(const ExportSource& source, std::size_t rank, ExportWriter& writer) {
  RankExporter(source, rank, writer).write();
}

namespace {
/// Which event of a rank takes part in a collective; by collective.
using Participation = std::vector<std::pair<std::int64_t, std::uint32_t>>;

/// Whether the selection shows the event of a split.
class ShownEvents {
 public:
  ShownEvents(const Job& job, const ClockMap& clocks, const Selection& selection)
      : job_(job), clocks_(clocks), selection_(selection) {}
  bool contain(std::size_t rank, const CommunicationSplit& split) const {
    const DeviceEvent& event = job_.recordings.at(rank).device_events.at(split.event);
    return selection_.ranks.at(rank) && selection_.shows(clocks_.to_common(rank, event.start),
                                                         clocks_.to_common(rank, event.end));
  }

 private:
  const Job& job_;
  const ClockMap& clocks_;
  const Selection& selection_;
};

std::vector<Participation> shown_participations(const Waits& waits, const ShownEvents& shown) {
  std::vector<Participation> all(waits.by_rank.size());
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    for (const CommunicationSplit& split : waits.by_rank[rank])
      if (split.collective >= 0 && shown.contain(rank, split))
        all[rank].emplace_back(split.collective, split.event);
    std::ranges::sort(all[rank]);
  }
  return all;
}
}  // namespace

Arrows::Arrows(const Job& job, const Attributed& attributed, const Selection& selection)
    : by_rank_(attributed.waits.by_rank.size()) {
  const Waits& waits = attributed.waits;
  const ShownEvents events_shown(job, attributed.alignment.map, selection);
  const std::vector<Participation> shown = shown_participations(waits, events_shown);
  std::uint64_t number = 0;
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    for (const CommunicationSplit& split : waits.by_rank[rank]) {
      if (!split.known || !split.waited_for || !events_shown.contain(rank, split)) continue;
      const auto straggler = static_cast<std::size_t>(split.waited_for->index);
      if (straggler >= shown.size() || straggler == rank) continue;
      const auto& events = shown[straggler];
      const auto from =
          std::ranges::lower_bound(events, std::pair(split.collective, std::uint32_t{0}));
      if (from == events.end() || from->first != split.collective) continue;
      ++number;
      by_rank_[straggler].out.emplace_back(from->second, number);
      by_rank_[rank].in.emplace_back(split.event, number);
    }
  }
  for (OfRank& arrows : by_rank_) {
    std::ranges::sort(arrows.out);
    std::ranges::sort(arrows.in);
    for (const auto& [event, out] : arrows.out) arrows.out_numbers.push_back(out);
  }
}

std::span<const std::uint64_t> Arrows::out_of(std::size_t rank, std::uint32_t event) const {
  const OfRank& arrows = by_rank_.at(rank);
  const auto first = std::ranges::lower_bound(arrows.out, std::pair(event, std::uint64_t{0}));
  auto last = first;
  while (last != arrows.out.end() && last->first == event) ++last;
  return std::span(arrows.out_numbers)
      .subspan(static_cast<std::size_t>(first - arrows.out.begin()),
               static_cast<std::size_t>(last - first));
}

std::optional<std::uint64_t> Arrows::into(std::size_t rank, std::uint32_t event) const {
  const auto& in = by_rank_.at(rank).in;
  const auto found = std::ranges::lower_bound(in, std::pair(event, std::uint64_t{0}));
  if (found == in.end() || found->first != event) return std::nullopt;
  return found->second;
}
}  // namespace scaleworth::trace
