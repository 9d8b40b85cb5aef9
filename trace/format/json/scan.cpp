// SPDX-License-Identifier: Apache-2.0
#include "trace/format/json/scan.h"

#include <algorithm>
#include <array>

namespace scaleworth::trace {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
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
  limit = std::min(limit, text.size());
  for (auto at = limit; at > 0;) {
    at = text.rfind('}', at - 1);
    if (at == not_found) return not_found;
    const auto comma = skip_space(text, at + 1);
    if (comma < text.size() && text[comma] == ',') {
      const auto next = skip_space(text, comma + 1);
      if (next < text.size() && text[next] == '{') return at + 1;
    }
  }
  return not_found;
}

bool is_event_key(std::string_view text, std::size_t quote) {
  constexpr std::array<std::string_view, 10> keys = {"\"ph\"",
                                                     "\"name\"",
                                                     "\"cat\"",
                                                     "\"pid\"",
                                                     "\"tid\"",
                                                     "\"ts\"",
                                                     "\"dur\"",
                                                     "\"id\"",
                                                     "\"s\"",
                                                     "\"args\""};
  const auto rest = text.substr(std::min(quote, text.size()));
  for (const auto key : keys) {
    if (!rest.starts_with(key)) continue;
    const auto colon = skip_space(rest, key.size());
    return colon < rest.size() && rest[colon] == ':';
  }
  return false;
}

std::size_t next_event(std::string_view text, std::size_t from) {
  for (auto at = text.find('}', from); at != not_found; at = text.find('}', at + 1)) {
    const auto comma = skip_space(text, at + 1);
    if (comma >= text.size() || text[comma] != ',') continue;
    const auto brace = skip_space(text, comma + 1);
    if (brace >= text.size() || text[brace] != '{') continue;
    if (is_event_key(text, skip_space(text, brace + 1))) return brace;
  }
  return not_found;
}

std::size_t events_end(std::string_view text, std::size_t from) {
  for (auto at = text.find('}', from); at != not_found; at = text.find('}', at + 1)) {
    const auto bracket = skip_space(text, at + 1);
    if (bracket >= text.size() || text[bracket] != ']') continue;
    const auto next = skip_space(text, bracket + 1);
    if (next == text.size() || text[next] == '}') return bracket;
    const auto key = skip_space(text, next + 1);
    if (text[next] == ',' && key < text.size() && text[key] == '"' && !is_event_key(text, key))
      return bracket;
  }
  return not_found;
}

}  // namespace scaleworth::trace
