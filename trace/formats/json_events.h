// SPDX-License-Identifier: Apache-2.0
/// Trace events one by one in bounded memory; simdjson only here.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/formats/byte_source.h"
#include "trace/recording.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <simdjson.h>

namespace scaleworth::trace {
/// What a reader does with the parts of the file.
class TraceReader {
 public:
  enum class Use : std::uint8_t {
    passed_over,  // nothing was kept of the event, and not all of it need have been looked at
    kept,         // all of it was looked at, and something of it kept
    malformed,    // nothing was kept, because simdjson met an error in it
  };
  virtual ~TraceReader() = default;
  /// One event. What is read of it is valid until the return.
  virtual Use event(simdjson::ondemand::object& event) = 0;
  /// A member of the object around the events, as JSON text; unless it is cut off, or larger than
  /// 16 MiB.
  virtual void member(std::string_view key, std::string_view json) = 0;
};

struct WalkOptions {
  std::size_t batch_bytes = std::size_t{1} << 18;   // parsed at once
  std::size_t window_bytes = std::size_t{1} << 20;  // in memory
  std::size_t most_bytes = std::size_t{256} << 20;  // in memory for one event that is so large
};

/// Hands the events and members of `source` to `reader`, and says in `losses` and `remarks` of
/// `recording` what was damaged. Throws UserError when the file is no such trace at all.
void walk_trace(ByteSource& source,
                TraceReader& reader,
                Recording& recording,
                const WalkOptions& options = {});

// Numbers of traces, from their text without a detour through floating point.

/// `text` * 10^`shift`, to the nearest integer, halves away from zero. `text` is a decimal with or
/// without fraction and exponent, quotes and white space around it. Absent for anything else (NaN,
/// Infinity, words) and beyond +-2^61.
std::optional<std::int64_t> parse_decimal(std::string_view text, int shift);

/// An integer; absent as for parse_decimal.
inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_decimal(text, 0);
}

/// From `start` for `duration`, both in microseconds. Absent without a start; a duration that is
/// missing or negative is zero; each is counted in the losses of `recording`.
std::optional<TimeInterval> parse_span(std::string_view start,
                                       std::string_view duration,
                                       Recording& recording);

/// Identifiers go to 64 bits; writers that keep them in 32 print what overflowed as negative, and
/// all places alike, so that the low 32 bits still join them. Absent when it is no integer.
std::optional<std::uint64_t> parse_identifier(std::string_view text);

/// A list in one spelling, whatever white space and form of numbers its own has: "[1, [2, 3]]".
std::string list_text(std::string_view list);

/// The text without white space around it and then without its quotes.
std::string_view bare_token(std::string_view token);

// Keys and texts of events, read from simdjson without a copy where that can be.

/// Whether the key behind whose opening quote `raw` points is `key`, which must be shorter than
/// what simdjson may read beyond its text (64 bytes). Inlined: a key that the compiler knows is
/// compared without a call.
[[gnu::always_inline]] inline bool is_key(const char* raw, std::string_view key) {
  return *raw == key.front() && std::memcmp(raw, key.data(), key.size()) == 0 &&
         raw[key.size()] == '"';
}

/// A string without quotes and escapes; other values as their JSON text. Must be asked once for
/// each string only: simdjson has room for one copy of it.
inline simdjson::error_code read_text(simdjson::ondemand::value& value, std::string_view& text) {
  const std::string_view token = value.raw_json_token();
  if (token.find('\\') != std::string_view::npos && token.front() == '"')
    return value.get_string().get(text);
  text = bare_token(token);
  return simdjson::SUCCESS;
}

/// Calls `use(key, value)` with each member of `object`; `key` as is_key wants it. Ends at the
/// first error, its own or simdjson's.
template <class Use>
simdjson::error_code each_member(simdjson::ondemand::object& object, Use use) {
  for (auto each : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(each).get(field)) return error;
    if (const auto error = use(field.key().raw(), field.value())) return error;
  }
  return simdjson::SUCCESS;
}
/// Null or a value of another kind has no members.
template <class Use>
simdjson::error_code each_member(simdjson::ondemand::value& value, Use use) {
  simdjson::ondemand::object object;
  if (value.raw_json_token().front() != '{') return simdjson::SUCCESS;
  if (const auto error = value.get_object().get(object)) return error;
  return each_member(object, use);
}

// Where things begin and end in JSON text that may be cut off or damaged. Nothing here checks
// what it passes over.

inline constexpr std::size_t not_found = std::string_view::npos;

/// The first position from `from` on that holds no white space; text.size() when there is none.
std::size_t skip_space(std::string_view text, std::size_t from);

/// Behind the JSON value that begins at `start`; not_found when it does not end within `text`. A
/// number or word at the very end of `text` does not end within it.
std::size_t value_end(std::string_view text, std::size_t start);

/// Behind the last `}` in front of `limit` that is followed by a comma and a `{`: between two
/// events, unless it is inside of one. not_found when there is none.
std::size_t last_event_end(std::string_view text, std::size_t limit);

/// The `{` of what looks like the next event after another one, from `from` on: it follows `}` and
/// a comma and begins with a key that events have. not_found when there is none.
std::size_t next_event(std::string_view text, std::size_t from);

/// The `]` that seems to end the array of events from `from` on: it follows `}` and something that
/// is no element follows it. not_found when there is none.
std::size_t events_end(std::string_view text, std::size_t from);
}  // namespace scaleworth::trace
