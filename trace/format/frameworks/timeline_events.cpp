// SPDX-License-Identifier: Apache-2.0
#include "trace/format/frameworks/timeline_events.h"

#include "trace/format/json/event_text.h"

#include <algorithm>
#include <limits>

namespace scaleworth::trace {

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

struct TimelineEvents::Fields {
  std::string_view phase;
  std::string_view name;
  std::string_view process;
  std::string_view thread;
  std::string_view start;
  std::string_view duration;
  std::string_view step;   // from args
  std::string_view label;  // from args: what a track is called
};

error_code TimelineEvents::read_arguments(od::value& value, Fields& fields) const {
  if (value.raw_json_token().front() != '{') return SUCCESS;
  od::object arguments;
  if (const auto error = value.get_object().get(arguments)) return error;
  for (auto each : arguments) {
    od::field field;
    if (const auto error = std::move(each).get(field)) return error;
    const char* key = field.key().raw();
    if (is_key(key, step_)) fields.step = field.value().raw_json_token();
    if (!is_key(key, "name")) continue;
    if (const auto error = read_text(field.value(), fields.label)) return error;
  }
  return SUCCESS;
}

error_code TimelineEvents::read(od::object& event, Fields& fields) const {
  for (auto each : event) {
    od::field field;
    if (const auto error = std::move(each).get(field)) return error;
    const char* key = field.key().raw();
    auto& value = field.value();
    if (is_key(key, "ph")) fields.phase = bare_token(value.raw_json_token());
    if (is_key(key, "pid")) fields.process = bare_token(value.raw_json_token());
    if (is_key(key, "tid")) fields.thread = bare_token(value.raw_json_token());
    if (is_key(key, "ts")) fields.start = value.raw_json_token();
    if (is_key(key, "dur")) fields.duration = value.raw_json_token();
    error_code error = SUCCESS;
    if (is_key(key, "name")) error = read_text(value, fields.name);
    if (is_key(key, "args")) error = read_arguments(value, fields);
    if (error != SUCCESS) return error;
  }
  return SUCCESS;
}

std::uint32_t TimelineEvents::track(std::string_view process, std::string_view thread) {
  const auto [found, is_new] = track_numbers_.try_emplace(
      {std::string(process), std::string(thread)}, static_cast<std::uint32_t>(tracks_.size()));
  if (is_new) tracks_.push_back({found->first.first, found->first.second, ""});
  return found->second;
}

void TimelineEvents::add(const Fields& fields) {
  const auto start = parse_microseconds(fields.start);
  const auto duration = parse_microseconds(fields.duration);
  if (!start) {
    ++recording_.losses["events_without_time"];
    return;
  }
  if (!duration) ++recording_.losses["events_without_duration"];
  if (duration && *duration < nanoseconds(0))
    ++recording_.losses["events_ending_before_their_start"];
  TimelineEvent event;
  event.start = *start;
  event.end = *start + std::max(duration.value_or(nanoseconds(0)), nanoseconds(0));
  event.name = names_.intern(fields.name);
  event.track = track(fields.process, fields.thread);
  const auto step = parse_integer(fields.step);
  if (step && *step >= 0 && *step <= std::numeric_limits<std::int32_t>::max())
    event.step = static_cast<std::int32_t>(*step);
  events_.push_back(event);
}

TraceReader::Use TimelineEvents::event(od::object& event) {
  Fields fields;
  if (read(event, fields) != SUCCESS) return Use::malformed;
  if (fields.phase == "M" && fields.name == "thread_name") {
    tracks_[track(fields.process, fields.thread)].name = fields.label;
  } else if (fields.phase == "X") {
    add(fields);
  } else {
    return Use::passed_over;
  }
  return Use::kept;
}

}  // namespace scaleworth::trace
