// SPDX-License-Identifier: Apache-2.0
/// The exceptions of the tool; each says what the person at the keyboard can do about it.
#pragma once

#include "src/core/lists.h"

#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth {
/// An error whose message may be a format of fmt with its values.
struct Message : std::runtime_error {
  using std::runtime_error::runtime_error;
  template <class First, class... Rest>
  Message(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : Message(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// Wrong usage or unreadable input: exit code 2. The message is one line and ends with the remedy.
struct UserError : Message {
  using Message::Message;
};

/// Throws UserError with the message unless the condition holds.
inline void require(bool holds, const char* message) {
  if (!holds) throw UserError(message);
}

/// Nothing on this machine can be measured: exit code 3.
struct NothingMeasurable : Message {
  using Message::Message;
};

/// A probe met a broken world (out of memory, lost rank, wrong numerical result): the probe is
/// recorded as failed with this reason and the run goes on.
struct ProbeFailure : Message {
  using Message::Message;
};

/// There is not so much memory; names what was wanted and what is free. A smaller size may do.
struct OutOfMemory : ProbeFailure {
  using ProbeFailure::ProbeFailure;
};

/// A GPU answers no more, and whatever else is asked of it fails at once. Another GPU may do.
struct GpuLost : ProbeFailure {
  using ProbeFailure::ProbeFailure;
};

/// Other ranks were waited for in vain. Where one of them failed itself, that is why.
struct RanksMissing : ProbeFailure {
  using ProbeFailure::ProbeFailure;
};

/// An operation ended and its numbers are wrong: whatever else is asked may still be right.
struct WrongResult : ProbeFailure {
  using ProbeFailure::ProbeFailure;
};

/// Text of a stranger as a terminal or a page may show it: line ends and tabs are blanks; bytes
/// that are no UTF-8, control characters and marks that turn the direction of text are U+FFFD.
std::string printable(std::string_view text);

/// "1 worker", "2 workers".
std::string counted(std::size_t count, std::string_view what);

// What a person who mistyped a name may have meant.

/// "; did you mean gpt3-175b?", nearest by letters first: names with `wanted` within, and those
/// that begin as it does but for a third of its letters; empty where none does.
std::string suggestion(std::string_view wanted, const std::vector<std::string>& known);
}  // namespace scaleworth
