// SPDX-License-Identifier: Apache-2.0
/// Step times at other counts from the measured parts of a step, where the counts are too few for a
/// law: a prediction, with its range and its assumptions.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"
#include "src/model/scaling/curve.h"
#include "src/model/scaling/measured.h"

#include <functional>
#include <optional>
#include <vector>

namespace scaleworth::model {

/// Time of one all-reduce of so many bytes over so many ranks; absent when it is not known.
using AllReduceTime = std::function<std::optional<Estimate<Seconds>>(Bytes, int)>;

/// The gradient as it is all-reduced: `count` buckets of equal size.
struct Buckets {
  Bytes each;
  int count = 0;
};

/// Part times of the mean rank at one count.
struct CountParts {
  int ranks = 1;
  double tokens_per_rank = 0.0;
  PartTimes times{};
};

/// T(K) = compute(b, K) + constant + progress(K) + transfer(K) + wait(K), b tokens per rank:
///   compute   (c0 + c1 b) from counts of different b (relative, c0, c1 >= 0); where all counts
///             have the same b, c1 b times the slow-down of the largest count for every K > K0
///   constant  optimizer, host and unattributed time: mean over the counts, not sharded
///   progress  as at the largest count, in proportion to the ring's traffic 2 (K-1)/K
///   transfer  the all-reduce model's time of all buckets, times the share that was exposed at the
///             largest count; without a model, the exposed time in proportion to 2 (K-1)/K
///   wait      E[max of K] - mu = sigma sqrt(2 ln K), sigma a constant fraction of compute that
///             gives the wait measured at the largest count (normal ranks)
class PartsModel {
 public:
  /// `counts` ascending by ranks, at least one. With one rank only, nothing of the transfer is
  /// assumed hidden and no wait is known.
  /// `skew` moves the all-reduce times within their intervals, in standard deviations.
  PartsModel(const std::vector<CountParts>& counts,
             const AllReduceTime& all_reduce,
             const Buckets& buckets,
             double skew = 0.0);
  /// Seconds of a step. `ranks` >= 1, `tokens_per_rank` > 0.
  double step(int ranks, double tokens_per_rank) const;

 private:
  double compute(int ranks, double tokens_per_rank) const;
  double transfer(int ranks) const;
  std::optional<double> all_buckets(int ranks) const;
  void fit_compute(const std::vector<CountParts>& counts);
  void fit_communication(const CountParts& largest);

  AllReduceTime all_reduce_;
  Buckets buckets_;
  double skew_ = 0.0;
  int smallest_ranks_ = 1;
  double compute_constant_ = 0.0;
  double compute_per_token_ = 0.0;
  double slow_down_ = 1.0;
  double constant_ = 0.0;
  double progress_per_traffic_ = 0.0;
  double transfer_per_traffic_ = 0.0;
  double exposed_share_ = 1.0;
  double spread_ = 0.0;  // sigma of a rank's compute, relative
};

/// The curve of `PartsModel` over 1 to max_count ranks, `prediction` set, its assumptions in
/// `basis`. The range is a Monte-Carlo over steps resampled at each count and over the all-reduce
/// model's intervals; it holds the uncertainty of the inputs, not of the assumptions.
/// `not_identifiable` says why there is no curve: no ledger, or one rank and no all-reduce model.
ScalingLaw measured_parts_law(const MeasuredMode& mode,
                              const AllReduceTime& all_reduce,
                              const CurveRequest& request);

}  // namespace scaleworth::model
