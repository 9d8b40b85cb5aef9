// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"
#include "trace/formats/kineto.h"

#include <map>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
bool fits(OpenEnds& open, const TimeInterval& event, Nesting nesting) {
  while (!open.empty() && open.back() <= event.start) open.pop_back();
  return open.empty() || (nesting == Nesting::inside_allowed && event.end <= open.back());
}

/// Arguments of one event; valid until the next call.
class EventArguments {
 public:
  explicit EventArguments(const Recording& recording) : recording_(recording) {}

  const std::vector<Argument>& of(const DeviceEvent& event) {
    all_.clear();
    number("device", std::optional(event.device));
    number("stream", std::optional(event.stream));
    number("correlation", unless_zero(event.correlation));
    number("graph node id", unless_zero(event.graph_node));
    if (event.operation == DeviceOperation::kernel) text("class", word_of(event.work_class));
    if (event.shape != 0) text("grid", recording_.shapes.at(NameId{event.shape}));
    if (event.communication != no_index)
      add_communication(recording_.communications.at(event.communication));
    if (event.copy != no_index) number("bytes", recording_.copies.at(event.copy).bytes);
    return all_;
  }

  const std::vector<Argument>& of(const HostEvent& event) {
    all_.clear();
    number("correlation", unless_zero(event.correlation));
    if (event.cause) text("idle because", word_of(*event.cause));
    return all_;
  }

 private:
  static std::optional<std::uint64_t> unless_zero(std::uint64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
  }
  template <class Number>
  void number(std::string_view name, const std::optional<Number>& value) {
    if (value) all_.push_back({name, static_cast<std::int64_t>(*value)});
  }
  void text(std::string_view name, std::string_view value) { all_.push_back({name, value}); }
  void text(std::string_view name, NameId value) {
    if (value != NameId::none) text(name, recording_.names.at(value));
  }

  void add_communication(const Communication& communication) {
    if (communication.kind == CollectiveKind::send_receive)
      text("Collective name", "sendrecv");  // as PyTorch spells it
    else if (communication.kind != CollectiveKind::unknown)
      text("Collective name", key_of(communication.kind));
    number("In msg nelems", communication.input_bytes);
    number("Out msg nelems", communication.output_bytes);
    if (communication.input_bytes || communication.output_bytes) text("dtype", "Byte");
    text("Process Group Name", communication.group);
    const auto group = recording_.groups.find(communication.group);
    if (communication.group != NameId::none && group != recording_.groups.end())
      number("Group size", group->second.size);
    number("Seq", communication.sequence);
    text("Algorithm", communication.algorithm);
    text("Protocol", communication.protocol);
    number("Root Rank", communication.root);
    number(communication.kind == CollectiveKind::receive ? "Src Rank" : "Dst Rank",
           communication.peer);
  }

  const Recording& recording_;
  std::vector<Argument> all_;
};

/// Arrows from the kernel of the rank that came last to the ranks that waited for it.
class Arrows {
 public:
  struct Arrow {
    std::uint64_t number;
    nanoseconds begin;  // where the kernel that it leads from starts
  };

  /// Only arrows between events that the selection shows.
  Arrows(const Job& job, const Attributed& attributed, const Selection& selection) {
    const auto& by_rank = attributed.waits.by_rank;
    const auto start_of = [&](std::size_t rank, std::uint32_t event) {
      return selection.clocks.to_common(rank,
                                        job.recordings.at(rank).device_events.at(event).start);
    };
    const auto is_shown = [&](std::size_t rank, const CommunicationSplit& split) {
      return selection.shows(rank, job.recordings.at(rank).device_events.at(split.event));
    };
    // Which event of a rank takes part in a collective.
    std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t> shown;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      for (const CommunicationSplit& split : by_rank[rank]) {
        if (split.collective < 0 || !is_shown(rank, split)) continue;
        auto& event = shown.try_emplace({rank, split.collective}, split.event).first->second;
        event = std::min(event, split.event);
      }
    std::uint64_t number = 0;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      for (const CommunicationSplit& split : by_rank[rank]) {
        if (!split.waited_for || !is_shown(rank, split)) continue;
        const std::size_t straggler = split.waited_for->index;
        const auto from = shown.find({straggler, split.collective});
        if (straggler == rank || from == shown.end()) continue;
        const nanoseconds begin = start_of(straggler, from->second);
        // Clocks that disagree by more: no moment of the call is left in which all were there.
        if (begin >= split.end) continue;
        out_[{straggler, from->second}].push_back(++number);
        in_.emplace(std::pair(rank, split.event), Arrow{number, begin});
      }
  }

