// SPDX-License-Identifier: Apache-2.0
/// Which growths a curve of times shows, and how far the choice of the fit decides that.
#pragma once

#include "src/core/estimate.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// A term of T(r)/T(1) over the count ratio r.
enum class Shape {
  ideal,         // 1/r
  level,         // 1: does not shrink
  logarithm,     // log2 r
  linear,        // r - 1
  falling_short  // log2(r)/r: shrinks, but less than the count grows
};

struct ShapePoint {
  double ratio = 1.0;  // count over the baseline's, >= 1
  double time = 0.0;   // s, > 0
  std::optional<double> relative_sd;
};

/// A set of terms; `ideal` is among them.
struct ShapeFamily {
  std::string name;
  std::vector<Shape> shapes;
};

struct ShapeFit {
  ShapeFamily family;
  std::vector<double> coefficients;  // s, one per shape, >= 0
  double residual = 0.0;             // root mean square of the relative residuals
  bool holds = true;                 // not refuted by the rows

  double time(double ratio) const;
  /// What a shape keeps from being ideal: its term at `ratio` less its term at 1 over `ratio`, s.
  double lost(Shape shape, double ratio) const;
  double coefficient(Shape shape) const;  // 0 where the family lacks it
};

/// The fits, and what the rows let us know of their noise.
struct ShapeFits {
  std::vector<ShapeFit> fits;         // one per family
  std::optional<double> relative_sd;  // of one time; absent: too few rows to tell
  double degrees = 0.0;               // of that spread; 0 where it was measured
  /// Whether a sum of squared relative residuals with so many terms fewer than the richest family
  /// is no more than noise.
  bool holds(double squares, std::size_t fewer_terms) const;

  double richest_squares = 0.0;
};

/// At most `most` of the points, evenly taken, the first and the last among them.
std::vector<ShapePoint> thinned(const std::vector<ShapePoint>& points, std::size_t most);

/// Each family by least relative squares with non-negative terms. The last family is the richest
/// and holds the others' shapes; a family is refuted (5 %, F test; chi-squared where every row has
/// a measured spread) when its squares exceed the richest one's by more than noise. With no more
/// rows than the richest has terms and no measured spread nothing is refuted.
ShapeFits fit_shapes(const std::vector<ShapePoint>& points,
                     const std::vector<ShapeFamily>& families);

/// The share of the loss at `ratio` that is level, from the fits that hold: the least and the
/// greatest of their own shares and of the central 95 % of parametric bootstrap draws of each.
/// Absent without a spread of the times, or where nothing was lost.
std::optional<Interval<double>> level_share(const std::vector<ShapePoint>& points,
                                            const ShapeFits& fits,
                                            double ratio,
                                            std::uint64_t seed = 1);

/// A fit's own share at `ratio`; absent where it sees no loss.
std::optional<double> level_share(const ShapeFit& fit, double ratio);

}  // namespace scaleworth::decide
