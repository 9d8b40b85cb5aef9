// SPDX-License-Identifier: Apache-2.0
/// What must hold for every file that is exported, and what Perfetto's engine makes of it.
#pragma once

#include "tests/catch.h"
#include "tests/unit/trace/format/export/perfetto_decoder.h"
#include "trace/formats/export/export.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace scaleworth::trace {

inline constexpr std::uint64_t slice_begin = 1;
inline constexpr std::uint64_t slice_end = 2;
inline constexpr std::uint64_t counter_value = 4;

struct Totals {
  std::int64_t slices = 0;
  std::int64_t counters = 0;
  std::multiset<std::uint64_t> flows_out;
  std::multiset<std::uint64_t> flows_in;
};

/// Requires that the slices of each track nest and end.
inline Totals check(const PerfettoFile& file) {
  Totals totals;
  for (const auto& [track, events] : file.events) {
    std::uint64_t last = 0;
    std::int64_t open = 0;
    for (const DecodedEvent& event : events) {
      REQUIRE(event.time >= last);
      last = event.time;
      if (event.type == slice_begin) ++open;
      if (event.type == slice_end) --open;
      REQUIRE(open >= 0);
      totals.slices += event.type == slice_begin;
      totals.counters += event.type == counter_value;
      totals.flows_out.insert(event.flows_out.begin(), event.flows_out.end());
      totals.flows_in.insert(event.flows_in.begin(), event.flows_in.end());
    }
    CHECK(open == 0);
    CHECK(file.process_names.contains(file.parents.at(track)));
  }
  CHECK(totals.flows_out == totals.flows_in);
  CHECK(std::set(totals.flows_in.begin(), totals.flows_in.end()).size() == totals.flows_in.size());
  return totals;
}

inline const std::vector<DecodedEvent>& track_of(const PerfettoFile& file,
                                                 std::string_view process,
                                                 std::string_view name) {
  for (const auto& [track, events] : file.events)
    if (file.track_names.at(track) == name &&
        file.process_names.at(file.parents.at(track)) == process)
      return events;
  throw std::runtime_error("no track " + std::string(name));
}

using EngineTrack = std::pair<std::uint64_t, std::uint64_t>;

/// What opens, ends or fills a slice, or ties an arrow to one.
struct EngineEvent {
  std::int64_t time = 0;
  char phase = 0;  // as in JSON: B and E, X, s, f
  EngineTrack track;
  std::int64_t duration = 0;  // of X
  std::vector<std::uint64_t> flows_out{};
  std::vector<std::uint64_t> flows_in{};
};

struct EngineSlice {
  std::int64_t start = 0;
  std::int64_t end = 0;
  auto operator<=>(const EngineSlice&) const = default;
};

struct Shown {
  std::map<EngineTrack, std::multiset<EngineSlice>> slices;
  std::int64_t arrows = 0;
  std::int64_t lost = 0;  // ends of arrows that are not shown
};

/// What Perfetto's engine makes of `events`, which come as in the file. Its rules, in
/// src/trace_processor of google/perfetto: events are taken by time, in JSON long slices before
/// short ones and all else behind them, then as in the file (sorter/trace_sorter.h,
/// TimestampedEvent::operator< and SlowOperatorLess). An arrow's end belongs to the slice that the
/// packet begins or ends, in JSON to the last one open on its track, and is dropped where the arrow
/// has not begun yet (importers/common/flow_tracker.cc, FlowTracker::Begin and End;
/// importers/proto/track_event_event_importer.h, MaybeParseTrackEventFlows). The one difference:
/// here an arrow is lost, too, when it leads back in time or lies outside of its slice.
inline Shown shown_by_engine(std::vector<EngineEvent> events) {
  const auto order = [](const EngineEvent& event) {
    return std::pair(event.time, event.phase == 'X' ? -event.duration : 0);
  };
  std::ranges::stable_sort(events, {}, order);
  constexpr std::int64_t open = std::numeric_limits<std::int64_t>::max();
  Shown shown;
  std::map<EngineTrack, std::vector<EngineSlice>> stacks;
  std::map<std::uint64_t, std::int64_t> begun;  // starts of slices, by arrow
  for (const EngineEvent& event : events) {
    std::vector<EngineSlice>& stack = stacks[event.track];
    // SliceTracker::MaybeCloseStack; slices that only overlap are not nested by it.
    while (event.phase == 'X' && !stack.empty() && stack.back().end <= event.time) stack.pop_back();
    if (event.phase == 'B') stack.push_back({event.time, open});
    if (event.phase == 'X') {
      const EngineSlice slice{event.time, event.time + event.duration};
      CHECK((stack.empty() || slice.end <= stack.back().end));
      stack.push_back(slice);
      shown.slices[event.track].insert(slice);
    }
    REQUIRE((event.phase == 's' || event.phase == 'f' || !stack.empty()));
    if (stack.empty() || stack.back().end < event.time) {
      shown.lost += std::ssize(event.flows_in);
      continue;
    }
    const EngineSlice slice = stack.back();
    if (event.phase == 'E') {
      shown.slices[event.track].insert({slice.start, event.time});
      stack.pop_back();
    }
    for (const std::uint64_t flow : event.flows_out) begun.emplace(flow, slice.start);
    for (const std::uint64_t flow : event.flows_in) {
      const auto from = begun.find(flow);
      const bool forward = from != begun.end() && from->second <= slice.start;
      ++(forward ? shown.arrows : shown.lost);
    }
  }
  return shown;
}

