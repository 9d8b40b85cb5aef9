// SPDX-License-Identifier: Apache-2.0
/// Tables as one tidy CSV: a line per number, with every parameter in a column of its own.
#pragma once

#include "report/document.h"

#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::report {

/// Names of the parameter columns.
using CsvNames = std::vector<std::string_view>;

std::string csv_header(const CsvNames& parameters);

/// All tables that belong into a CSV. Throws std::logic_error for a table with a parameter that
/// `parameters` lacks.
std::string csv_lines(const Document& document, const CsvNames& parameters);

/// In quotation marks where the text needs them.
std::string csv_quoted(const std::string& text);

}  // namespace scaleworth::report
