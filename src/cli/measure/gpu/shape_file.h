// SPDX-License-Identifier: Apache-2.0
/// The user's own matrix products: a CSV with the header name,m,n,k and optionally batch, format.
#pragma once

#include "probes/gpu/number_format.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {

struct NamedShape {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::optional<probes::NumberFormat> format;  // absent: as --number-format says
};

/// Columns in any order, unknown ones refused; blank lines and lines that start with # are skipped;
/// cells may stand in double quotes. At most 1000 shapes.
/// Throws UserError naming `file`, line and remedy: a missing or unknown column, a number that is
/// not a positive integer up to 2^31 - 1, an unknown format, no shape at all.
std::vector<NamedShape> parse_shape_file(std::string_view text, const std::string& file);

/// Throws UserError also for a file that cannot be read or is larger than 1 MiB.
std::vector<NamedShape> read_shape_file(const std::string& path);

}  // namespace scaleworth::cli
