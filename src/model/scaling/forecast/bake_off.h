// SPDX-License-Identifier: Apache-2.0
/// Laws of the step time held against counts that they were not fitted to.
#pragma once

#include "src/model/scaling/forecast/family.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

struct CandidateLaw {
  std::string name;
  std::string formula;
  FittedLaw fitted;       // to all points
  double residual = 0.0;  // root mean square, relative, at all points
  double held_out = 0.0;  // mean |relative error| one count ahead
  /// Of the forecasts from the fifth count on, the largest max(predicted / measured, measured /
  /// predicted) - 1: a time that is far too long must not look small because it divides.
  double worst = 0.0;
};

struct BakeOff {
  std::vector<CandidateLaw> laws;  // the chosen one, then least held-out error first
  std::size_t forecasts = 0;       // that each error is a mean of
  bool by_forecast = false;        // false: no law beats the first guess clearly
};

/// A chosen law that misses a count by more does not describe the table: a change of regime lies
/// inside it. The worst forecast decides, for a cliff at the end hides in a mean.
inline constexpr double cliff_error = 0.25;

/// Laws held against published tables miss by a multiple beyond so many times the measured range.
inline constexpr double farthest_extrapolation = 4.0;

/// The law chosen for one or several tables.
struct LawChoice {
  LawFamily family;
  std::optional<double> held_out;  // mean |relative error| one count ahead; absent without any
  bool by_forecast = false;        // false: the one that the kind of scaling suggests
};

/// Chooses one of `law_families` for all `series` (the same system in several variants, or one
/// table alone) by its forecasts, never by its fit: each law is fitted to the points below each
/// count and predicts the time there, from the fourth count on, at most the last twenty; long
/// series are thinned evenly to 200 counts.
///
/// Strong scaling leaves a part that does not shrink, so Amdahl's law is the first guess; weak
/// scaling pays for trees and stragglers, both growing as log K. Another law takes its place when
/// |ln(predicted / measured)| is smaller in the mean by more than one percentage point and, from
/// three forecasts on, by more than the standard error of the paired differences: with less, a few
/// counts choose by their noise. Of those laws the least mean is taken. A law of p > 2 parameters
/// competes from 2 p + 1 counts of the longest series on, and before where the choice would miss a
/// count by more than `cliff_error` and it does not: a table that a law with a minimum describes
/// has no change of regime. Where fewer than p + 1 points are known the first guess stands in for
/// it, for its forecast would be that of an arbitrary fit.
/// Throws UserError for a time that is not positive.
LawChoice choose_law(const std::vector<std::vector<LawPoint>>& series, bool weak);

/// All laws of `law_families` and of `further` ones on one table, the choice as by `choose_law`
/// first. Absent for fewer than five different counts.
std::optional<BakeOff> bake_off(std::vector<LawPoint> points,
                                bool weak,
                                const std::vector<LawFamily>& further = {});

/// Seconds at `ranks`.
double candidate_time(const CandidateLaw& law, int ranks);

}  // namespace scaleworth::model
