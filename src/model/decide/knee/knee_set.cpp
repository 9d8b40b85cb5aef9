// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/knee/knee_set.h"

#include <algorithm>

namespace scaleworth::decide {
namespace {

std::vector<SpeedupPoint> speedups(const std::vector<DecisionRow>& rows) {
  std::vector<SpeedupPoint> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio >= 1.0) points.push_back({row.count, row.speedup.value});
  }
  return points;
}

int baseline_count(const std::vector<DecisionRow>& rows) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [](const DecisionRow& row) { return row.count_ratio == 1.0; });
  return found == rows.end() ? rows.front().count : found->count;
}

}  // namespace

std::vector<KneeRow> knee_rows(const std::vector<DecisionRow>& rows) {
  std::vector<KneeRow> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio >= 1.0) points.push_back({row.count, row.same_work.value.value()});
  }
  return points;
}

LawShape shape_of(const model::ContentionFit& fit) {
  return {std::clamp(fit.serial, 0.0, 1.0), std::max(0.0, fit.coherency)};
}

std::vector<LawShape> shapes_of(const std::vector<model::ContentionFit>& fits) {
  std::vector<LawShape> shapes;
  for (const model::ContentionFit& fit : fits) shapes.push_back(shape_of(fit));
  return shapes;
}

KneeSet table_knees(const std::vector<DecisionRow>& rows,
                    KneeRequest request,
                    const std::optional<model::ContentionEstimate>& estimate) {
  request.baseline = baseline_count(rows);
  request.smallest = rows.front().count;
  request.largest = rows.back().count;
  KneeSet set;
  set.request = request;
  set.kneedle = kneedle_readings(speedups(rows));
  set.by_law = estimate.has_value();
  if (estimate) {
    set.basis =
        "by the law E(K) = 1/(1 + s(K-1) + cK(K-1)); from and to hold 95 % of the draws of its fit";
    set.law = shape_of(estimate->best);
    set.draws = shapes_of(estimate->draws);
    set.knees = law_knees(set.law, set.draws, request);
    return set;
  }
  set.basis =
      "by the rows alone, for no law is told by them; from and to are measured counts between "
      "which it lies";
  set.knees = measured_knees(knee_rows(rows), request);
  return set;
}

KneeSet curve_knees(const Coefficients& coefficients,
                    const std::vector<DecisionRow>& rows,
                    const KneeRequest& request) {
  KneeSet set;
  set.request = request;
  set.basis = "of the coefficients given, which are taken as exact";
  set.law = {coefficients.serial, coefficients.communication};
  set.knees = law_knees(set.law, {}, request);
  set.kneedle = kneedle_readings(speedups(rows));
  return set;
}

}  // namespace scaleworth::decide
