// SPDX-License-Identifier: Apache-2.0
/// Strings inside of a frame: each with its length before it.
#pragma once

#include "trace/format/recording/bytes/varint.h"

#include <optional>
#include <string>
#include <string_view>

namespace scaleworth::trace::recording {

inline void put_number(std::uint64_t value, std::string& out) {
  char digits[longest_varint];
  out.append(digits, put_varint(digits, value));
}

inline void put_text(std::string_view text, std::string& out) {
  put_number(text.size(), out);
  out.append(text);
}

/// From the front of `bytes`; absent when they end inside of it.
inline std::optional<std::string_view> take_text(std::string_view& bytes) {
  const auto length = take_varint(bytes);
  if (!length || *length > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *length);
  bytes.remove_prefix(*length);
  return text;
}

}  // namespace scaleworth::trace::recording
