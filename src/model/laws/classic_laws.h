// SPDX-License-Identifier: Apache-2.0
/// Amdahl, Gustafson, ring, micro-batches, work and depth.
#pragma once

#include "src/model/laws/model_selection.h"

#include <optional>

namespace scaleworth::model {
struct SpeedupPoint {
  double count = 1.0;
  double speedup = 1.0;
};

/// Amdahl's law by plain least squares, the textbook's fit, which others print: minimises
/// sum_i ((1/S_i - 1/p_i) - s (1 - 1/p_i))^2 over s for counts over the baseline's. Every row
/// weighs the same and the baseline counts as exact, so it is no match for `fit_contention`. Absent
/// without a row beyond the baseline.
std::optional<double> plain_amdahl_serial(const std::vector<SpeedupPoint>& rows);

/// S(p) = 1 / (s + (1 - s) / p). Source: Amdahl, AFIPS 30 (1967).
double amdahl_speedup(double serial, double count);

// Gustafson's law fitted to weak scaling: the serial part of the time of the parallel run.
//   S(K) = K - s (K - 1), Gustafson, CACM 31 (1988)

struct GustafsonFit {
  double single = 0.0;  // time of the work at one rank, s
  /// s with its 95 % profile interval on n - 2 degrees of freedom; cut at 0 and 1.
  Estimate<double> serial;
  double residual = 0.0;       // root mean square of the relative residuals
  double largest_count = 1.0;  // of the points
  /// What Amdahl's law would use for the problem as large as at that count: s is a part of the
  /// parallel run's time there, s_A = s / (s + K (1 - s)) of the time at one rank.
  double amdahl_serial = 0.0;
};

/// `points` hold the time of the same work at each count, as for the other laws: for weak scaling
/// the time of a row over the growth of its work. Least squares of the relative error of the work
/// rate per rank, 1 / (K T) = g ((1 - s) + s / K), 0 <= s <= 1, g free. Absent for fewer than three
/// different counts: through two any such law passes, and nothing would say how far it is off.
/// Throws UserError for a time that is not positive.
std::optional<GustafsonFit> fit_gustafson(const std::vector<TimePoint>& points);

/// The step time of a fixed layout against its number m of micro-batches: T = a m + b. Intervals
/// need a third run; two are met exactly and say nothing of their error.
struct MicroBatchFit {
  Estimate<double> per_micro_batch;  // a, s
  Estimate<double> fixed;            // b, s: pipeline bubbles, gradients, optimizer
  /// b / a: what is lost per step, in micro-batches; a pipeline of p stages without interleaving
  /// alone loses p - 1. Absent for a = 0.
  std::optional<double> lost_micro_batches;
  double residual = 0.0;  // root mean square of the relative residuals
};

/// Of steps of m = batch / (replicas x micro-batch size) micro-batches per data-parallel replica:
/// a, b >= 0 by robust relative least squares (`fit_relative`). Holds for one layout of the
/// replica: with other tensor or pipeline degrees a and b are others. Below as many micro-batches
/// as pipeline stages memory and overlap change, and the law with them.
/// Absent for fewer than two different numbers. Throws UserError for a number or a time that is not
/// positive.
std::optional<MicroBatchFit> fit_micro_batches(const std::vector<TimePoint>& points);

// Amdahl's law with the communication known from measured latency and bandwidth.
//   T(K) = T1 (s + (1 - s)/K) + messages (2 (K-1) alpha + 2 (K-1)/K n beta)

/// alpha-beta terms of one collective, as measured by `scaleworth comm`.
struct MessageTerms {
  Seconds latency;           // alpha, of one hop
  BytesPerSecond bandwidth;  // 1/beta, of one link and direction
  Bytes message;             // n, of one call, one rank's buffer
};

/// Ring all-reduces among the ranks. All exposed.
struct RingCost {
  MessageTerms each;
  double messages = 1.0;  // in the time of a row
};

/// Different remedies touch the two: fewer and larger messages, or fewer bytes.
struct RingTime {
  Seconds latency;
  Seconds bandwidth;
  Seconds total() const { return latency + bandwidth; }
};

/// Zero for one rank. Source: Thakur, Rabenseifner, Gropp 2005. Throws UserError for a count below
/// one or a cost that is negative.
RingTime ring_time(const RingCost& cost, double ranks);

/// `work`: time of all operations at one rank; `depth`: of the longest chain that depends on
/// itself.
struct WorkDepth {
  Seconds work;
  Seconds depth;
};

/// max(W/p, D) <= T_p <= W/p + D for greedy scheduling; a measured time above it is overhead that
/// no dependency explains: communication, imbalance, host. Source: Brent, JACM 21 (1974). Throws
/// UserError for work or depth that is not positive, depth above work, or a count below one.
Interval<Seconds> work_depth_bounds(const WorkDepth& of, int ranks);

/// What the user knows beside the table.
struct LawInputs {
  std::optional<RingCost> ring;
  std::optional<WorkDepth> work_depth;
};

struct BoundRow {
  int count = 1;
  Seconds measured;  // of the same work
  Interval<Seconds> bounds;
  double above = 0.0;  // measured over the upper bound - 1
};

/// Laws that need more than counts and times.
struct FurtherLaws {
  std::optional<GustafsonFit> gustafson;  // weak scaling, three counts at least
  /// Of rows with micro-batches and one layout of the replica, two at least.
  std::optional<MicroBatchFit> micro_batches;
  std::vector<BoundRow> bounds;  // with work and depth
  /// That the inputs add to the laws of the rows.
  std::vector<LawFamily> families;
  /// The only laws where the form is known: micro-batches in one layout of the replica, with the
  /// batch fixed or in proportion to the replicas (within 1 %).
  std::vector<LawFamily> known_families;
};

/// Throws UserError for inputs out of their range.
FurtherLaws further_laws(const std::vector<DecisionRow>& rows,
                         Scaling scaling,
                         const LawInputs& inputs);

/// A set of terms of the count ratio; `ideal` is among them.
struct ShapeFamily {
  std::string name;
  std::vector<LawTerm> terms;
};

struct ShapeFit {
  std::string name;
  LinearLaw law;
  bool holds = true;  // not refuted by the rows

