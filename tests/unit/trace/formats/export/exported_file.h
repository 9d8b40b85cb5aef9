// SPDX-License-Identifier: Apache-2.0
/// An exported file: its tracks, what must hold of it, and what Perfetto's engine makes of it.
#pragma once

#include "tests/catch.h"
#include "trace/formats/export/export.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace scaleworth::trace {

using EngineTrack = std::pair<std::uint64_t, std::uint64_t>;

/// A slice, or what ties an arrow to one.
struct EngineEvent {
  std::int64_t time = 0;
  char phase = 0;  // as in JSON: X, s, f
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
/// src/trace_processor of google/perfetto: events are taken by time, long slices before short ones
/// and all else behind them, then as in the file (sorter/trace_sorter.h,
/// TimestampedEvent::operator< and SlowOperatorLess). An arrow's end belongs to the last slice open
/// on its track, and is dropped where the arrow has not begun yet
/// (importers/common/flow_tracker.cc, FlowTracker::Begin and End). The one difference: here an
/// arrow is lost, too, when it leads back in time or lies outside of its slice.
inline Shown shown_by_engine(std::vector<EngineEvent> events) {
  const auto order = [](const EngineEvent& event) {
    return std::pair(event.time, -event.duration);
  };
  std::ranges::stable_sort(events, {}, order);
  Shown shown;
  std::map<EngineTrack, std::vector<EngineSlice>> stacks;
  std::map<std::uint64_t, std::int64_t> begun;  // starts of slices, by arrow
  for (const EngineEvent& event : events) {
    std::vector<EngineSlice>& stack = stacks[event.track];
    // SliceTracker::MaybeCloseStack; slices that only overlap are not nested by it.
    while (event.phase == 'X' && !stack.empty() && stack.back().end <= event.time) stack.pop_back();
    if (event.phase == 'X') {
      const EngineSlice slice{event.time, event.time + event.duration};
      CHECK((stack.empty() || slice.end <= stack.back().end));
      stack.push_back(slice);
      shown.slices[event.track].insert(slice);
    }
    if (stack.empty() || stack.back().end < event.time) {
      shown.lost += std::ssize(event.flows_in);
      continue;
    }
    const EngineSlice slice = stack.back();
    for (const std::uint64_t flow : event.flows_out) begun.emplace(flow, slice.start);
    for (const std::uint64_t flow : event.flows_in) {
      const auto from = begun.find(flow);
      const bool forward = from != begun.end() && from->second <= slice.start;
      ++(forward ? shown.arrows : shown.lost);
    }
  }
  return shown;
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

/// Of microseconds: CoerceToTs, json_trace_tokenizer.cc.
inline std::int64_t nanoseconds_of(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

/// Requires that no two tracks are one in the engine.
inline Shown shown_of(const nlohmann::json& document) {
  check_nested_in_speedscope(document);
  std::set<EngineTrack> named;
  std::vector<EngineEvent> events;
  for (const auto& event : document.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "thread_name")
      CHECK(named.insert(track_in_json(event)).second);
    if (phase != "X" && phase != "s" && phase != "f") continue;
    EngineEvent& added = events.emplace_back(
        EngineEvent{nanoseconds_of(event.at("ts")), phase[0], track_in_json(event)});
    CHECK(named.contains(added.track));
    if (phase == "X") added.duration = nanoseconds_of(event.at("dur"));
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

struct ExportedEvent {
  char phase = 0;  // B and E of a slice
  std::string name;
  std::int64_t time = 0;  // ns
  nlohmann::json arguments{};
  int arrows_out = 0;
  int arrows_in = 0;
};

/// Begins and ends of the slices of one track, in their order.
inline std::vector<ExportedEvent> track_of(const nlohmann::json& document,
                                           std::string_view process,
                                           std::string_view name) {
  const auto named = [&](const char* kind, const auto& event, std::string_view wanted) {
    return event.at("ph") == "M" && event.at("name") == kind &&
           event.at("args").at("name") == wanted;
  };
  const auto& all = document.at("traceEvents");
  std::set<int> pids;
  for (const auto& event : all)
    if (named("process_name", event, process)) pids.insert(event.at("pid").get<int>());
  std::set<EngineTrack> tracks;
  for (const auto& event : all)
    if (pids.contains(event.at("pid")) && named("thread_name", event, name))
      tracks.insert(track_in_json(event));
  std::vector<ExportedEvent> events;
  std::vector<std::int64_t> open;
  const auto end_until = [&](std::int64_t time) {
    for (; !open.empty() && open.back() <= time; open.pop_back())
      events.push_back({'E', "end", open.back()});
  };
  std::vector<std::size_t> begins;
  for (const auto& event : all) {
    const char phase = event.at("ph").get<std::string>()[0];
    if (phase == 'M' || !tracks.contains(track_in_json(event))) continue;
    const std::int64_t time = nanoseconds_of(event.at("ts"));
    if (phase == 'X') {
      end_until(time);
      begins.push_back(events.size());
      events.push_back({'B', event.at("name"), time, event.value("args", nlohmann::json())});
      open.push_back(time + nanoseconds_of(event.at("dur")));
      continue;
    }
    // The innermost slice that begins there.
    for (std::size_t i = begins.size(); i-- > 0;) {
      ExportedEvent& slice = events[begins[i]];
      if (slice.time != time) continue;
      ++(phase == 's' ? slice.arrows_out : slice.arrows_in);
      break;
    }
  }
  end_until(std::numeric_limits<std::int64_t>::max());
  if (events.empty()) throw std::runtime_error("no track " + std::string(name));
  return events;
}

/// Exports to `path` and requires that the file holds and shows what it is told to.
inline ExportCounts check_export(const Job& job, const Attributed& all, const std::string& path) {
  const ExportCounts counts = export_timeline(job, all, path);
  const nlohmann::json document = json_of(path);
  check_shown(shown_of(document), counts);
  const auto with_phase = [&](const char* phase) {
    return std::ranges::count_if(document.at("traceEvents"),
                                 [&](const auto& event) { return event.at("ph") == phase; });
  };
  CHECK(with_phase("s") == counts.arrows);
  CHECK(with_phase("f") == counts.arrows);
  return counts;
}

}  // namespace scaleworth::trace
