// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/grid_catalogue.h"

#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;

TEST_CASE("grids have their published carbon intensity, by id in any case", "[catalogue]") {
  const auto grams = [](const char* id) { return find_region(grid_catalogue(), id).grams_per_kwh; };
  CHECK_THAT(grams("USA"), WithinAbs(369.5, 0.05));
  CHECK_THAT(grams("fra"), WithinAbs(56.0, 0.05));
  CHECK_THAT(grams("DEU"), WithinAbs(381.0, 0.5));
  CHECK_THAT(grams("CHN"), WithinAbs(582.0, 0.5));
  CHECK_THAT(grams("IND"), WithinAbs(713.0, 0.5));
  CHECK_THAT(grams("SWE"), WithinAbs(40.7, 0.05));
  CHECK(grams("world") == 475.0);
}

TEST_CASE("every grid has a plausible intensity, a year and a source", "[catalogue]") {
  for (const GridRegion& region : grid_catalogue()) {
    INFO(region.id);
    CHECK(region.grams_per_kwh > 10.0);
    CHECK(region.grams_per_kwh < 1000.0);
    CHECK(region.year >= 2018);
    CHECK_FALSE(region.source.empty());
  }
}

TEST_CASE("an unknown grid is refused with those that are known", "[catalogue]") {
  CHECK_THROWS_AS(find_region(grid_catalogue(), "ATLANTIS"), UserError);
  CHECK_THROWS_AS(parse_grid_catalogue("", "grid.toml"), UserError);
  CHECK_THROWS_AS(parse_grid_catalogue("[[region]]\nid = \"A\"\n", "grid.toml"), UserError);
}
