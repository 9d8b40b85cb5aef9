// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/framework_timeline.h"

#include "src/core/error.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"
#include "trace/formats/json_events.h"
#include "trace/formats/kineto.h"

#include <compare>

#include <simdjson.h>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_timelines[];
extern const char scaleworth_asset_timelines_end[];
}

namespace scaleworth::trace {
namespace {
TimelineDialect read_dialect(toml_file::Table& table) {
  TimelineDialect dialect;
  dialect.name = table.text("name");
  dialect.known_by = table.texts("known_by");
  if (dialect.known_by.empty()) table.refuse("known_by needs a name that only such files have");
  dialect.track = table.text("track");
  if (dialect.track.find("{pipeline}") == std::string::npos)
    table.refuse("track needs {pipeline}, the number of the pipeline stage", "track");
  dialect.step = table.text("step");
  if (dialect.step.empty() || dialect.step.size() > 60)
    table.refuse("step is the name of an argument, of at most 60 letters", "step");
  dialect.communication = table.texts("communication");
  dialect.host = table.texts("host");
  for (auto& operation : table.tables("operation")) {
    const auto name = operation.text("name");
    const auto kind = from_key<CollectiveKind>(operation.text("collective"));
    if (!kind) operation.refuse("is no kind of communication", "collective");
    dialect.collectives[name] = *kind;
    operation.finish();
  }
  table.finish();
  return dialect;
}

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
  /// `step` is the key of the argument with the step's number; losses go to `recording`.
  TimelineEvents(std::string_view step, Recording& recording)
      : step_(step), recording_(recording) {}

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
        if (is_key(argument, step_)) fields.step = of_argument.raw_json_token();
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

  std::string step_;
  Recording& recording_;
};

/// Which rank of a job each track belongs to, as its name says. Returns the ranks that occur, in
/// order.
std::vector<RankPlace> place_tracks(TimelineEvents& events, const TimelineDialect& dialect) {
  std::vector<Track>& tracks = events.tracks;
  std::vector<RankPlace> ranks;
  for (Track& track : tracks) {
    const auto name = parse_track(dialect.track, track.name);
    if (!name) continue;
    const auto data = name->data ? name->data : rank_number(parse_integer(track.process));
    if (!data) continue;
    track.rank = ranks.emplace_back(RankPlace{name->pipeline, *data, name->tensor});
    track.communication =
        std::ranges::find(dialect.communication, name->track_class) != dialect.communication.end();
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
  Distribution(const TimelineEvents& events,
               const std::vector<RankPlace>& ranks,
               const TimelineDialect& dialect)
      : events_(events), ranks_(ranks), dialect_(dialect) {}

  std::vector<Recording> all(const std::string& file) {
    for (std::size_t i = 0; i < recordings_.size(); ++i) describe(i, file);
    for (const auto& event : events_.events)
      if (const Track& track = events_.track_of(event); track.rank) add(event, track);
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      for (const auto& [number, mark] : marks_[i]) recordings_[i].step_marks.push_back(mark);
      if (!marks_[i].empty()) recordings_[i].step_marks_from = "args." + dialect_.step;
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
    origin.tool = fmt::format("Chrome trace ({})", dialect_.name);
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
    if (std::ranges::find(dialect_.host, name) != dialect_.host.end()) {
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
        recording.communications.emplace_back().kind = kind_of(name);
      }
      recording.device_events.push_back(device);
    }
    if (event.step < 0) return;
    const StepMark whole{event.step, event.start, event.end};
    StepMark& mark = marks_[track.recording].try_emplace(event.step, whole).first->second;
    mark.start = std::min(mark.start, event.start);
    mark.end = std::max(mark.end, event.end);
  }

  CollectiveKind kind_of(std::string_view name) const {
    const auto found = dialect_.collectives.find(name);
    return found != dialect_.collectives.end() ? found->second : parse_collective_name(name);
  }

  const TimelineEvents& events_;
  const std::vector<RankPlace>& ranks_;
  const TimelineDialect& dialect_;
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
  recording.remarks.push_back(
      fmt::format("{} events are on tracks that the dialect does not know, such as \"{}\".",
                  unplaced,
                  toml_file::printable(first)));
}

std::string_view built_in_text() {
  return {scaleworth_asset_timelines,
          static_cast<std::size_t>(scaleworth_asset_timelines_end - scaleworth_asset_timelines)};
}
}  // namespace

