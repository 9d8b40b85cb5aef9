// SPDX-License-Identifier: Apache-2.0
/// Rows of comma-separated values.
#pragma once

#include <string>
#include <vector>

namespace scaleworth {

/// One line with its newline; cells that hold a comma, a quote or a line break are quoted
/// (RFC 4180, with "\n" for the line end).
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace scaleworth
