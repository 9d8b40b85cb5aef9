// SPDX-License-Identifier: Apache-2.0
/// Amdahl's law with the communication known from measured latency and bandwidth.
///   T(K) = T1 (s + (1 - s)/K) + messages (2 (K-1) alpha + 2 (K-1)/K n beta)
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"
#include "src/model/scaling/contention/law.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// A ring all-reduce among the ranks, from an alpha-beta fit of measured sizes. All exposed.
struct RingCost {
  Seconds latency;                // alpha, of one hop
  double seconds_per_byte = 0.0;  // beta, of one link and direction
  Bytes message{0};               // n
  double messages = 1.0;          // in the time of a row
};

/// The two parts are what different remedies touch: fewer and larger messages, or fewer bytes.
struct RingTime {
  Seconds latency;
  Seconds bandwidth;
  Seconds total() const { return latency + bandwidth; }
};

/// Zero for one rank. Source: Thakur, Rabenseifner, Gropp 2005. Throws UserError for a count below
/// one or a cost that is negative.
RingTime ring_time(const RingCost& cost, int ranks);

struct InformedFit {
  double single = 0.0;  // T1 without communication, s
  double serial = 0.0;  // of the rest: the known communication is not in it
  double residual = 0.0;
};

/// Least relative squares of what the communication leaves, s in [0, 1], T1 > 0. Absent for fewer
/// than two different counts, or where the communication alone is longer than the times. Throws
/// UserError for a time that is not positive.
std::optional<InformedFit> fit_informed(const std::vector<LawPoint>& points, const RingCost& cost);

/// Seconds at `ranks`.
double informed_time(const InformedFit& fit, const RingCost& cost, int ranks);

}  // namespace scaleworth::model
