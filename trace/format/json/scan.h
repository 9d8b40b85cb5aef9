// SPDX-License-Identifier: Apache-2.0
/// Where things begin and end in JSON text that may be cut off or damaged. Nothing here checks
/// what it passes over.
#pragma once

#include <cstddef>
#include <string_view>

namespace scaleworth::trace {

inline constexpr std::size_t not_found = std::string_view::npos;

/// The first position from `from` on that holds no white space; text.size() when there is none.
std::size_t skip_space(std::string_view text, std::size_t from);

/// Behind the JSON value that begins at `start`; not_found when it does not end within `text`. A
/// number or word at the very end of `text` does not end within it.
std::size_t value_end(std::string_view text, std::size_t start);

/// Behind the last `}` in front of `limit` that is followed by a comma and a `{`: between two
/// events, unless it is inside of one. not_found when there is none.
std::size_t last_event_end(std::string_view text, std::size_t limit);

/// Whether `text` begins, at the quote at `quote`, with a key that events have and its colon.
bool is_event_key(std::string_view text, std::size_t quote);

/// The `{` of what looks like the next event after another one, from `from` on: it follows `}` and
/// a comma and begins with a key that events have. not_found when there is none.
std::size_t next_event(std::string_view text, std::size_t from);

/// The `]` that seems to end the array of events from `from` on: it follows `}` and something that
/// is no element follows it. not_found when there is none.
std::size_t events_end(std::string_view text, std::size_t from);

}  // namespace scaleworth::trace
