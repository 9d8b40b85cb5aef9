// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/framework_timeline.h"

#include "assets/timelines.h"
#include "src/core/error.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"
#include "trace/formats/json_events.h"
#include "trace/formats/kineto.h"

#include <compare>

#include <simdjson.h>

namespace scaleworth::trace {
namespace {
/// Takes the digits at the front of `text`; absent when there are none or too many.
std::optional<std::int32_t> take_number(std::string_view& text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = rank_number(parse_integer(text.substr(0, digits)));
  if (value) text.remove_prefix(digits);
  return value;
}

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

constexpr const char* step_argument = "step";

/// Numbered like Megatron numbers its ranks: tensor-parallel ones are neighbours, then replicas.
struct RankPlace {
  std::int32_t pipeline = 0;
  std::int32_t data = 0;
  std::int32_t tensor = 0;
  friend auto operator<=>(const RankPlace&, const RankPlace&) = default;
};

struct Track {
  std::string process;  // pid as text
  std::string name;     // of thread_name; empty when the file has none
  // Set by place_tracks:
  std::optional<RankPlace> rank{};  // absent where the name does not fit
  std::uint32_t recording = 0;      // the how-manieth of the ranks that occur
  std::uint32_t stream = 0;         // the how-manieth track of its rank
  bool communication = false;
};

/// An event of a framework's timeline as it stands in the file.
struct TimelineEvent {
  nanoseconds start{};
  nanoseconds end{};
  NameId name = NameId::none;  // in TimelineEvents::names
  std::uint32_t track = 0;
  std::int32_t step = -1;  // -1: the event does not say it
};

class TimelineEvents final : public TraceReader {
 public:
  /// Losses go to `recording`.
  explicit TimelineEvents(Recording& recording) : recording_(recording) {}

  Use event(od::object& event) override {
    Fields fields;
    if (read(event, fields) != SUCCESS) return Use::malformed;
    if (fields.phase == "M" && fields.name == "thread_name") {
      std::string& name = tracks[track(fields.process, fields.thread)].name;
      if (name < fields.label) name = fields.label;  // of several the same one in any order
    } else if (fields.phase == "X") {
      add(fields);
    } else {
      return Use::passed_over;
    }
    return Use::kept;
  }

  void member(std::string_view, std::string_view) override {}

  const Track& track_of(const TimelineEvent& event) const { return tracks[event.track]; }

  NameTable names;
  std::vector<TimelineEvent> events;
  std::vector<Track> tracks;
  std::map<std::pair<std::string, std::string>, std::uint32_t> track_numbers;  // by pid and tid

 private:
  struct Fields {
    std::string_view phase;
    std::string_view name;
    std::string_view process;
    std::string_view thread;
    std::string_view start;
    std::string_view duration;
    std::string_view step;   // from args
    std::string_view label;  // from args: what a track is called
  };

  error_code read(od::object& event, Fields& fields) const {
    return each_member(event, [&](const char* key, od::value& value) {
      if (is_key(key, "ph")) fields.phase = bare_token(value.raw_json_token());
      if (is_key(key, "pid")) fields.process = bare_token(value.raw_json_token());
      if (is_key(key, "tid")) fields.thread = bare_token(value.raw_json_token());
      if (is_key(key, "ts")) fields.start = value.raw_json_token();
      if (is_key(key, "dur")) fields.duration = value.raw_json_token();
      if (is_key(key, "name")) return read_text(value, fields.name);
      if (!is_key(key, "args")) return SUCCESS;
      return each_member(value, [&](const char* argument, od::value& of_argument) {
        if (is_key(argument, step_argument)) fields.step = of_argument.raw_json_token();
        return is_key(argument, "name") ? read_text(of_argument, fields.label) : SUCCESS;
      });
    });
  }

  void add(const Fields& fields) {
    const auto span = parse_span(fields.start, fields.duration, recording_);
    if (!span) return;
    events.push_back({span->start,
                      span->end,
                      names.intern(fields.name),
                      track(fields.process, fields.thread),
                      step_number(parse_integer(fields.step)).value_or(-1)});
  }

