// SPDX-License-Identifier: Apache-2.0
/// How a simulated measurement departs from the truth, reproducibly.
#pragma once

#include "src/core/statistics/sampling.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace scaleworth::sim {

struct NoiseTruth {
  double relative_sigma = 0.02;     // log-normal, median 1
  double outlier_share = 0.02;      // of repetitions hit by an interruption ...
  double outlier_factor = 3.0;      // ... that makes them take this much longer
  double between_runs_sigma = 0.0;  // log-normal, median 1, the same for all of one Noise
  std::uint64_t seed = 1;
};

struct SampledTimes {
  std::vector<double> seconds;
  std::vector<Finding> stop_reason;
};

/// Draws repetitions whose median is the true time.
class Noise {
 public:
  explicit Noise(const NoiseTruth& truth) : truth_(truth), random_(truth.seed) {
    if (truth.between_runs_sigma > 0.0)
      run_ = std::exp(truth.between_runs_sigma * normal_(random_));
  }

  double factor() {
    const double outlier = uniform_(random_) < truth_.outlier_share ? truth_.outlier_factor : 1.0;
    return run_ * outlier * std::exp(truth_.relative_sigma * normal_(random_));
  }

  /// Repetitions of an operation that truly takes `seconds`, until the stopping rule has enough.
  SampledTimes sample(double seconds, const StoppingTarget& target) {
    StoppingRule rule(target);
    while (!rule.finished()) rule.add(Seconds(seconds * factor()));
    return {rule.samples(), {rule.explanation()}};
  }

 private:
  NoiseTruth truth_;
  std::mt19937_64 random_;
  double run_ = 1.0;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace scaleworth::sim
