// SPDX-License-Identifier: Apache-2.0
/// Predicting a collective's time from a fit, inside and outside of what was measured.
#pragma once

#include "src/model/analysis.h"

namespace scaleworth::model {

/// The segment that is valid at `message`; between two segments the one nearer by ratio of sizes.
/// Throws std::invalid_argument for a fit without segments.
const CommunicationSegment& segment_at(const CommunicationFit& fit, Bytes message);

/// Fitted time at `message`: alpha + beta n + c sqrt(n) of its segment.
Seconds evaluate(const CommunicationFit& fit, Bytes message);

struct CommunicationPrediction {
  Estimate<Seconds> time;
  bool extrapolated = false;  // beyond the measured sizes or rank count
};

/// Time of one operation of `message`. The 95 % interval adds, in quadrature, the ends of alpha's
/// and beta's intervals taken together (too wide: their errors partly cancel) and 2.45 x the
/// held-out error (for normal errors the mean |error| is 0.8 sigma, 1.96 / 0.8 = 2.45). Absent when
/// neither is known. No form extrapolates well beyond its last measured regime: 10 % to 45 % on
/// public tables.
CommunicationPrediction predict(const CommunicationFit& fit, Bytes message);

/// An all-reduce measured at one rank count, carried over to another.
/// Assumes a ring: 2 (k - 1) steps that each carry n / k bytes, so that alpha grows with (k - 1)
/// and beta with (k - 1) / k; every hop like those measured (one node or one kind of link), and the
/// protocol changes at the same sizes. The sqrt term grows with the geometric mean of both.
/// Source: Thakur, Rabenseifner, Gropp 2005; Chan et al. 2007.
class AllReduceModel {
 public:
  /// `fit` of an all_reduce among `ranks`. Throws std::invalid_argument below two ranks or without
  /// segments.
  AllReduceModel(CommunicationFit fit, int ranks);
  int measured_ranks() const { return ranks_; }
  /// Zero time for one rank. Any count but the measured one is extrapolated. Throws
  /// std::invalid_argument for a count below one.
  CommunicationPrediction predict(int ranks, Bytes message) const;

 private:
  CommunicationFit fit_;
  int ranks_;
};

/// The model of an analysed all_reduce by its chosen fit; absent for another collective or when
/// nothing could be fitted.
std::optional<AllReduceModel> all_reduce_model(const CollectiveResult& result);

}  // namespace scaleworth::model
