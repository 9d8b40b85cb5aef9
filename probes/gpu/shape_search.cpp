// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace scaleworth::probes {
namespace {
// A usual tile, presumed. Another makes the start worse, not the result: what a shape reaches is
// measured.
constexpr std::int64_t tile_rows = 128;
constexpr std::int64_t tile_columns = 256;
constexpr double nearly_full = 0.96;       // of the multiprocessors: a last wave that idles no more
constexpr double greatest_aspect = 4.0;    // longer ones read more for each product; presumed
constexpr std::int64_t smallest_k = 4096;  // shorter ones start and end too often; presumed
constexpr std::int64_t start_k = 8192;     // between the published ones
constexpr std::int64_t greatest_k = 32768;  // the largest of the published
constexpr std::int64_t step_k = 2048;       // whole k tiles of every format
/// Best shapes that others found. Source: stas00/ml-engineering, table of MAMF of mamf-finder: bf16
/// on H100 and H200, on A100; its version 4 on H200: fp8, sustained; bf16, burst, k still rising.
constexpr std::array published{ProductShape{2048, 2048, 13312},
                               ProductShape{1024, 10240, 5120},
                               ProductShape{1280, 4096, 12032},
                               ProductShape{2816, 1536, 32768}};
constexpr int greatest_waves = 8;  // one that idles costs an eighth at most
// The samples of a trial span 0.6 to 1.2 % (docs/measurements/h200), so that the medians of five
// differ by 0.2 to 0.4 % by chance. A smaller gain follows the noise, a larger one stops early.
constexpr double dull_gain = 0.005;
constexpr int dull_moves = 3;  // one for each coordinate

/// |log2(m / n)|: 0 for a square.
double elongation(const TileGrid& grid) {
  return std::abs(std::log2(static_cast<double>(grid.rows * tile_rows) /
                            static_cast<double>(grid.columns * tile_columns)));
}

bool squarer(const TileGrid& a, const TileGrid& b) {
  return elongation(a) < elongation(b);
}

bool flatter(const TileGrid& a, const TileGrid& b) {
  return a.rows * b.columns < b.rows * a.columns;
}

/// A place in the search: which waves, which of the grids that fill them, which k.
struct Place {
  int waves = 1;
  TileGrid grid;
  std::int64_t k = start_k;
};

ProductShape shape_of(const Place& place) {
  return {place.grid.rows * tile_rows, place.grid.columns * tile_columns, place.k};
}

class Descent {
 public:
  Descent(const ShapeLimits& limits,
          const std::function<std::optional<FlopPerSecond>(const ProductShape&)>& measure)
      : limits_(limits), measure_(measure) {}

  ShapeFound run() {
    start();
    if (found_.best) descend();
    return found_;
  }

 private:
  using Step = std::optional<Place> (Descent::*)(const Place&, int) const;

  void start() {
    for (const ProductShape& shape : published) {
      const TileGrid grid{shape.m / tile_rows, shape.n / tile_columns};
      const auto waves = (grid.rows * grid.columns - 1) / limits_.multiprocessors + 1;
      improves({static_cast<int>(waves), grid, shape.k});
    }
    for (const int waves : {1, 2, 4}) {
      const std::vector<TileGrid> grids = full_grids(limits_.multiprocessors, waves);
      if (grids.empty()) continue;
      improves({waves, *std::ranges::min_element(grids, squarer), start_k});
    }
  }

  void descend() {
    constexpr std::array<Step, 3> coordinates{
        &Descent::along_k, &Descent::along_waves, &Descent::along_grids};
    int dull = 0;
    for (std::size_t turn = 0; dull < dull_moves && !ended(); ++turn) {
      const FlopPerSecond before = found_.rate;
      walk(coordinates.at(turn % coordinates.size()));
      dull = found_.rate < (1.0 + dull_gain) * before ? dull + 1 : 0;
    }
    if (!found_.stop_reason) found_.stop_reason = FindingId::moves_gain_little;
  }

  /// As far as it improves, in the first direction that does.
  void walk(Step step) {
    for (const int direction : {+1, -1}) {
      bool moved = false;
      for (auto next = (this->*step)(best_, direction); next && improves(*next);
           next = (this->*step)(best_, direction)) {
        moved = true;
      }
      if (moved) return;
    }
  }

