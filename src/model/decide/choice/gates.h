// SPDX-License-Identifier: Apache-2.0
/// The gates of a rubric: what each asks of a count, and how it is called.
#pragma once

#include "src/model/decide/choice/rubric.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

struct Gate {
  std::string reason;  // why a count fails: "efficiency below 0.7"
  std::string mark;    // the same in a word or two
  std::function<bool(const DecisionRow&)> passes;
};

/// One gate for each bound of the rubric. Throws UserError for a bound that is not positive
/// (tolerance: negative) or one that the rows lack the numbers for. Where some rows have an energy
/// and it is bounded or the objective, knowing it is a gate of its own.
std::vector<Gate> gates_of(const std::vector<DecisionRow>& rows, const Rubric& rubric);

/// J by which rows are compared: of the same work, or of a unit of it where no row says how much
/// work there is. Absent where the row's energy is not known.
std::optional<double> compared_energy(const DecisionRow& row, bool by_unit);
/// Whether no row has an energy but of a unit of work.
bool energy_by_unit(const std::vector<DecisionRow>& rows);

/// Of the row that the others are compared with; absent without quality.
std::optional<double> baseline_quality(const std::vector<DecisionRow>& rows);

/// Whether two qualities agree within `tolerance`, but for the rounding of printed numbers.
bool within(double quality, double baseline, double tolerance);

}  // namespace scaleworth::decide
