// SPDX-License-Identifier: Apache-2.0
/// Carbon intensity of public electricity by country (data/grid.toml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

struct GridRegion {
  std::string id;              // "USA": ISO 3166-1 alpha-3, or "WORLD"
  std::string name;            // "United States"
  double grams_per_kwh = 0.0;  // CO2 equivalent, yearly average
  int year = 0;                // of the average
  std::string source;
  std::string date;  // when the row was checked, ISO 8601
};

/// Parses the text of a grid.toml. Throws UserError naming `file`, line and remedy.
std::vector<GridRegion> parse_grid_catalogue(std::string_view text, const std::string& file);

/// The catalogue compiled into the program from data/grid.toml.
const std::vector<GridRegion>& grid_catalogue();

/// By id in any case. Throws UserError naming the regions that are known.
const GridRegion& find_region(const std::vector<GridRegion>& catalogue, std::string_view id);

}  // namespace scaleworth
