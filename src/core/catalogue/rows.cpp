// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/rows.h"

namespace scaleworth {

std::string iso_date(toml_file::Table& row) {
  const std::string date = row.text("date");
  bool right = date.size() == 10;
  for (std::size_t i = 0; right && i < date.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    right = dash ? date[i] == '-' : date[i] >= '0' && date[i] <= '9';
  }
  if (!right) row.refuse("'date' must be written as \"2026-01-31\"", "date");
  return date;
}

std::string unique_id(toml_file::Table& row, std::set<std::string>& taken) {
  const std::string id = row.text("id");
  if (!taken.insert(id).second) {
    row.refuse("this id occurs twice: give each row an id of its own", "id");
  }
  return id;
}

}  // namespace scaleworth
