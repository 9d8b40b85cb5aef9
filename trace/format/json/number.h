// SPDX-License-Identifier: Apache-2.0
/// Numbers of traces, from their text without a detour through floating point.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace scaleworth::trace {

/// Times beyond this on either side of zero are refused, so that differences never overflow.
inline constexpr std::int64_t farthest_nanosecond = std::int64_t{1} << 61;

/// `text` * 10^`shift`, to the nearest integer, halves away from zero. `text` is a decimal with or
/// without fraction and exponent, quotes and white space around it. Absent for anything else (NaN,
/// Infinity, words) and beyond +-2^61.
std::optional<std::int64_t> parse_decimal(std::string_view text, int shift);

/// Microseconds as text in nanoseconds.
inline std::optional<std::chrono::nanoseconds> parse_microseconds(std::string_view text) {
  const auto value = parse_decimal(text, 3);
  if (!value) return std::nullopt;
  return std::chrono::nanoseconds(*value);
}

/// An integer; absent as for parse_decimal.
inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_decimal(text, 0);
}

/// Identifiers go to 64 bits; writers that keep them in 32 print what overflowed as negative, and
/// all places alike, so that the low 32 bits still join them. Absent when it is no integer.
std::optional<std::uint64_t> parse_identifier(std::string_view text);

/// The text without white space around it and then without its quotes.
std::string_view bare_token(std::string_view token);

}  // namespace scaleworth::trace
