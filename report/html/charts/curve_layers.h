// SPDX-License-Identifier: Apache-2.0
/// A curve over counts with its band, and the measured counts with their intervals.
#pragma once

#include "report/json/parts.h"
#include "src/core/estimate.h"
#include "src/model/analysis.h"

#include <functional>
#include <string>
#include <vector>

namespace scaleworth::report {

/// Rows have the fields "series", "ranks", "value", "low" and "high"; those of a curve "range",
/// too.
struct CurveLayers {
  std::vector<Json> curve;
  std::vector<Json> measured;
  std::string what;    // of the tooltip: "speed-up"
  std::string format;  // d3 number format
};

/// A number and its interval as fields "value", "low", "high"; the interval collapses when absent.
Json with_interval(const Estimate<double>& value);

/// The points of a law as rows of the series `label`, their values by `make_row`: one line within
/// the measured counts and one beyond, so that the extrapolated part is drawn apart; the last
/// measured point belongs to both.
std::vector<Json> curve_rows(const std::vector<model::CurvePoint>& curve,
                             const std::string& label,
                             const std::function<Json(const model::CurvePoint&)>& make_row);

/// Band and line of the curve, error bars and dots of the measured counts.
Json curve_layers(const CurveLayers& parts);

/// "measured" (where there is any), then the series of the curve in their order.
std::vector<std::string> series_names(const CurveLayers& parts);

/// 1, 2, 4 ... up to `most`: where an axis of counts has its ticks.
std::vector<int> doubled_counts(int most);

}  // namespace scaleworth::report
