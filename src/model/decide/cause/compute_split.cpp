// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/compute_split.h"

#include "src/model/decide/cause/share_profile.h"

namespace scaleworth::decide {
namespace {

constexpr std::size_t fewest_rows = 4;
constexpr std::size_t most_rows = 64;

const std::vector<ShapeFamily>& families() {
  static const std::vector<ShapeFamily> all{
      {"serial work", {Shape::ideal, Shape::level}},
      {"slow-down", {Shape::ideal, Shape::falling_short}},
      {"both", {Shape::ideal, Shape::level, Shape::falling_short}}};
  return all;
}

}  // namespace

std::optional<ComputeSplit> split_compute(const std::vector<DecisionRow>& rows) {
  ComputeSplit split;
  const auto compute = static_cast<std::size_t>(TimePart::compute);
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0 || !row.parts_s[compute] || !(*row.parts_s[compute] > 0.0)) continue;
    const double growth = row.time.value / row.same_work.value;
    split.points.push_back({row.count_ratio, *row.parts_s[compute] / growth, row.relative_sd});
  }
  if (split.points.size() < fewest_rows) return std::nullopt;
  split.points = thinned(split.points, most_rows);
  split.fits = fit_shapes(split.points, families());
  split.serial_s = split.fits.fits.back().coefficient(Shape::level);
  return split;
}

double ComputeSplit::share(double ratio) const {
  return level_share(fits.fits.back(), ratio).value_or(0.0);
}

std::optional<Interval<double>> ComputeSplit::range(double ratio) const {
  return level_share_profile(points, fits, ratio);
}

}  // namespace scaleworth::decide
