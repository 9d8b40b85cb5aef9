// SPDX-License-Identifier: Apache-2.0
/// All knees of one curve and what they were read from.
#pragma once

#include "src/model/decide/cost_curve.h"
#include "src/model/decide/knee/knee.h"
#include "src/model/decide/knee/kneedle.h"
#include "src/model/decide/table/metrics.h"
#include "src/model/scaling/contention/law.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

struct KneeSet {
  KneeRequest request;
  std::string basis;   // one sentence: from what, and what `low` and `high` mean
  bool by_law = true;  // false: rows alone
  LawShape law;        // with its draws, where it is by law
  std::vector<LawShape> draws;
  std::vector<Knee> knees;
  std::vector<KneedleReading> kneedle;  // of the speed-ups in the rows
};

/// Of the rows; by the law where `estimate` says that it can be told, with its draws as intervals,
/// else between the rows. No knees below two rows from the baseline on.
KneeSet table_knees(const std::vector<DecisionRow>& rows,
                    KneeRequest request,
                    const std::optional<model::ContentionEstimate>& estimate);

/// Of coefficients, which are taken as exact. `rows` of their curve.
KneeSet curve_knees(const Coefficients& coefficients,
                    const std::vector<DecisionRow>& rows,
                    const KneeRequest& request);

/// The rows from the baseline on as knees are read from them.
std::vector<KneeRow> knee_rows(const std::vector<DecisionRow>& rows);

LawShape shape_of(const model::ContentionFit& fit);
std::vector<LawShape> shapes_of(const std::vector<model::ContentionFit>& fits);

}  // namespace scaleworth::decide
