// SPDX-License-Identifier: Apache-2.0
/// Where a scaling curve bends, by definitions that do not depend on the range that was measured.
#pragma once

#include "src/model/cost/cost.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

enum class KneeKind {
  efficiency,      // the last count with E(K) >= theta
  slope,           // where dS/dK falls to theta: one more rank adds that part of a rank
  speed_per_rank,  // maximum of S E = S^2/K, that is the least time x ranks x time
  cost,            // minimum of (K p + f) T(K)
  peak             // maximum of S
};
inline constexpr double default_knee_threshold = 0.5;

struct Knee {
  KneeKind kind = KneeKind::efficiency;
  std::optional<int> count;        // whole; absent where the curve never gets there
  std::optional<double> position;  // continuous; absent as `count`, and where rows do not tell
  double low = 1.0;                // the interval, of the meaning that the set states
  std::optional<double> high;      // absent: no upper end
  bool beyond = false;             // outside the counts that were measured
};

struct KneeRequest {
  double threshold = default_knee_threshold;  // theta, in (0, 1]
  bool threshold_given = false;
  std::optional<model::Prices> prices;
  int baseline = 1;                  // E and dS/dK are relative to this count
  std::optional<int> smallest = {};  // measured; absent for a curve that was not
  std::optional<int> largest = {};
};

/// T(K) ~ s + (1 - s)/K + c (K - 1), s in [0, 1], c >= 0.
struct LawShape {
  double serial = 0.0;
  double coherency = 0.0;
};

/// By the law, with D = 1 + s (K-1) + c K (K-1), so that S = K/D and E = 1/D:
///   efficiency      c K^2 + (s - c) K + 1 - s - 1/theta = 0
///   slope           (1 - s - c K^2)/D^2 = theta, which falls monotonically up to the peak
///   speed_per_rank  3 c K^2 + (s - c) K - (1 - s) = 0
///   cost            `continuous_optimum`; only with prices
///   peak            sqrt((1 - s)/c)
/// each at least 1. `low` and `high` are the 2.5 % and 97.5 % quantiles of `draws` together with
/// the value itself; without draws the value alone. A definition that no count meets (theta above
/// 1) is left out.
std::vector<Knee> law_knees(const LawShape& law,
                            const std::vector<LawShape>& draws,
                            const KneeRequest& request);

/// One count of a table with the time of the same work.
struct KneeRow {
  int count = 1;
  double time = 0.0;  // s, > 0
};

/// By rows alone (ascending, the baseline among them): the best row, and as `low` and `high` the
/// measured counts between which the knee lies if the curve has one bend: for the efficiency the
/// row that meets the threshold and the next one, for the rest the neighbours of the best row. Open
/// above where the best row is the last. The efficiency's position is interpolated in log K.
std::vector<Knee> measured_knees(const std::vector<KneeRow>& rows, const KneeRequest& request);

/// "efficiency >= 0.5 (default threshold)", "largest speed-up x efficiency", ...
std::string knee_name(KneeKind kind, const KneeRequest& request);

/// The knee of one kind; absent where it is not among them.
const Knee* find_knee(const std::vector<Knee>& knees, KneeKind kind);

}  // namespace scaleworth::decide
