// SPDX-License-Identifier: Apache-2.0
/// The published tables that the formulas are tested against.
#pragma once

#include "src/core/files/csv.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace scaleworth::tests {
inline const std::filesystem::path public_data =
    std::filesystem::path(SCALEWORTH_SOURCE_DIR) / ".." / "shared" / "data";

using PublicRow = std::map<std::string, std::string>;  // cells by column

/// The rows of a table of published models; none, with the reason on the output (ctest then shows
/// the case as skipped), without the table.
inline std::vector<PublicRow> public_rows(const std::string& name) {
  const auto path = public_data / "models" / name;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.empty()) std::cout << "skipped: no public table at " << path << "\n";
  // One table's header begins with a byte-order mark and "# ", which is no comment.
  if (text.starts_with("\xef\xbb\xbf# ")) text.erase(0, 5);
  CsvReader reader(text, name);
  const auto header = reader.next();
  std::vector<PublicRow> rows;
  while (const auto cells = header ? reader.next() : std::nullopt) {
    PublicRow row;
    for (std::size_t at = 0; at < cells->size() && at < header->size(); ++at) {
      row[(*header)[at]] = (*cells)[at];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}
}  // namespace scaleworth::tests
