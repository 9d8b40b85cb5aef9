// SPDX-License-Identifier: Apache-2.0
/// The rows and columns of a raw table that a decision is to be made on.
#pragma once

#include "src/cli/decide/table/columns.h"
#include "src/cli/decide/table/table_file.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// The table with columns renamed and only the rows wanted. Throws UserError naming the columns, or
/// the values of the column, that there are instead.
RawTable select(RawTable table, const TableSelection& selection);

struct ChosenColumns {
  std::vector<std::optional<TableColumn>> columns;  // one per column of the table
  std::vector<std::string> ignored;                 // fit for a message
};

/// What each column means, one column per meaning. Throws UserError for a header as in
/// `interpret_table`.
ChosenColumns choose_columns(const RawTable& table);

/// "params_B differs between rows (1.7, 3.6 ...)" of the first column that says which program or
/// machine a row is of; empty where all rows are of one.
std::string identity_remark(const RawTable& table, const ChosenColumns& chosen);

/// Throws UserError for the first count that stands twice without a repeat, with the first column
/// whose cells differ.
void refuse_twice(const RawTable& table, const ChosenColumns& chosen);

}  // namespace scaleworth::cli