inline Shown shown_of(const PerfettoFile& file) {
  std::vector<std::pair<std::size_t, EngineEvent>> placed;
  for (const auto& [track, events] : file.events)
    for (const DecodedEvent& event : events) {
      if (event.type == counter_value) continue;
      placed.emplace_back(event.place,
                          EngineEvent{static_cast<std::int64_t>(event.time),
                                      event.type == slice_begin ? 'B' : 'E',
                                      {0, track},
                                      0,
                                      event.flows_out,
                                      event.flows_in});
    }
  std::ranges::sort(placed, {}, [](const auto& one) { return one.first; });
  std::vector<EngineEvent> events;
  for (auto& [place, event] : placed) events.push_back(std::move(event));
  return shown_by_engine(std::move(events));
}

/// Thread 0 is the one that has the number of its process (importers/json/
/// json_trace_tokenizer.cc, JsonTraceTokenizer::ParseTraceEventContents).
inline EngineTrack track_in_json(const nlohmann::json& event) {
  const auto process = event.at("pid").get<std::uint64_t>();
  const auto thread = event.value<std::uint64_t>("tid", 0);
  return {process, thread == 0 ? process : thread};
}

/// speedscope (src/import/trace-event.ts, convertToEventQueues) counts from the first event of a
/// track and adds durations, in binary numbers; slices then must end before the next ones begin, or
/// it takes them for open.
inline void check_nested_in_speedscope(const nlohmann::json& document) {
  std::map<EngineTrack, std::vector<std::pair<double, double>>> tracks;  // begin, -duration
  for (const auto& event : document.at("traceEvents"))
    if (event.at("ph") == "X")
      tracks[track_in_json(event)].emplace_back(event.at("ts"), -event.at("dur").get<double>());
  for (auto& [track, slices] : tracks) {
    std::ranges::sort(slices);
    std::vector<double> ends;
    for (const auto& [begin, duration] : slices) {
      const double start = begin - slices.front().first;
      while (!ends.empty() && ends.back() < start) ends.pop_back();
      const double end = start - duration;
      CHECK(end > start);
      CHECK((ends.empty() || (ends.back() > start && end <= ends.back())));
      ends.push_back(end);
    }
  }
}

/// Of a Chrome export; requires that no two tracks are one in the engine.
inline Shown shown_of(const nlohmann::json& document) {
  // CoerceToTs, json_trace_tokenizer.cc
  const auto ns = [](const nlohmann::json& us) { return std::llround(us.get<double>() * 1000); };
  check_nested_in_speedscope(document);
  std::set<EngineTrack> named;
  std::vector<EngineEvent> events;
  for (const auto& event : document.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "thread_name")
      CHECK(named.insert(track_in_json(event)).second);
    if (phase != "X" && phase != "s" && phase != "f") continue;
    EngineEvent& added =
        events.emplace_back(EngineEvent{ns(event.at("ts")), phase[0], track_in_json(event)});
    CHECK(named.contains(added.track));
    if (phase == "X") added.duration = ns(event.at("dur"));
    if (phase == "s") added.flows_out = {event.at("id").get<std::uint64_t>()};
    if (phase == "f") added.flows_in = {event.at("id").get<std::uint64_t>()};
  }
  return shown_by_engine(std::move(events));
}

inline nlohmann::json json_of(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

/// Requires that every slice and every arrow of `counts` is shown.
inline void check_shown(const Shown& shown, const ExportCounts& counts) {
  std::int64_t slices = 0;
  for (const auto& [track, all] : shown.slices) slices += std::ssize(all);
  CHECK(slices == counts.slices);
  CHECK(shown.arrows == counts.arrows);
  CHECK(shown.lost == 0);
}

/// Exports to `path` in Perfetto's format and requires that the file holds what it is told to.
inline ExportCounts check_perfetto(const Job& job, const Attributed& all, const std::string& path) {
  const ExportCounts counts = export_timeline(job, all, path);
  const PerfettoFile file(path);
  const Totals totals = check(file);
  check_shown(shown_of(file), counts);
  CHECK(totals.slices == counts.slices);
  CHECK(totals.counters == counts.counters);
  CHECK(static_cast<std::int64_t>(totals.flows_in.size()) == counts.arrows);
  return counts;
}

}  // namespace scaleworth::trace
