// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/law_gap.h"

#include "src/model/scaling/laws/amdahl.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::decide {
namespace {

constexpr std::size_t fewest_rows = 4;
constexpr std::size_t most_rows = 64;

const std::vector<ShapeFamily>& families() {
  static const std::vector<ShapeFamily> all{
      {"Amdahl", {Shape::ideal, Shape::level}},
      {"Amdahl and c (K-1)", {Shape::ideal, Shape::level, Shape::linear}},
      {"Amdahl and log K", {Shape::ideal, Shape::level, Shape::logarithm}},
      {"all terms", {Shape::ideal, Shape::level, Shape::logarithm, Shape::linear}}};
  return all;
}

/// The last row, against which every reading is made.
struct End {
  double ratio;
  double speedup;
  double lost_s;
};

void widen(Interval<double>& range, double share) {
  range = {std::min(range.low, share), std::max(range.high, share)};
}

double clamped(double share) {
  return std::clamp(share, 0.0, 1.0);
}

/// Of a law without an overhead term: whatever it leaves is counted as overhead.
LawReading amdahl_reading(const std::string& name, double single, double serial, const End& end) {
  LawReading reading;
  reading.fit = name;
  reading.serial = serial;
  const double speedup = model::amdahl_speedup(serial, end.ratio);
  reading.serial_folds = end.ratio - speedup;
  reading.overhead_folds = speedup - end.speedup;
  const double lost = single * serial * (1.0 - 1.0 / end.ratio);
  reading.serial_share = end.lost_s > 0.0 ? clamped(lost / end.lost_s) : 0.0;
  return reading;
}

LawReading reading_of(const ShapeFit& fit, const End& end) {
  const double single = fit.time(1.0);
  const double serial = single > 0.0 ? fit.coefficient(Shape::level) / single : 0.0;
  LawReading reading = amdahl_reading(fit.family.name, single, serial, end);
  reading.residual = fit.residual;
  reading.holds = fit.holds;
  if (fit.family.shapes.size() == 2) return reading;
  const double speedup = single / fit.time(end.ratio);
  reading.overhead_folds = end.ratio - reading.serial_folds - speedup;
  reading.unexplained_folds = speedup - end.speedup;
  reading.serial_share = level_share(fit, end.ratio).value_or(0.0);
  return reading;
}

LawReading plain_reading(const std::vector<ShapePoint>& points,
                         const ShapeFits& fits,
                         const End& end) {
  const double single = points.front().time;
  std::vector<model::MeasuredSpeedup> rows;
  for (const ShapePoint& point : points) rows.push_back({point.ratio, single / point.time});
  const double serial = model::plain_amdahl_serial(rows).value_or(0.0);
  LawReading reading = amdahl_reading("Amdahl, plain", single, serial, end);
  double squares = 0.0;
  for (const ShapePoint& point : points) {
    const double fitted = single / model::amdahl_speedup(serial, point.ratio);
    squares += std::pow(fitted / point.time - 1.0, 2);
  }
  reading.residual = std::sqrt(squares / static_cast<double>(points.size()));
  reading.holds = fits.holds(squares, 2);
  return reading;
}

/// Of the two laws with one overhead term.
const ShapeFit& better_overhead(const ShapeFits& fits) {
  const ShapeFit& linear = fits.fits[1];
  const ShapeFit& logarithm = fits.fits[2];
  return logarithm.residual < linear.residual ? logarithm : linear;
}

Gap gap_of(const ShapeFit& fit, const LawSpread& spread, double ratio) {
  Gap gap;
  gap.count = spread.count;
  const double serial = fit.lost(Shape::level, ratio);
  const double overhead = fit.lost(Shape::linear, ratio) + fit.lost(Shape::logarithm, ratio);
  gap.lost_s = serial + overhead;
  if (!(gap.lost_s > 0.0)) return gap;
  gap.losses = {{Cause::serial, serial, serial / gap.lost_s, spread.serial_share},
                {Cause::overhead, overhead, overhead / gap.lost_s, {}}};
  if (spread.serial_share) {
    gap.losses[1].spread =
        Interval<double>{1.0 - spread.serial_share->high, 1.0 - spread.serial_share->low};
  }
  if (overhead > serial) std::swap(gap.losses[0], gap.losses[1]);
  return gap;
}

}  // namespace

std::optional<LawSpread> law_spread(const std::vector<DecisionRow>& rows) {
  std::vector<ShapePoint> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0) continue;
    points.push_back({row.count_ratio, row.same_work.value.value(), row.relative_sd});
  }
  if (points.size() < fewest_rows) return std::nullopt;
  points = thinned(points, most_rows);
  const DecisionRow& last = rows.back();
  const End end{last.count_ratio,
                last.speedup.value,
                points.back().time - points.front().time / last.count_ratio};
  LawSpread spread;
  spread.count = last.count;
  spread.missing = end.ratio - end.speedup;
  const ShapeFits fits = fit_shapes(points, families());
  spread.readings.push_back(plain_reading(points, fits, end));
  for (std::size_t i = 0; i + 1 < fits.fits.size(); ++i) {
    spread.readings.push_back(reading_of(fits.fits[i], end));
  }
  spread.serial_share = level_share(points, fits, end.ratio);
  for (const LawReading& reading : spread.readings) {
    if (!reading.holds) continue;
    if (!spread.by_fits) spread.by_fits = {reading.serial_share, reading.serial_share};
    widen(*spread.by_fits, reading.serial_share);
    if (spread.serial_share) widen(*spread.serial_share, reading.serial_share);
  }
  spread.gap = gap_of(better_overhead(fits), spread, end.ratio);
  return spread;
}

}  // namespace scaleworth::decide
