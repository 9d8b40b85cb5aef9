// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"

namespace scaleworth::report {

std::string document_title(const std::string& tool_version, const std::string& question) {
  return "scaleworth" + (tool_version.empty() ? "" : " " + tool_version) + ": " + question;
}

void drop_empty_tables(Section& section) {
  std::erase_if(section.tables, [](const Table& table) { return table.rows.empty(); });
}

bool has_content(const Section& section) {
  return !section.lead.empty() || !section.list.empty() || !section.tables.empty();
}

}  // namespace scaleworth::report
