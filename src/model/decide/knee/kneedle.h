// SPDX-License-Identifier: Apache-2.0
/// Kneedle, the knee finder whose answer depends on the range it sees: for comparison only.
#pragma once

#include <optional>
#include <vector>

namespace scaleworth::decide {

struct SpeedupPoint {
  int count = 1;
  double speedup = 1.0;
};

/// What Kneedle says of the counts `from` to `to`.
struct KneedleReading {
  int from = 1;
  int to = 1;
  std::optional<int> knee;  // absent: no point past a knee
};

/// Both axes are scaled to [0, 1]; candidates are the local maxima of d = y - x; one is declared
/// when d falls below its value less the mean gap of x before the next one (sensitivity 1), and the
/// first declared is the knee. Absent for fewer than three points or a flat curve. `points`
/// ascending by count.
/// Source: Satopaa et al., Finding a "Kneedle" in a Haystack (ICDCSW 2011).
std::optional<int> kneedle(const std::vector<SpeedupPoint>& points);

/// Kneedle over all points and over those up to half the largest count: where the two differ, the
/// knee is the range's and not the curve's.
std::vector<KneedleReading> kneedle_readings(const std::vector<SpeedupPoint>& points);

}  // namespace scaleworth::decide
