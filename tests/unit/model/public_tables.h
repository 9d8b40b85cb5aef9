// SPDX-License-Identifier: Apache-2.0
/// The published tables that the formulas are tested against.
#pragma once

#include "src/core/files/csv.h"
#include "tests/skip.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace scaleworth::tests {
inline const std::filesystem::path public_data =
    std::filesystem::path(SCALEWORTH_SOURCE_DIR) / ".." / "shared" / "data";

using PublicRow = std::map<std::string, std::string>;  // cells by column

/// The rows of a table of published models; none, with the reason on the output (ctest then shows
/// the program as skipped), without the table.
inline std::vector<PublicRow> public_rows(const std::string& name) {
  const auto path = public_data / "models" / name;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.empty()) skip("no public table at " + path.string());
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
/// A row of nccl-tests.
struct NcclRow {
  double bytes, time_us, algbw, busbw, in_place_us;
};

/// Rows of positive size of a table of floats. The columns after the optional root: time algbw
/// busbw check, twice.
inline std::vector<NcclRow> nccl_rows(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<NcclRow> rows;
  for (std::string line; std::getline(in, line);) {
    // A launcher's prefix ends with a colon right after a digit or '>'.
    const std::size_t colon = line.find(": ");
    std::istringstream words(colon == std::string::npos ? line : line.substr(colon + 1));
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    // All tables are of floats; rows of size 0 carry no information.
    if (fields.size() < 11 || fields[2] != "float" || fields[0] == "0") continue;
    const auto from_end = [&](std::size_t i) { return std::stod(fields[fields.size() - i]); };
    rows.push_back({std::stod(fields[0]), from_end(8), from_end(7), from_end(6), from_end(4)});
  }
  return rows;
}
}  // namespace scaleworth::tests
