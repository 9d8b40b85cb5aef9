// SPDX-License-Identifier: Apache-2.0
/// The events of a framework's timeline as they stand in the file, by track.
#pragma once

#include "trace/format/json/walk.h"

#include <map>
#include <string>
#include <utility>

namespace scaleworth::trace {

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

  Use event(simdjson::ondemand::object& event) override;
  void member(std::string_view, std::string_view) override {}

  struct Track {
    std::string process;  // pid and tid as text
    std::string thread;
    std::string name;  // of thread_name; empty when the file has none
  };
  const std::vector<TimelineEvent>& events() const { return events_; }
  const std::vector<Track>& tracks() const { return tracks_; }
  const NameTable& names() const { return names_; }

 private:
  struct Fields;
  simdjson::error_code read(simdjson::ondemand::object& event, Fields& fields) const;
  simdjson::error_code read_arguments(simdjson::ondemand::value& value, Fields& fields) const;
  void add(const Fields& fields);
  std::uint32_t track(std::string_view process, std::string_view thread);

  std::string step_;
  Recording& recording_;
  NameTable names_;
  std::vector<TimelineEvent> events_;
  std::vector<Track> tracks_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> track_numbers_;
};

}  // namespace scaleworth::trace
