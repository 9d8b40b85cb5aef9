// SPDX-License-Identifier: Apache-2.0
/// The shape of a matrix product at which a GPU is fastest, without trying them all.
#pragma once

#include "src/core/units.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  friend auto operator<=>(const ProductShape&, const ProductShape&) = default;
};

/// Tiles of 128 x 256 of an output: the grid that a product is cut into.
struct TileGrid {
  std::int64_t rows = 0, columns = 0;
  friend auto operator<=>(const TileGrid&, const TileGrid&) = default;
};

/// Grids that fill `waves` waves over the multiprocessors exactly, m/n from 1/4 to 4; and the
/// squarest one that fills at least 96 % of the last wave. Ordered from flat to tall. Empty when
/// there is none.
std::vector<TileGrid> full_grids(int multiprocessors, int waves);

struct ShapeLimits {
  int multiprocessors = 1;
  std::size_t trials = 100;
  std::function<bool()> out_of_time;              // asked before each trial
  std::function<bool(const ProductShape&)> fits;  // in memory
};

struct ShapeFound {
  std::optional<ProductShape> best;  // absent when no trial gave a rate
  FlopPerSecond rate;
  std::size_t trials = 0;
  std::string stop_reason;
};

/// Starts from the squarest full grids of 1, 2 and 4 waves at k = 8192, then coordinate descent
/// over k (4096 to 16384), the number of waves (1 to 8), and the grid that fills them, until three
/// moves in a row gain less than 0.5 %, or a limit is reached. `measure` tells the rate of a shape,
/// nothing where it cannot be had; no shape is tried twice.
ShapeFound search_shape(
    const ShapeLimits& limits,
    const std::function<std::optional<FlopPerSecond>(const ProductShape&)>& measure);

}  // namespace scaleworth::probes
