// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/grid_catalogue.h"

#include "src/core/catalogue/embedded.h"
#include "src/core/catalogue/rows.h"
#include "src/core/error.h"
#include "src/core/toml/node.h"
#include "src/core/toml/table.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace scaleworth {
namespace {

using toml_file::Table;

GridRegion region(Table& table, std::set<std::string>& taken) {
  GridRegion result;
  result.id = unique_id(table, taken);
  result.name = table.text("name");
  result.grams_per_kwh = table.positive("g_per_kwh");
  const std::int64_t year = table.positive_integer("year");
  if (year < 1900 || year > 9999) table.refuse("the year has four digits: 2023", "year");
  result.year = static_cast<int>(year);
  result.source = table.text("source");
  result.date = iso_date(table);
  table.finish();
  return result;
}

bool same(std::string_view a, std::string_view b) {
  const auto upper = [](char c) { return std::toupper(static_cast<unsigned char>(c)); };
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return upper(x) == upper(y); });
}

}  // namespace

std::vector<GridRegion> parse_grid_catalogue(std::string_view text, const std::string& file) {
  Table root = Table::parse(text, file);
  std::vector<GridRegion> catalogue;
  std::set<std::string> taken;
  for (Table& entry : root.tables("region")) catalogue.push_back(region(entry, taken));
  root.finish();
  if (catalogue.empty()) root.refuse("no region in the file: write each as [[region]]");
  return catalogue;
}

const std::vector<GridRegion>& grid_catalogue() {
  static const std::vector<GridRegion> catalogue =
      parse_grid_catalogue(embedded_grid_toml(), "data/grid.toml (built in)");
  return catalogue;
}

const GridRegion& find_region(const std::vector<GridRegion>& catalogue, std::string_view id) {
  const auto found = std::find_if(
      catalogue.begin(), catalogue.end(), [&](const GridRegion& at) { return same(at.id, id); });
  if (found != catalogue.end()) return *found;
  std::string known;
  for (const GridRegion& at : catalogue) known += (known.empty() ? "" : ", ") + at.id;
  throw UserError(
      fmt::format("no region '{}' in the catalogue; known: {}. Give another's carbon "
                  "intensity by --g-per-kwh",
                  toml_file::printable(id),
                  known));
}

}  // namespace scaleworth
