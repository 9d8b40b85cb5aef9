// SPDX-License-Identifier: Apache-2.0
/// JSON from a file that may be truncated, hostile or enormous, parsed within bounds; included by
/// .cpp files only, for it speaks nlohmann_json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace scaleworth {
/// The document in `text`. Throws UserError, one line with `where` (a file name), line, byte and
/// remedy, for anything but one complete JSON document of finite numbers, nested at most 16 times,
/// whose estimated size, checked while it grows, is at most `memory_bytes`.
nlohmann::json parse_bounded_json(std::string_view text,
                                  const std::string& where,
                                  std::size_t memory_bytes = std::size_t{2} << 30);
}  // namespace scaleworth
