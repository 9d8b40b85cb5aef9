// SPDX-License-Identifier: Apache-2.0
/// What the documents of all commands have in common: a title, and nothing empty.
#pragma once

#include "report/document.h"

#include <string>

namespace scaleworth::report {

/// "scaleworth 0.1.0: how many to buy?"; without a version only the name.
std::string document_title(const std::string& tool_version, const std::string& question);

/// Leaves out the tables that have no rows.
void drop_empty_tables(Section& section);

/// A paragraph, a list or a table.
bool has_content(const Section& section);

}  // namespace scaleworth::report
