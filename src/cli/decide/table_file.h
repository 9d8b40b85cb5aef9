// SPDX-License-Identifier: Apache-2.0
/// Scaling tables as people write them: CSV with units in the header, or TOML with [[row]] tables.
#pragma once

#include "src/model/decide/table/scaling_table.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {

struct TableFile {
  decide::ScalingTable table;
  std::vector<std::string> ignored;  // columns that mean nothing here
};

inline constexpr std::size_t most_table_rows = 100000;

/// Throws UserError with file, line and column for what is no table, a header without count or
/// without time and parts, a cell that is no finite number, a column that stands twice, two columns
/// of one meaning, more than `most_table_rows` rows, and what `decide::assemble` refuses.
TableFile parse_csv_table(std::string_view text, const std::string& file);
TableFile parse_toml_table(std::string_view text, const std::string& file);

/// By the file's name: .toml, else CSV. Throws UserError for a file that cannot be read or exceeds
/// 16 MiB (TOML: 4 MiB).
TableFile read_table(const std::string& path);

}  // namespace scaleworth::cli
