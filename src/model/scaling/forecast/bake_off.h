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
  double worst = 0.0;     // largest of these errors
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

/// Fits each of `law_families`, and of `further` ones, to the points below each count and predicts
/// the time there, from the fifth count on, at most the last twenty; long tables are thinned evenly
/// to 200 counts. The law that predicts best is chosen, never the one that fits best. Absent for
/// fewer than five different counts. Throws UserError for a time that is not positive.
std::optional<BakeOff> bake_off(std::vector<LawPoint> points,
                                const std::vector<LawFamily>& further = {});

/// Seconds at `ranks`.
double candidate_time(const CandidateLaw& law, int ranks);

/// The law for tables of too few counts to choose by five: of `short_families`.
struct LawChoice {
  LawFamily family;
  std::optional<double> held_out;  // mean |relative error| one count ahead; absent without any
  bool by_forecast = false;        // false: the one that the kind of scaling suggests
};

/// Chooses one law for all `series` (the same system in several variants, or one table alone),
/// each ascending by count. Strong scaling leaves a part that does not shrink, so Amdahl's law is
/// the first guess; weak scaling pays for trees and stragglers, both growing as log K. Another law
/// takes the place of the first guess when its forecasts, of each count from the third on by the
/// smaller ones, are better by more than one percentage point in the mean: with less, two or three
/// counts choose by their noise. Throws UserError for a time that is not positive.
LawChoice choose_law(const std::vector<std::vector<LawPoint>>& series, bool weak);

}  // namespace scaleworth::model