std::vector<TimelineDialect> parse_timelines(std::string_view toml, const std::string& origin) {
  auto root = toml_file::Table::parse(toml, origin);
  std::vector<TimelineDialect> dialects;
  for (auto& table : root.tables("timeline")) dialects.push_back(read_dialect(table));
  root.tables("foreign");  // foreign_formats() reads these
  root.finish();
  return dialects;
}

const std::vector<ForeignFormat>& foreign_formats() {
  static const std::vector<ForeignFormat> known = [] {
    std::vector<ForeignFormat> formats;
    auto root = toml_file::Table::parse(built_in_text(), "timelines.toml");
    for (auto& table : root.tables("foreign")) {
      formats.push_back({table.texts("known_by"),
                         table.texts("unless"),
                         table.texts("endings"),
                         table.text("says")});
      table.finish();
    }
    return formats;
  }();
  return known;
}

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

std::vector<TimelineDialect> built_in_timelines() {
  return parse_timelines(built_in_text(), "timelines.toml");
}

const TimelineDialect* find_timeline(const std::vector<TimelineDialect>& dialects,
                                     std::string_view front) {
  for (const auto& dialect : dialects) {
    const auto occurs = [&](const std::string& name) {
      return front.find('"' + name + '"') != std::string_view::npos;
    };
    if (std::ranges::all_of(dialect.known_by, occurs)) return &dialect;
  }
  return nullptr;
}

std::optional<TrackName> parse_track(std::string_view pattern, std::string_view name) {
  TrackName track;
  while (!pattern.empty()) {
    const auto brace = std::min(pattern.find('{'), pattern.size());
    if (!name.starts_with(pattern.substr(0, brace))) return std::nullopt;
    name.remove_prefix(brace);
    pattern.remove_prefix(brace);
    if (pattern.empty()) break;
    const auto close = std::min(pattern.find('}'), pattern.size() - 1);
    const auto field = pattern.substr(0, close + 1);
    pattern.remove_prefix(field.size());
    if (field == "{class}") {
      // Up to what follows it in the pattern.
      const auto literal = pattern.substr(0, pattern.find('{'));
      const auto end = literal.empty() ? name.size() : name.find(literal);
      if (end == std::string_view::npos) return std::nullopt;
      track.track_class = name.substr(0, end);
      name.remove_prefix(end);
      continue;
    }
    const auto number = take_number(name);
    if (!number) return std::nullopt;
    if (field == "{pipeline}") track.pipeline = *number;
    if (field == "{tensor}") track.tensor = *number;
    if (field == "{data}") track.data = *number;
  }
  if (!name.empty()) return std::nullopt;
  return track;
}

std::vector<Recording> read_timeline(ByteSource& source, const TimelineDialect& dialect) {
  Recording damage;
  TimelineEvents events(dialect.step, damage);
  walk_trace(source, events, damage);
  const auto ranks = place_tracks(events, dialect);
  if (ranks.empty())
    throw UserError(
        "{}: no track is named like \"{}\": give the names of your tracks in a table like "
        "data/timelines.toml.",
        source.name(),
        dialect.track);
  count_unplaced(events, damage);
  auto recordings = Distribution(events, ranks, dialect).all(source.name());
  recordings.front().losses = std::move(damage.losses);
  recordings.front().remarks = std::move(damage.remarks);
  return recordings;
}
}  // namespace scaleworth::trace
