// SPDX-License-Identifier: Apache-2.0
#include "trace/format/frameworks/read_timeline.h"

#include "src/core/error.h"
#include "src/core/toml/node.h"
#include "trace/format/frameworks/places.h"
#include "trace/format/kineto/collective.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::trace {

namespace {

class Distribution {
 public:
  Distribution(const TimelineEvents& events, const Places& places, const TimelineDialect& dialect)
      : events_(events), places_(places), dialect_(dialect), recordings_(places.ranks.size()) {}

  std::vector<Recording> all(const std::string& file);

 private:
  void describe(std::size_t index, const std::string& file);
  void add(const TimelineEvent& event, const TrackPlace& place);
  void add_device_event(const TimelineEvent& event, const TrackPlace& place);
  void add_host_event(const TimelineEvent& event, Recording& recording);
  attribution::CollectiveKind kind_of(std::string_view name) const;
  void mark_step(const TimelineEvent& event, Recording& recording);

  const TimelineEvents& events_;
  const Places& places_;
  const TimelineDialect& dialect_;
  std::vector<Recording> recordings_;
};

/// How many ranks there are along one direction of the job.
template <typename Number>
std::int64_t extent(const std::vector<RankPlace>& ranks, Number number) {
  std::int64_t most = 0;
  for (const auto& rank : ranks) most = std::max<std::int64_t>(most, number(rank));
  return most + 1;
}

void Distribution::describe(std::size_t index, const std::string& file) {
  auto& origin = recordings_[index].origin;
  const auto& place = places_.ranks[index];
  const auto data = extent(places_.ranks, [](const RankPlace& p) { return p.data; });
  const auto tensor = extent(places_.ranks, [](const RankPlace& p) { return p.tensor; });
  const auto stages = extent(places_.ranks, [](const RankPlace& p) { return p.pipeline; });
  origin.file = file;
  origin.tool = fmt::format("Chrome trace ({})", dialect_.name);
  origin.pipeline_stage = place.pipeline;
  origin.data_parallel_rank = place.data;
  origin.framework_timeline = true;
  std::int64_t world = 0;
  if (__builtin_mul_overflow(stages * tensor, data, &world) ||
      world > std::numeric_limits<std::int32_t>::max())
    return;
  origin.rank =
      static_cast<std::int32_t>((place.pipeline * data + place.data) * tensor + place.tensor);
  origin.world_size = static_cast<std::int32_t>(world);
  origin.rank_from = "track names, replicas of a pipeline stage after each other";
}

attribution::CollectiveKind Distribution::kind_of(std::string_view name) const {
  const auto found = dialect_.collectives.find(name);
  return found != dialect_.collectives.end() ? found->second : parse_collective_name(name);
}

void Distribution::add_device_event(const TimelineEvent& event, const TrackPlace& place) {
  auto& recording = recordings_[place.recording];
  const auto name = events_.names().at(event.name);
  DeviceEvent device;
  device.start = event.start;
  device.end = event.end;
  device.name = recording.names.intern(name);
  device.stream = place.stream;
  if (place.communication) {
    device.communication = static_cast<std::uint32_t>(recording.communications.size());
    recording.communications.emplace_back().kind = kind_of(name);
  }
  recording.device_events.push_back(device);
}

void Distribution::add_host_event(const TimelineEvent& event, Recording& recording) {
  if (recording.threads.empty()) recording.threads.push_back("host");
  HostEvent host;
  host.start = event.start;
  host.end = event.end;
  host.name = recording.names.intern(events_.names().at(event.name));
  host.activity = HostActivity::operation;
  recording.host_events.push_back(host);
}

/// Events of a step follow each other, so that the mark is nearly always the last one.
void Distribution::mark_step(const TimelineEvent& event, Recording& recording) {
  if (event.step < 0) return;
  auto& marks = recording.step_marks;
  if (marks.empty() || marks.back().number != event.step)
    marks.push_back({event.step, event.start, event.end});
  marks.back().start = std::min(marks.back().start, event.start);
  marks.back().end = std::max(marks.back().end, event.end);
}

void Distribution::add(const TimelineEvent& event, const TrackPlace& place) {
  auto& recording = recordings_[place.recording];
  const auto name = events_.names().at(event.name);
  if (std::find(dialect_.host.begin(), dialect_.host.end(), name) != dialect_.host.end()) {
    add_host_event(event, recording);
  } else {
    add_device_event(event, place);
  }
  mark_step(event, recording);
}

/// One mark for each number.
void unite_marks(Recording& recording, const std::string& step) {
  auto& marks = recording.step_marks;
  std::stable_sort(marks.begin(), marks.end(), [](const StepMark& a, const StepMark& b) {
    return a.number < b.number;
  });
  std::vector<StepMark> united;
  for (const auto& mark : marks) {
    if (united.empty() || united.back().number != mark.number) united.push_back(mark);
    united.back().start = std::min(united.back().start, mark.start);
    united.back().end = std::max(united.back().end, mark.end);
  }
  marks = std::move(united);
  if (!marks.empty()) recording.step_marks_from = "args." + step;
}

std::vector<Recording> Distribution::all(const std::string& file) {
  for (std::size_t i = 0; i < recordings_.size(); ++i) describe(i, file);
  for (const auto& event : events_.events())
    if (const auto& place = places_.tracks[event.track]) add(event, *place);
  for (auto& recording : recordings_) {
    unite_marks(recording, dialect_.step);
    sort_events(recording);
  }
  return std::move(recordings_);
}

/// Counts the events whose tracks have other names than the dialect knows.
void count_unplaced(const TimelineEvents& events, const Places& places, Recording& recording) {
  std::int64_t unplaced = 0;
  std::string first;
  for (const auto& event : events.events()) {
    if (places.tracks[event.track]) continue;
    if (unplaced++ == 0) first = toml_file::printable(events.tracks()[event.track].name);
  }
  if (unplaced == 0) return;
  recording.losses["events_on_unknown_tracks"] = unplaced;
  recording.remarks.push_back(
      fmt::format("{} events are on tracks that the dialect does not know, the first on \"{}\".",
                  unplaced,
                  first));
}

}  // namespace

std::vector<Recording> read_timeline(ByteSource& source, const TimelineDialect& dialect) {
  Recording damage;
  TimelineEvents events(dialect.step, damage);
  walk_trace(source, events, damage);
  const auto places = place_tracks(events.tracks(), dialect);
  if (places.ranks.empty())
    throw UserError(fmt::format(
        "{}: no track is named like \"{}\": give the names of your tracks in a table like "
        "data/timelines.toml.",
        source.name(),
        dialect.track));
  count_unplaced(events, places, damage);
  auto recordings = Distribution(events, places, dialect).all(source.name());
  recordings.front().losses = std::move(damage.losses);
  recordings.front().remarks = std::move(damage.remarks);
  return recordings;
}

}  // namespace scaleworth::trace
