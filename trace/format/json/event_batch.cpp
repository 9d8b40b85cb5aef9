// SPDX-License-Identifier: Apache-2.0
#include "trace/format/json/event_batch.h"

#include "trace/format/json/scan.h"
#include "trace/format/json/window.h"

#include <algorithm>

namespace scaleworth::trace {

EventBatch::Parsed EventBatch::parse(char* text, std::size_t bytes) {
  const char before = text[-1];
  const char behind = text[bytes];
  text[-1] = '[';
  text[bytes] = ']';
  const auto parsed = walk(text - 1, bytes + 2);
  text[-1] = before;
  text[bytes] = behind;
  return parsed;
}

EventBatch::Parsed EventBatch::walk(const char* text, std::size_t bytes) {
  namespace od = simdjson::ondemand;
  Parsed parsed;
  const simdjson::padded_string_view padded(text, bytes, bytes + simdjson::SIMDJSON_PADDING);
  od::document document;
  od::array events;
  if (parser_.iterate(padded).get(document) != simdjson::SUCCESS) return parsed;
  if (document.get_array().get(events) != simdjson::SUCCESS) return parsed;
  std::size_t start = 1;
  bool done = false;  // with the event at start
  const auto failed = [&] {
    if (done) {
      const auto end = value_end({text, bytes}, start);
      start = std::min(end, bytes - 1);
    }
    parsed.bytes = start - 1;
    return parsed;
  };
  for (auto element : events) {
    od::value value;
    od::object event;
    if (element.get(value) != simdjson::SUCCESS) return failed();
    start = static_cast<std::size_t>(value.raw_json_token().data() - text);
    done = false;
    if (value.get_object().get(event) != simdjson::SUCCESS) return failed();
    const auto use = reader_.event(event);
    if (use == TraceReader::Use::malformed) return failed();
    done = use == TraceReader::Use::kept;
    ++parsed.events;
  }
  parsed.well = true;
  parsed.bytes = bytes - 2;
  const char* behind = nullptr;
  if (document.current_location().get(behind) == simdjson::SUCCESS && behind < text + bytes - 1) {
    parsed.array_ended = true;
    parsed.bytes = static_cast<std::size_t>(behind - text) - 1;
  }
  return parsed;
}

}  // namespace scaleworth::trace