  std::optional<Place> along_k(const Place& place, int direction) const {
    Place next = place;
    const std::int64_t step = place.k < 2 * start_k ? step_k : 2 * step_k;
    const std::int64_t steps = direction > 0 ? place.k / step + 1 : (place.k - 1) / step;
    next.k = std::clamp(steps * step, smallest_k, greatest_k);
    return next.k == place.k ? std::nullopt : std::optional(next);
  }

  /// The grid of the other wave count whose aspect is nearest.
  std::optional<Place> along_waves(const Place& place, int direction) const {
    Place next = place;
    const auto log_aspect = [](const TileGrid& grid) {
      return std::log2(static_cast<double>(grid.rows) / static_cast<double>(grid.columns));
    };
    const auto nearer = [&](const TileGrid& a, const TileGrid& b) {
      return std::abs(log_aspect(a) - log_aspect(place.grid)) <
             std::abs(log_aspect(b) - log_aspect(place.grid));
    };
    for (next.waves += direction; next.waves >= 1 && next.waves <= greatest_waves;
         next.waves += direction) {
      const std::vector<TileGrid> grids = full_grids(limits_.multiprocessors, next.waves);
      if (grids.empty()) continue;
      next.grid = *std::ranges::min_element(grids, nearer);
      return next;
    }
    return std::nullopt;
  }

  std::optional<Place> along_grids(const Place& place, int direction) const {
    const std::vector<TileGrid> grids = full_grids(limits_.multiprocessors, place.waves);
    // Of a published grid that leaves multiprocessors idle, the neighbours in aspect.
    const auto here = std::ranges::lower_bound(grids, place.grid, flatter);
    const bool between = here == grids.end() || *here != place.grid;
    const auto index = here - grids.begin() + (between && direction > 0 ? 0 : direction);
    if (index < 0 || index >= static_cast<std::ptrdiff_t>(grids.size())) return std::nullopt;
    Place next = place;
    next.grid = grids.at(index);
    return next;
  }

  bool ended() {
    std::optional<Finding>& reason = found_.stop_reason;
    if (!reason && found_.trials >= limits_.trials)
      reason = Finding(FindingId::shapes_tried, found_.trials);
    if (!reason && limits_.out_of_time())
      reason = Finding(FindingId::shapes_out_of_time, found_.trials);
    return reason.has_value();
  }

  /// Tries the place unless that has been done; makes it the best when it is faster.
  bool improves(const Place& place) {
    const ProductShape shape = shape_of(place);
    if (tried_.contains(shape) || !limits_.fits(shape) || ended()) return false;
    ++found_.trials;
    tried_.insert(shape);
    const FlopPerSecond rate = measure_(shape).value_or(FlopPerSecond(0.0));
    if (rate <= found_.rate) return false;
    best_ = place;
    found_.best = shape;
    found_.rate = rate;
    return true;
  }

  const ShapeLimits& limits_;
  const std::function<std::optional<FlopPerSecond>(const ProductShape&)>& measure_;
  std::set<ProductShape> tried_;
  Place best_;
  ShapeFound found_;
};
}  // namespace

std::vector<TileGrid> full_grids(int multiprocessors, int waves) {
  const std::int64_t tiles = std::int64_t{multiprocessors} * waves;
  std::vector<TileGrid> grids;
  std::optional<TileGrid> squarest;  // of those that fill enough of the last wave
  for (std::int64_t rows = 1; rows <= tiles; ++rows) {
    const TileGrid grid{rows, tiles / rows};
    if (tiles % rows == 0 && elongation(grid) <= std::log2(greatest_aspect)) grids.push_back(grid);
    const double filled =
        static_cast<double>(grid.rows * grid.columns) / static_cast<double>(tiles);
    if (filled >= nearly_full && (!squarest || squarer(grid, *squarest))) squarest = grid;
  }
  if (squarest && std::ranges::count(grids, *squarest) == 0) grids.push_back(*squarest);
  std::sort(grids.begin(), grids.end(), flatter);
  return grids;
}

ShapeFound search_shape(
    const ShapeLimits& limits,
    const std::function<std::optional<FlopPerSecond>(const ProductShape&)>& measure) {
  return Descent(limits, measure).run();
}
}  // namespace scaleworth::probes
