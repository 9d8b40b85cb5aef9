// SPDX-License-Identifier: Apache-2.0
/// Wave quantisation: tiles of a product that fill the multiprocessors only in part.
#pragma once

#include "src/model/gpu/gpu_analysis.h"

#include <string>

namespace scaleworth::model {

struct Tile {
  std::int64_t m = 128;
  std::int64_t n = 256;
  bool known = false;  // false: the usual size, assumed
};

/// From the library's words on an algorithm ("..., tile 128x256, ..."); else 128 x 256, assumed.
Tile tile_of(const std::string& algorithm);

/// (tiles / multiprocessors) / ceil(tiles / multiprocessors), in (0, 1], with
/// tiles = ceil(m / tile m) ceil(n / tile n) batch: what can be reached when every multiprocessor
/// works on one tile at a time and all tiles take equally long. Kernels that split the last wave
/// can do better.
/// Throws UserError for a side, tile or multiprocessor count that is not positive.
double wave_efficiency(const GemmShape& shape, const Tile& tile, int multiprocessors);

}  // namespace scaleworth::model