  std::uint32_t track(std::string_view process, std::string_view thread) {
    const auto [found, is_new] = track_numbers.try_emplace(
        {std::string(process), std::string(thread)}, static_cast<std::uint32_t>(tracks.size()));
    if (is_new) tracks.push_back({found->first.first, ""});
    return found->second;
  }

  Recording& recording_;
};

/// A rank's place in the job, and one of its tracks.
struct TrackName {
  std::int32_t pipeline = 0;
  std::int32_t tensor = 0;
  std::string_view kind;
};

/// Of "PP rank 12, TP rank 3, dp-comm"; absent for other names.
std::optional<TrackName> parse_track(std::string_view name) {
  TrackName track;
  const auto take = [&](std::string_view words) {
    if (!name.starts_with(words)) return false;
    name.remove_prefix(words.size());
    return true;
  };
  for (const auto& [words, rank] :
       {std::pair("PP rank ", &track.pipeline), {", TP rank ", &track.tensor}}) {
    const auto number = take(words) ? take_number(name) : std::nullopt;
    if (!number) return std::nullopt;
    *rank = *number;
  }
  if (!take(", ")) return std::nullopt;
  track.kind = name;
  return track;
}

/// Which rank of a job each track belongs to, as its name says. Returns the ranks that occur, in
/// order.
std::vector<RankPlace> place_tracks(TimelineEvents& events) {
  std::vector<Track>& tracks = events.tracks;
  std::vector<RankPlace> ranks;
  for (Track& track : tracks) {
    const auto name = parse_track(track.name);
    if (!name) continue;
    const auto data = rank_number(parse_integer(track.process));
    if (!data) continue;
    track.rank = ranks.emplace_back(RankPlace{name->pipeline, *data, name->tensor});
    track.communication = name->kind.ends_with("-comm");
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<std::uint32_t> streams(ranks.size(), 0);
  for (const auto& [key, number] : events.track_numbers) {
    Track& track = tracks[number];
    if (!track.rank) continue;
    const auto place = std::ranges::lower_bound(ranks, *track.rank);
    track.recording = static_cast<std::uint32_t>(place - ranks.begin());
    track.stream = streams[track.recording]++;
  }
  return ranks;
}

/// How many ranks there are along one direction of the job.
std::int64_t extent(const std::vector<RankPlace>& ranks, std::int32_t RankPlace::*direction) {
  return std::int64_t{(*std::ranges::max_element(ranks, {}, direction)).*direction} + 1;
}

class Distribution {
 public:
  Distribution(const TimelineEvents& events, const std::vector<RankPlace>& ranks)
      : events_(events), ranks_(ranks) {}

  std::vector<Recording> all(const std::string& file) {
    for (std::size_t i = 0; i < recordings_.size(); ++i) describe(i, file);
    for (const auto& event : events_.events)
      if (const Track& track = events_.track_of(event); track.rank) add(event, track);
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      for (const auto& [number, mark] : marks_[i]) recordings_[i].step_marks.push_back(mark);
      if (!marks_[i].empty()) recordings_[i].step_marks_from = "args.step";
      sort_names(recordings_[i]);
      sort_events(recordings_[i]);
    }
    return std::move(recordings_);
  }

 private:
  void describe(std::size_t index, const std::string& file) {
    auto& origin = recordings_[index].origin;
    const auto& place = ranks_[index];
    const auto data = extent(ranks_, &RankPlace::data);
    const auto tensor = extent(ranks_, &RankPlace::tensor);
    const auto stages = extent(ranks_, &RankPlace::pipeline);
    origin.file = file;
    origin.tool = "Chrome trace (pipeline timers)";
    origin.pipeline_stage = place.pipeline;
    origin.data_parallel_rank = place.data;
    origin.framework_timeline = true;
    std::int64_t world = 0;
    if (__builtin_mul_overflow(stages * tensor, data, &world)) return;
    state_rank(recordings_[index],
               (place.pipeline * data + place.data) * tensor + place.tensor,
               world,
               "track names, replicas of a pipeline stage after each other");
  }

  void add(const TimelineEvent& event, const Track& track) {
    auto& recording = recordings_[track.recording];
    const auto name = events_.names.at(event.name);
    if (name == "gc") {
      if (recording.threads.empty()) recording.threads.push_back("host");
      HostEvent host{event.start, event.end};
      host.name = recording.names.intern(name);
      host.activity = HostActivity::operation;
      recording.host_events.push_back(host);
    } else {
      DeviceEvent device{event.start, event.end};
      device.name = recording.names.intern(name);
      device.stream = track.stream;
      if (track.communication) {
        device.communication = static_cast<std::uint32_t>(recording.communications.size());
        recording.communications.emplace_back().kind = name == "optimizer-clip-main-grad"
                                                           ? CollectiveKind::all_reduce
                                                           : parse_collective_name(name);
      }
      recording.device_events.push_back(device);
    }
    if (event.step < 0) return;
    const StepMark whole{event.step, event.start, event.end};
    StepMark& mark = marks_[track.recording].try_emplace(event.step, whole).first->second;
    mark.start = std::min(mark.start, event.start);
    mark.end = std::max(mark.end, event.end);
  }

  const TimelineEvents& events_;
  const std::vector<RankPlace>& ranks_;
  std::vector<Recording> recordings_{ranks_.size()};
  std::vector<std::map<std::int32_t, StepMark>> marks_{ranks_.size()};  // by number
};

/// Counts the events whose tracks have other names than the dialect knows.
void count_unplaced(const TimelineEvents& events, Recording& recording) {
  std::int64_t unplaced = 0;
  std::string first;
  for (const auto& event : events.events) {
    const Track& track = events.track_of(event);
    if (!track.rank && (unplaced++ == 0 || track.name < first)) first = track.name;
  }
  if (unplaced == 0) return;
  recording.losses["events_on_unknown_tracks"] = unplaced;
  recording.remarks.emplace_back(FindingId::unplaced_events, unplaced, toml_file::printable(first));
}

struct ForeignFormat {
  std::vector<std::string> known_by;  // all near the beginning of the file
  std::vector<std::string> unless;    // none of these
  std::vector<std::string> endings;   // or, whatever it holds, of its name: ".qdrep"
  std::string says;                   // "is a timeline of Horovod: ...; record with ..."
};

const std::vector<ForeignFormat>& foreign_formats() {
  static const std::vector<ForeignFormat> known = [] {
    std::vector<ForeignFormat> formats;
    auto root = toml_file::Table::parse(asset::timelines(), "timelines.toml");
    for (auto& table : root.tables("foreign")) {
      formats.push_back({table.texts("known_by"),
                         table.texts("unless"),
                         table.texts("endings"),
                         table.text("says")});
      table.finish();
    }
    root.finish();
    return formats;
  }();
  return known;
}
}  // namespace

std::optional<std::string> foreign_file(std::string_view name, std::string_view front) {
  const auto occurs = [&](const std::string& word) {
    return front.find(word) != std::string_view::npos;
  };
  for (const ForeignFormat& one : foreign_formats())
    if ((!one.known_by.empty() && std::ranges::all_of(one.known_by, occurs) &&
         std::ranges::none_of(one.unless, occurs)) ||
        std::ranges::any_of(one.endings, [&](const auto& end) { return name.ends_with(end); }))
      return fmt::format("{} {}", name, one.says);
  return std::nullopt;
}

bool is_operation_timers(std::string_view front) {
  return front.find("\"forward-compute\"") != std::string_view::npos &&
         front.find("\"step\"") != std::string_view::npos;
}

std::vector<Recording> read_operation_timers(ByteSource& source) {
  Recording damage;
  TimelineEvents events(damage);
  walk_trace(source, events, damage);
  const auto ranks = place_tracks(events);
  if (ranks.empty())
    throw UserError(
        "{}: no track is called like \"PP rank 0, TP rank 0, forward\": give the trace of "
        "torch.profiler of the same steps (export_chrome_trace)",
        source.name());
  count_unplaced(events, damage);
  auto recordings = Distribution(events, ranks).all(source.name());
  recordings.front().losses = std::move(damage.losses);
  recordings.front().remarks = std::move(damage.remarks);
  return recordings;
}
}  // namespace scaleworth::trace
