// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_events.h"

#include <array>
#include <limits>

namespace scaleworth::trace {
namespace {
bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Behind `c`, if that is what follows white space from `from` on; else not_found.
std::size_t behind(std::string_view text, std::size_t from, char c) {
  const auto at = skip_space(text, from);
  return at < text.size() && text[at] == c ? at + 1 : not_found;
}

/// Behind the closing quote of the string whose opening quote is at `quote`.
std::size_t string_end(std::string_view text, std::size_t quote) {
  for (auto at = text.find_first_of("\"\\", quote + 1); at < text.size();
       at = text.find_first_of("\"\\", at + 2)) {
    if (text[at] == '"') return at + 1;
  }
  return not_found;
}

std::size_t nested_end(std::string_view text, std::size_t start) {
  std::size_t depth = 0;
  for (auto at = start; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const auto end = string_end(text, at);
      if (end == not_found) return not_found;
      at = end - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return at + 1;
    }
  }
  return not_found;
}

struct Decimal {
  std::uint64_t digits = 0;  // the significant ones, without the point
  int exponent = 0;          // value = digits * 10^exponent
  bool negative = false;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Digits with at most one point; those beyond 64 bits only count. Returns what follows; nullptr
/// when there is no digit at all.
const char* read_digits(const char* at, const char* end, Decimal& decimal) {
  constexpr auto most = (std::numeric_limits<std::uint64_t>::max() - 9) / 10;
  bool any = false;
  bool fraction = false;
  for (; at < end && (is_digit(*at) || (*at == '.' && !fraction)); ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    any = true;
    const bool fits = decimal.digits <= most;
    if (fits) decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    decimal.exponent += (fits ? 0 : 1) - (fraction ? 1 : 0);
  }
  return any ? at : nullptr;
}

/// The exponent behind an e; nullptr when it is none. Large ones stay large.
const char* read_exponent(const char* at, const char* end, Decimal& decimal) {
  constexpr int beyond_all = 10000;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  if (at == end) return nullptr;
  int exponent = 0;
  for (; at < end && is_digit(*at); ++at)
    exponent = std::min(exponent * 10 + (*at - '0'), beyond_all);
  decimal.exponent += negative ? -exponent : exponent;
  return at;
}

std::optional<Decimal> read_decimal(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  Decimal decimal;
  decimal.negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  at = read_digits(at, end, decimal);
  if (at != nullptr && at < end && (*at == 'e' || *at == 'E'))
    at = read_exponent(at + 1, end, decimal);
  if (at == nullptr || at != end) return std::nullopt;
  return decimal;
}

/// Whether `text` begins, at the quote at `quote`, with a key that events have and its colon.
bool is_event_key(std::string_view text, std::size_t quote) {
  constexpr std::array<std::string_view, 10> keys = {
      "ph", "name", "cat", "pid", "tid", "ts", "dur", "id", "s", "args"};
  const auto rest = text.substr(std::min(quote, text.size()));
  if (!rest.starts_with('"')) return false;
  constexpr std::size_t longest = 4;
  const auto key = rest.substr(1, rest.substr(0, longest + 2).find('"', 1) - 1);
  if (std::ranges::find(keys, key) == keys.end()) return false;
  return behind(rest, key.size() + 2, ':') != not_found;
}
}  // namespace

std::size_t skip_space(std::string_view text, std::size_t from) {
  while (from < text.size() && is_space(text[from])) ++from;
  return from;
}

std::size_t value_end(std::string_view text, std::size_t start) {
  if (start >= text.size()) return not_found;
  if (text[start] == '"') return string_end(text, start);
  if (text[start] == '{' || text[start] == '[') return nested_end(text, start);
  return text.find_first_of(",]} \n\r\t", start + 1);
}

std::size_t last_event_end(std::string_view text, std::size_t limit) {
  for (auto at = std::min(limit, text.size()); at > 0;) {
    at = text.rfind('}', at - 1);
    if (at == not_found) return not_found;
    if (behind(text, behind(text, at + 1, ','), '{') != not_found) return at + 1;
  }
  return not_found;
}

std::size_t next_event(std::string_view text, std::size_t from) {
  for (auto at = text.find('}', from); at != not_found; at = text.find('}', at + 1)) {
    const auto brace = behind(text, behind(text, at + 1, ','), '{');
    if (brace != not_found && is_event_key(text, skip_space(text, brace))) return brace - 1;
  }
  return not_found;
}

std::size_t events_end(std::string_view text, std::size_t from) {
  for (auto at = text.find('}', from); at != not_found; at = text.find('}', at + 1)) {
    const auto bracket = behind(text, at + 1, ']');
    if (bracket == not_found) continue;
    const auto next = skip_space(text, bracket);
    if (next == text.size() || text[next] == '}') return bracket - 1;
    const auto key = behind(text, behind(text, next, ','), '"');
    if (key != not_found && !is_event_key(text, key - 1)) return bracket - 1;
  }
  return not_found;
}

std::string_view bare_token(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  while (!token.empty() && static_cast<unsigned char>(token.front()) <= ' ') token.remove_prefix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

std::optional<std::int64_t> parse_decimal(std::string_view text, int shift) {
  const auto decimal = read_decimal(bare_token(text));
  if (!decimal) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(farthest_time.count());
  auto value = decimal->digits;
  int exponent = decimal->exponent + shift;
  if (value == 0) exponent = 0;
  for (; exponent > 0; --exponent) {
    if (value > most / 10) return std::nullopt;
    value *= 10;
  }
  unsigned dropped = 0;  // the last digit that went away: rounds
  for (; exponent < 0 && (value > 0 || dropped > 0); ++exponent) {
    dropped = static_cast<unsigned>(value % 10);
    value /= 10;
  }
  if (dropped >= 5) ++value;
  if (value > most) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(value);
  return decimal->negative ? -magnitude : magnitude;
}

std::optional<TimeInterval> parse_span(std::string_view start,
                                       std::string_view duration,
                                       Recording& recording) {
  constexpr int nanoseconds_of_microseconds = 3;  // decimal places
  const auto begin = parse_decimal(start, nanoseconds_of_microseconds);
  if (!begin) {
    ++recording.losses["events_without_time"];
    return std::nullopt;
  }
  const auto length = parse_decimal(duration, nanoseconds_of_microseconds);
  if (!length) ++recording.losses["events_without_duration"];
  if (length && *length < 0) ++recording.losses["events_ending_before_their_start"];
  const std::int64_t known = std::max(length.value_or(0), std::int64_t{0});
  return TimeInterval{nanoseconds(*begin), nanoseconds(*begin + known)};
}

std::optional<std::uint64_t> parse_identifier(std::string_view text) {
  auto decimal = read_decimal(bare_token(text));
  if (!decimal) return std::nullopt;
  for (; decimal->exponent < 0 && decimal->digits % 10 == 0 && decimal->digits > 0;
       ++decimal->exponent)
    decimal->digits /= 10;
  for (; decimal->exponent > 0 && decimal->digits > 0; --decimal->exponent)
    if (__builtin_mul_overflow(decimal->digits, 10, &decimal->digits)) return std::nullopt;
  if (decimal->exponent != 0 && decimal->digits > 0) return std::nullopt;
  if (!decimal->negative) return decimal->digits;
  return static_cast<std::uint32_t>(std::uint64_t{0} - decimal->digits);
}

std::string list_text(std::string_view list) {
  std::string text;
  for (std::size_t at = skip_space(list, 0); at < list.size(); at = skip_space(list, at)) {
    const char c = list[at];
    std::size_t end = at + 1;
    if (c == '[' && text.ends_with(']')) text += ' ';  // between two lists
    if (c != '[' && c != ']' && c != ',') end = std::min(value_end(list, at), list.size());
    const std::string_view token = list.substr(at, end - at);
    const auto number = is_digit(c) ? parse_identifier(token) : std::nullopt;
    text += number ? std::to_string(*number) : std::string(token);
    if (c == ',') text += ' ';
    at = end;
  }
  return text;
}
}  // namespace scaleworth::trace
