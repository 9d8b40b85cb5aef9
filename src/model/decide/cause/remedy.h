// SPDX-License-Identifier: Apache-2.0
/// What would move the knee, and what would not: the curve again with one cause taken away.
#pragma once

#include "src/model/decide/cause/compute_split.h"
#include "src/model/decide/cause/gap.h"
#include "src/model/decide/knee/knee_set.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

struct Remedy {
  Cause cause = Cause::serial;
  Knee before;  // of the kind that all remedies are judged by
  Knee after;
  /// Of the bill at the cost optimum, else of the time at the knee; absent where either is nowhere.
  std::optional<double> saved;
  /// The count changes, by more than 5 % where the position is continuous. Absent where the knee is
  /// the largest row's count, read by rows alone: it may lie beyond with and without the change.
  std::optional<bool> moves;
};

/// The knee that remedies are judged by: the cost optimum where a wall-clock price makes it depend
/// on the curve, else the efficiency threshold.
KneeKind judged_by(const KneeRequest& request);

/// The law T1 (s + (1-s)/K + c (K-1)) without its overhead (c = 0), and with half its serial work
/// (s/2; what is saved is done in parallel), for each draw alike. None where the knee is nowhere.
std::vector<Remedy> law_remedies(const LawShape& law,
                                 const std::vector<LawShape>& draws,
                                 Cause overhead,
                                 const KneeRequest& request);

/// The rows without their communication, idle, host or I/O time, with half the serial work that
/// `split` tells, with compute as efficient as at the baseline; each alone. Read as the knees in
/// `before` were: by a fit to the changed rows with its draws (none above 512 rows), or by the rows
/// alone. None without parts.
std::vector<Remedy> part_remedies(const std::vector<DecisionRow>& rows,
                                  const std::optional<ComputeSplit>& split,
                                  const KneeSet& before);

/// "no communication exposed", "half the serial work", ...
const char* remedy_change(Cause cause);
/// How it is done: "overlap it, another collective, larger messages".
std::string remedy_means(Cause cause, const std::optional<double>& latency_share);

}  // namespace scaleworth::decide
