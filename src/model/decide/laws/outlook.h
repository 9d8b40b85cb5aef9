// SPDX-License-Identifier: Apache-2.0
/// What the law that predicts best says of counts that were not measured.
#pragma once

#include "src/model/decide/table/metrics.h"
#include "src/model/scaling/forecast/bake_off.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

struct OutlookPoint {
  int count = 1;
  Seconds time;          // of the same work
  double speedup = 1.0;  // against the rows' baseline
  double efficiency = 1.0;
  bool far = false;  // beyond `model::farthest_extrapolation` times the largest measured count
};

struct Outlook {
  std::string law;
  std::string formula;
  std::string basis;                 // how the law was chosen
  std::optional<double> held_out;    // mean |relative error| one count ahead; absent without any
  std::vector<OutlookPoint> points;  // twice, four and eight times the largest; none at a cliff
};

/// By the bake-off's first law; without one (fewer than five counts) by `model::choose_law`, which
/// for two counts is an assumption through both of them. Absent for one row, and without points
/// where the best law misses a count by more than `model::cliff_error`.
std::optional<Outlook> outlook(const std::vector<DecisionRow>& rows,
                               Scaling scaling,
                               const std::optional<model::BakeOff>& bake_off);

}  // namespace scaleworth::decide
