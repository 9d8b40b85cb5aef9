// SPDX-License-Identifier: Apache-2.0
/// Breaking text into lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::report {

/// Columns that UTF-8 text takes, one per code point.
std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns, broken at spaces outside brackets ("[22.8, 23.9]" stays
/// whole) and never before a per cent sign. A longer word keeps a line of its own. One empty line for empty text.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Columns of the widest piece that `wrap` never breaks.
std::size_t widest_word(std::string_view text);

}  // namespace scaleworth::report
