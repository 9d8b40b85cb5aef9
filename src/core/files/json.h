// SPDX-License-Identifier: Apache-2.0
/// JSON from a file that may be truncated, hostile or enormous, parsed within bounds; included by
/// .cpp files only, for it speaks nlohmann_json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace scaleworth {
struct JsonLimits {
  std::size_t nesting = 16;
  /// Estimated size of the parsed document, checked while it grows.
  std::size_t memory_bytes = std::size_t{2} << 30;
};

/// The document in `text`. Throws UserError, one line with `where` (a file name), line, byte and
/// remedy, for anything but one complete JSON document of finite numbers within `limits`.
nlohmann::json parse_bounded_json(std::string_view text,
                                  const std::string& where,
                                  const JsonLimits& limits = {});
}  // namespace scaleworth
