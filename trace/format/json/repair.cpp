// SPDX-License-Identifier: Apache-2.0
#include "trace/format/json/repair.h"

#include "trace/format/json/scan.h"

#include <algorithm>

namespace scaleworth::trace {

namespace {

/// Whether the quote at `quote` can close a string: a key's before a colon, a value's before the
/// end of what holds it or before another key or string.
bool closes(std::string_view text, std::size_t quote) {
  const auto next = skip_space(text, quote + 1);
  if (next >= text.size() || text[next] == ':' || text[next] == '}' || text[next] == ']')
    return true;
  if (text[next] != ',') return false;
  const auto follower = skip_space(text, next + 1);
  return follower < text.size() && text[follower] == '"';
}

/// The closing quote of the string that opens at `quote`. Between an escaped quote and the end of a
/// name that ends in a backslash a key of events decides.
std::size_t closing_quote(std::string_view text, std::size_t quote) {
  for (auto at = text.find('"', quote + 1); at != not_found; at = text.find('"', at + 1)) {
    if (!closes(text, at)) continue;
    if (text[at - 1] != '\\') return at;
    const auto key = skip_space(text, skip_space(text, at + 1) + 1);
    if (is_event_key(text, key)) return at;
  }
  return not_found;
}

/// Length of the well-formed UTF-8 sequence at `at`; 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned lead = byte(at);
  std::size_t length = 1;
  if (lead >= 0xc2 && lead < 0xe0) length = 2;
  if (lead >= 0xe0 && lead < 0xf0) length = 3;
  if (lead >= 0xf0 && lead < 0xf5) length = 4;
  if ((length == 1 && lead >= 0x80) || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
  if (length == 1) return 1;
  const unsigned second = byte(at + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool beyond = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : length;
}

bool is_escape(std::string_view content, std::size_t backslash) {
  if (backslash + 1 >= content.size()) return false;
  const char next = content[backslash + 1];
  if (next != 'u') return std::string_view("\"\\/bfnrt").find(next) != not_found;
  const auto digits = content.substr(backslash + 2, 4);
  return digits.size() == 4 && digits.find_first_not_of("0123456789abcdefABCDEF") == not_found;
}

void append_escaped(std::string& out, std::string_view content) {
  for (std::size_t at = 0; at < content.size();) {
    const char c = content[at];
    std::size_t length = utf8_length(content, at);
    if (c == '\\' && is_escape(content, at)) {
      length = 2;
    } else if (c == '"' || c == '\\') {
      out += '\\';
    }
    if (length == 0) {
      out += '?';
      length = 1;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += content.substr(at, length);
    }
    at += length;
  }
}

}  // namespace

std::string repair_event(std::string_view event) {
  std::string out;
  out.reserve(event.size() + 64);
  for (std::size_t at = 0; at < event.size(); ++at) {
    if (event[at] != '"') {
      out += event[at];
      continue;
    }
    const auto end = std::min(closing_quote(event, at), event.size());
    out += '"';
    append_escaped(out, event.substr(at + 1, end - at - 1));
    out += '"';
    at = end;
  }
  return out;
}

}  // namespace scaleworth::trace
