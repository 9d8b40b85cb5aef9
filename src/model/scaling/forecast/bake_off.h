// SPDX-License-Identifier: Apache-2.0
/// Laws of the step time held against counts that they were not fitted to.
#pragma once

#include "src/model/scaling/contention/law.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// T(K) = a/K + b + d log2 K + e (K - 1), all coefficients >= 0, 0 where the law lacks the column.
struct CandidateLaw {
  std::string name;
  std::array<double, 4> coefficients{};  // s
  double residual = 0.0;                 // root mean square, relative, at all points
  double held_out = 0.0;                 // mean |relative error| one count ahead
  double worst = 0.0;                    // largest of these errors
};

struct BakeOff {
  std::vector<CandidateLaw> laws;  // least held-out error first
  std::size_t forecasts = 0;       // that each error is a mean of
};

/// A best law that misses a count by more does not describe the table: a change of regime lies
/// inside it. The worst forecast decides, for a cliff at the end hides in a mean.
inline constexpr double cliff_error = 0.25;

/// Laws held against published tables miss by a multiple beyond so many times the measured range.
inline constexpr double farthest_extrapolation = 4.0;

/// Fits constant, Amdahl, logarithmic, contention-coherency and their union by least relative
/// squares (NNLS) to the points below each count and predicts the time there, from the fifth count
/// on, at most the last twenty; long tables are thinned evenly to 500 counts. The law that predicts
/// best is chosen, never the one that fits best. Absent for fewer than five different counts.
/// Throws UserError for a time that is not positive.
std::optional<BakeOff> bake_off(std::vector<LawPoint> points);

/// Seconds at `ranks`.
double candidate_time(const CandidateLaw& law, int ranks);

}  // namespace scaleworth::model