  /// Numbers of the arrows that begin at the start of a rank's device event.
  std::span<const std::uint64_t> out_of(std::size_t rank, std::uint32_t event) const {
    const auto found = out_.find({rank, event});
    return found == out_.end() ? std::span<const std::uint64_t>() : found->second;
  }

  /// The arrow that ends where a rank's waiting does; null for none.
  const Arrow* into(std::size_t rank, std::uint32_t event) const {
    return value_at(in_, RankEvent(rank, event));
  }

 private:
  using RankEvent = std::pair<std::size_t, std::uint32_t>;
  std::map<RankEvent, std::vector<std::uint64_t>> out_;
  std::map<RankEvent, Arrow> in_;
};

class RankExporter {
 public:
  RankExporter(const ExportSource& source,
               const Arrows& arrows,
               std::size_t rank,
               ExportWriter& writer)
      : source_(source), arrows_(arrows), rank_(rank), writer_(writer) {
    for (const CommunicationSplit& split : source.attributed.waits.by_rank.at(rank))
      if (split.known || split.collective >= 0) split_of_.at(split.event) = &split;
  }

  void write() {
    write_process();
    write_steps();
    write_streams();
    write_threads();
  }

 private:
  template <typename Event>
  TimeInterval common(const Event& event) const {
    return common_time(source_.selection.clocks, rank_, event);
  }
  template <typename Event>
  bool shown(const Event& event) const {
    return source_.selection.shows(rank_, event);
  }

  std::string rank_label(Place place) const {
    return fmt::format("rank {}", source_.numbers.at(place).index);
  }

  void write_process() {
    const Origin& origin = recording_.origin;
    std::string name = rank_label(place_at(rank_));
    if (!origin.host.empty()) name += ", " + origin.host;
    if (origin.device) name += fmt::format(", GPU {}", *origin.device);
    writer_.add_process(process_, name);
  }

  void write_steps() {
    const auto& steps = source_.attributed.steps.by_rank.at(rank_);
    if (steps.empty()) return;
    const TrackId track = writer_.add_track(process_, "steps");
    for (const StepSpan& step : steps) {
      if (!source_.selection.shows(TimeInterval{step.start, step.end})) continue;
      const std::string name = fmt::format("step {}", step.number);
      std::vector<Argument> arguments = ledger_arguments(step.number);
      const std::string excluded = step.excluded ? exclusion_text(*step.excluded) : "";
      if (step.excluded && !arguments.empty())
        arguments.push_back({"not averaged", std::string_view(excluded)});
      writer_.add(track, {{step.start, step.end}, name, "step", arguments});
    }
  }

  std::vector<Argument> ledger_arguments(std::int32_t step) const {
    std::vector<Argument> arguments;
    const auto& ledger = source_.attributed.result.ledger;
    const std::pair wanted(step, place_at(rank_));
    const auto key_of = [](const StepLedger& one) { return std::pair(one.step, one.place); };
    const auto entry = std::ranges::lower_bound(ledger, wanted, {}, key_of);
    if (entry == ledger.end() || key_of(*entry) != wanted) return arguments;
    const auto add = [&](const char* key, Part part, nanoseconds time, nanoseconds undivided) {
      if (const auto known = known_time(part, time, undivided))
        arguments.push_back({key, static_cast<std::int64_t>(known->count())});
    };
    for (const Part part : recording_parts)
      add(part_key(part), part, entry->part(part), entry->part(Part::exposed_undivided));
    const nanoseconds undivided = entry->overlapped_undivided;
    add("overlapped_wait_ns", Part::exposed_wait, entry->overlapped_wait, undivided);
    add("overlapped_transfer_ns", Part::exposed_transfer, entry->overlapped_transfer, undivided);
    return arguments;
  }

  void write_streams() {
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<Placed>> streams;
    for (std::uint32_t i = 0; i < recording_.device_events.size(); ++i) {
      const DeviceEvent& event = recording_.device_events[i];
      if (!shown(event)) continue;
      TimeInterval time = common(event);
      if (const CommunicationSplit* split = split_of_[i])
        time.start = std::min(time.start, split->start);
      streams[{event.device, event.stream}].push_back({i, time});
    }
    for (auto& [place, events] : streams)
      write_lanes(fmt::format("GPU {} stream {}", place.first, place.second),
                  std::move(events),
                  Nesting::none,
                  [&](TrackId track, std::uint32_t index) { add_device_event(track, index); });
  }