  /// What a term keeps from being ideal: its value at `ratio` less its value at 1 over `ratio`, s.
  double lost(const LawTerm& term, double ratio) const;
};

struct ShapeFits {
  std::vector<ShapeFit> fits;         // one per family
  std::optional<double> relative_sd;  // of one time; absent: too few rows
  double degrees = 0.0;               // of that spread; 0 where repeats were not counted
  /// Whether a sum of squared relative residuals with so many terms fewer than the richest family
  /// is no more than noise.
  bool holds(double squares, std::size_t fewer_terms) const;
  double richest_squares = 0.0;
};

/// Each family by least relative squares with non-negative terms. The last family is the richest
/// and holds the others' terms; a family is refuted (5 %, F test with the degrees of freedom of the
/// noise; chi-squared where these were not counted) when its squares exceed the richest one's by
/// more than noise. The noise is that of the repeats where every row has any and the richest family
/// misses the rows by no more, else the richest one's residuals. With no more rows than the richest
/// has terms and no measured spread nothing is refuted.
ShapeFits fit_shapes(const std::vector<TimePoint>& points,
                     const std::vector<ShapeFamily>& families);

/// The share of the loss at `ratio` that is level, from the fits that hold: the least and the
/// greatest of their own shares and of the central 95 % of parametric bootstrap draws of each.
/// Absent without a spread of the times, or where nothing was lost.
std::optional<Interval<double>> level_share(const std::vector<TimePoint>& points,
                                            const ShapeFits& fits,
                                            double ratio);

/// A fit's own share at `ratio`; absent where it sees no loss.
std::optional<double> level_share(const ShapeFit& fit, double ratio);
}  // namespace scaleworth::model
