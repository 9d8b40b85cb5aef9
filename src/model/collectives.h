// SPDX-License-Identifier: Apache-2.0
/// Collectives of a run: points with bandwidths, and fits of time over size.
#pragma once

#include "src/core/run.h"
#include "src/core/units.h"
#include "src/model/analysis.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {
/// Bus bandwidth, the rate at the slowest link, over algorithm bandwidth, message / time, of a
/// collective among `ranks`. The message is one rank's buffer (all_reduce, broadcast, reduce,
/// send_receive), else the sum over ranks.
///   all_reduce                                  2 (n - 1) / n
///   all_gather, reduce_scatter, all_to_all      (n - 1) / n
///   gather, scatter                             (n - 1) / n
///   broadcast, reduce, send_receive             1
/// Throws UserError for another name or fewer than two ranks.
/// Source: nccl-tests doc/PERFORMANCE.md and src/*.cu. Assumes a schedule in which the slowest link
/// carries that share of the message (ring-like); reduction inside a switch can exceed it.
double bus_factor(const std::string& collective, int ranks);

/// One result per (collective, mode, rank count) of comm.collectives. A time is the median over
/// repetitions of the slowest rank's, with the interval of `series_estimate`; repeated sizes are
/// pooled. Settings with fewer than two ranks do not communicate and are left out. Throws
/// UserError, as `analyse_algorithms` does, when a point lacks a field or `bus_factor` does not
/// know it.
std::vector<CollectiveResult> analyse_collectives(const Run& run);

/// Time of one operation at one message size.
struct TimedSize {
  Bytes message;
  Seconds time;
};

// Time of a collective as a function of its size: three forms, fitted by relative error.

inline constexpr const char* form_alpha_beta = "alpha-beta";
inline constexpr const char* form_sqrt = "alpha-beta-sqrt";
inline constexpr const char* form_segmented = "segmented";

/// The fits of `points` (ascending sizes, no duplicates, positive), in this order where they have
/// enough points:
///   alpha-beta       t = alpha + beta n                  Hockney; from 3 points
///   alpha-beta-sqrt  t = alpha + beta n + c sqrt(n)      pipelined chains; from 4 points
///   segmented        alpha-beta in one to three segments of at least 3 points; from 6 points
/// Coefficients >= 0, Huber's loss of the relative error (`fit_relative`). Intervals of alpha and
/// beta: Student t from that regression's robust covariance, so they contain misfit as well as
/// noise; in the segmented form given the boundaries; absent for a coefficient at 0.
/// `held_out_error`: mean |relative error| at the 2nd, 4th, ... size of the same form fitted to the
/// 1st, 3rd, ...: interpolation within one run, not variation between runs; absent below six
/// points. Source: Hockney 1994; the sqrt term from T = (p-2) a + n b + 2 sqrt((p-2) a n b) of a
/// chain with the best chunk size (Thakur, Rabenseifner, Gropp 2005).
std::vector<CommunicationFit> fit_communication(std::span<const TimedSize> points);
/// One of these; absent for too few points.
std::optional<CommunicationFit> fit_communication(std::span<const TimedSize> points,
                                                  const std::string& form);

/// Index of the fit with the least held-out error; one that is better by less than 0.1 percentage
/// point does not replace an earlier, simpler one.
std::size_t choose_fit(std::span<const CommunicationFit> fits);

/// Fitted time at `message`: alpha + beta n + c sqrt(n) of its segment, between two segments of the
/// one nearer by ratio of sizes. Throws std::invalid_argument for a fit without segments.
Seconds evaluate(const CommunicationFit& fit, Bytes message);

/// Time of one operation of `message`. The 95 % interval adds, in quadrature, the ends of alpha's
/// and beta's intervals taken together (too wide: their errors partly cancel) and 2.45 x the
/// held-out error (for normal errors the mean |error| is 0.8 sigma, 1.96 / 0.8 = 2.45). Absent when
/// neither is known. No form extrapolates well beyond its last measured regime: 10 % to 45 % on
/// public tables.
Estimate<Seconds> predict(const CommunicationFit& fit, Bytes message);

/// `fit` of an all-reduce among `measured` >= 2 ranks, carried over to `ranks` >= 1; zero time for
/// one rank.
/// Assumes a ring: 2 (k - 1) steps that each carry n / k bytes, so that alpha grows with (k - 1)
/// and beta with (k - 1) / k; every hop like those measured (one node or one kind of link), and the
/// protocol changes at the same sizes. The sqrt term grows with the geometric mean of both.
/// Source: Thakur, Rabenseifner, Gropp 2005; Chan et al. 2007.
Estimate<Seconds> predict_all_reduce(CommunicationFit fit, int measured, int ranks, Bytes message);

// NCCL's collectives of a run: a line per algorithm and protocol, and the minimum over the lines.

/// One result per (topology, collective, mode, rank count, in place, registered) of comm.nccl, in
/// that order. Points of one size are pooled.
std::vector<AlgorithmResult> analyse_algorithms(const Run& run);

/// The alpha-beta fit of `points`; without segments below 3 points.
CommunicationFit fit_way(const std::vector<CollectivePoint>& points);

/// Index of the line that is fastest at `message` among those that were measured there (largest
/// size within their range; below it a line holds by its alpha). Absent when none was.
std::optional<std::size_t> fastest_line(std::span<const AlgorithmLine> lines, Bytes message);

/// The time of that line.
std::optional<Seconds> system_time(std::span<const AlgorithmLine> lines, Bytes message);

/// The regimes from the smallest to the largest measured size. A boundary is where two lines cross:
/// (alpha2 - alpha1) / (beta1 - beta2), or where a line's measured range ends.
std::vector<AlgorithmRegime> regimes(std::span<const AlgorithmLine> lines);
}  // namespace scaleworth::model
