// SPDX-License-Identifier: Apache-2.0
/// What the variances of many small samples say of each one's.
#pragma once

#include <span>

namespace scaleworth {
/// Of one sample, or what is expected of one: `degrees` says how well it is known.
struct SampleVariance {
  double variance = 0.0;
  double degrees = 0.0;
};

/// The prior of the true variances, scaled inverse chi-square: `variance` with as many `degrees` as
/// the samples' variances agree. By the moments of ln s^2 (Smyth 2004, Statistical Applications in
/// Genetics and Molecular Biology 3, article 3, section 6.2); where they scatter no more than
/// chance makes them, all samples have one variance, known with the degrees of all. No degrees
/// (they say nothing of each other) for fewer than four samples with a variance above 0.
SampleVariance variance_prior(std::span<const SampleVariance> samples);

/// One sample's variance in the light of the prior, with the degrees of both: the weighted mean,
/// but never less than the sample itself showed, so that noise of a kind that the others do not
/// have is not taken for less.
SampleVariance moderated(const SampleVariance& sample, const SampleVariance& prior);
}  // namespace scaleworth
