// SPDX-License-Identifier: Apache-2.0
/// Keys and texts of events, read from simdjson without a copy where that can be.
#pragma once

#include "trace/format/json/number.h"

#include <cstring>
#include <string_view>

#include <simdjson.h>

namespace scaleworth::trace {

/// Whether the key behind whose opening quote `raw` points is `key`, which must be shorter than
/// what simdjson may read beyond its text (64 bytes).
inline bool is_key(const char* raw, std::string_view key) {
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

}  // namespace scaleworth::trace
