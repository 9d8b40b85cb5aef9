// SPDX-License-Identifier: Apache-2.0
/// What work the rows of a scaling table did, where no column says it.
#pragma once

#include "src/model/decide/table/scaling_table.h"

#include <vector>

namespace scaleworth::decide {

/// `observations` with time and work filled in from the throughput (time = work / throughput, work
/// = time x throughput where it grows by more than `rounding_tolerance`) or from a step's batch,
/// energy from its rate per work or from power, and what was concluded. Without times and work,
/// times are those of a power of 1000 units, and `kind.basis` becomes `work_unit`. Throws UserError
/// with the place of a row that has a throughput alone among rows with times, or no batch among
/// rows whose batch grows.
struct WorkFilledIn {
  std::vector<Observation> observations;
  TableKind kind;
  std::vector<std::string> remarks;
};
WorkFilledIn fill_in_work(std::vector<Observation> observations, TableKind kind);

/// The sum of the parts that are there; absent where none is.
std::optional<double> sum_of(const PartTimes& parts);

}  // namespace scaleworth::decide