  /// Wait and transfer lie inside the kernel's slice; what was waited before it lies in front.
  void add_device_event(TrackId track, std::uint32_t index) {
    const DeviceEvent& event = recording_.device_events[index];
    const TimeInterval time = common(event);
    const CommunicationSplit* split = split_of_[index];
    if (split) add_wait(track, *split, {split->start, std::min(split->split, time.start)});
    writer_.add(track,
                {time,
                 recording_.names.at(event.name),
                 kineto_category_name(event.operation),
                 arguments_.of(event),
                 arrows_.out_of(rank_, index)});
    if (!split) return;
    const Arrows::Arrow* arrow = arrows_.into(rank_, index);
    nanoseconds turn = std::clamp(split->split, time.start, time.end);
    // A framework's timeline has its last rank's call later than that rank's arrival: an arrow
    // from that call must not end before it.
    if (arrow) turn = std::max(turn, arrow->begin);
    add_wait(track, *split, {std::max(split->start, time.start), turn});
    writer_.add(track,
                {{turn, time.end},
                 split->known ? "transfer" : "wait or transfer",
                 "transfer",
                 {},
                 {},
                 arrow ? std::optional(arrow->number) : std::nullopt});
  }

  void add_wait(TrackId track, const CommunicationSplit& split, TimeInterval time) {
    if (time.end <= time.start) return;
    std::string name = split.below_error ? word_of(Part::below_clock_error) : "wait";
    if (split.waited_for) name += " for " + rank_label(*split.waited_for);
    writer_.add(track, {time, name, "wait"});
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
    const auto add = [&](TrackId track, std::uint32_t index) {
      const HostEvent& event = recording_.host_events[index];
      writer_.add(track,
                  {common(event),
                   recording_.names.at(event.name),
                   kineto_category_name(event.activity),
                   arguments_.of(event)});
    };
    for (auto& [thread, events] : threads) {
      std::string name = thread < recording_.threads.size() ? recording_.threads[thread] : "";
      if (name.empty()) name = "host";
      write_lanes(name, std::move(events), Nesting::inside_allowed, add);
    }
  }

  /// An event, and the time for which it needs a lane.
  struct Placed {
    std::uint32_t index;
    TimeInterval time;
  };
  /// `add(track, index)` writes one event.
  template <class Add>
  void write_lanes(const std::string& name, std::vector<Placed> events, Nesting nesting, Add add) {
    std::ranges::stable_sort(events, [](const Placed& a, const Placed& b) {
      return std::tie(a.time.start, b.time.end) < std::tie(b.time.start, a.time.end);
    });
    const std::vector<std::uint32_t> lanes = assign_lanes(mapped(events, &Placed::time), nesting);
    const std::uint32_t last = *std::ranges::max_element(lanes);
    for (std::uint32_t lane = 0; lane <= std::min(last, most_lanes - 1); ++lane) {
      const std::string lane_name = lane == 0 ? name : fmt::format("{} ({})", name, lane + 1);
      const TrackId track = writer_.add_track(process_, lane_name);
      for (std::size_t i = 0; i < events.size(); ++i)
        if (lanes[i] == lane) add(track, events[i].index);
    }
    for (const std::uint32_t lane : lanes)
      if (lane == most_lanes) writer_.leave_out();
  }

  const ExportSource& source_;
  const Arrows& arrows_;
  std::size_t rank_;
  ExportWriter& writer_;
  std::int32_t process_ = static_cast<std::int32_t>(rank_) + 1;
  const Recording& recording_ = source_.job.recordings.at(rank_);
  EventArguments arguments_{recording_};
  // By device event; null for none.
  std::vector<const CommunicationSplit*> split_of_{recording_.device_events.size()};
};
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

void export_ranks(const ExportSource& source, ExportWriter& writer) {
  const Arrows arrows(source.job, source.attributed, source.selection);
  for (std::size_t rank = 0; rank < source.job.recordings.size(); ++rank)
    if (source.selection.ranks[rank]) RankExporter(source, arrows, rank, writer).write();
}
}  // namespace scaleworth::trace
