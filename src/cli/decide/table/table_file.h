// SPDX-License-Identifier: Apache-2.0
/// Scaling tables as people write them: CSV with units in the header, TOML with [[row]] tables, or
/// JSON.
#pragma once

#include "src/cli/decide/table/raw_table.h"
#include "src/model/decide/table/metrics.h"
#include "src/model/decide/table/scaling_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {

/// What of a file is the table.
struct TableSelection {
  std::vector<std::string> where;   // "params=16B": only rows with this cell
  std::vector<std::string> rename;  // "load=p": a column under another header
};

struct TableFile {
  decide::ScalingTable table;
  std::vector<std::string> ignored;  // columns that mean nothing here
};

/// Throws UserError with file, row and column for a header without count or without a time, parts
/// or a throughput, a cell that is no finite number, a column that stands twice, two columns of one
/// meaning, a selection that no column or no row answers, a count that stands twice (with the
/// column that tells the rows apart), and what `decide::assemble` refuses.
TableFile interpret_table(RawTable raw, const TableSelection& selection = {});

TableFile parse_csv_table(std::string_view text, const std::string& file);
TableFile parse_toml_table(std::string_view text, const std::string& file);
TableFile parse_json_table(std::string_view text, const std::string& file);

/// By the file's name: .toml, .json, else CSV; a folder or a run.json is one of our own runs. With
/// `scaling` declared the table is of that, and a run's steps are those. Throws UserError for a
/// file that cannot be read or exceeds 16 MiB (TOML: 4 MiB, a run: 1 GiB).
TableFile read_table(const std::string& path,
                     const TableSelection& selection = {},
                     std::optional<decide::Scaling> scaling = {});

}  // namespace scaleworth::cli
