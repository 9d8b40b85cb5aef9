// SPDX-License-Identifier: Apache-2.0
/// Laws that need more than counts and times: the growth of the work, micro-batches, measured
/// communication, work and depth.
#pragma once

#include "src/model/decide/table/metrics.h"
#include "src/model/scaling/forecast/family.h"
#include "src/model/scaling/laws/gustafson.h"
#include "src/model/scaling/laws/micro_batches.h"
#include "src/model/scaling/laws/ring.h"
#include "src/model/scaling/laws/work_depth.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

/// What the user knows beside the table.
struct LawInputs {
  std::optional<model::RingCost> ring;
  std::optional<model::WorkDepth> work_depth;
};

/// The known communication of a row, as measured times hold it.
struct RingRow {
  int count = 1;
  model::RingTime communication;
  double share = 0.0;  // of the row's time
};

struct BoundRow {
  int count = 1;
  Seconds measured;  // of the same work
  Interval<Seconds> bounds;
  double above = 0.0;  // measured over the upper bound - 1
};

struct FurtherLaws {
  std::optional<model::GustafsonFit> gustafson;  // weak scaling, three counts at least
  /// Of rows with micro-batches and one layout of the replica, two at least.
  std::optional<model::MicroBatchFit> micro_batches;
  std::optional<model::InformedFit> informed;  // strong scaling with ring costs
  std::vector<RingRow> ring;                   // with ring costs
  std::vector<BoundRow> bounds;                // with work and depth
};

/// Throws UserError for inputs out of their range.
FurtherLaws further_laws(const std::vector<DecisionRow>& rows,
                         Scaling scaling,
                         const LawInputs& inputs);

/// The families that the inputs add to a bake-off of these rows.
std::vector<model::LawFamily> informed_families(Scaling scaling, const LawInputs& inputs);

}  // namespace scaleworth::decide
