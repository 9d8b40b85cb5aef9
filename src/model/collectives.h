// SPDX-License-Identifier: Apache-2.0
/// Collectives of a run: points with bandwidths, and fits of time over size.
#pragma once

#include "src/core/run.h"
#include "src/core/units.h"
#include "src/model/laws/classic_laws.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace scaleworth::model {
struct CollectivePoint {
  Bytes message;
  Estimate<Seconds> time;
  BytesPerSecond algorithm_bandwidth;  // nccl-tests algbw
  BytesPerSecond bus_bandwidth;        // nccl-tests busbw
};

/// t = alpha + beta n over a range of sizes.
struct CommunicationSegment {
  Bytes smallest;                 // valid from here ...
  Bytes largest;                  // ... to here
  Estimate<Seconds> alpha;        // per operation
  Estimate<SecondsPerByte> beta;  // per byte
  bool holds = true;              // nine of ten sizes (quarter octaves) are met within 10 %
};

/// A point of a curve: natural logarithms of bytes and of seconds.
struct CurveKnot {
  double size = 0.0;
  double time = 0.0;
};

struct TimedSize {
  Bytes message;
  Seconds time;
};

struct CommunicationFit {
  std::string form;  // "alpha-beta", "curve"
  std::vector<CommunicationSegment> segments;
  std::optional<double> held_out_error;  // mean |relative error| on sizes left out of the fit
  double median_residual = 0.0;          // relative, on the fitted sizes
  std::optional<double> worst_held_out_error = {};
  std::vector<CurveKnot> curve = {};  // the times that are predicted; empty: those of the line
  std::vector<Bytes> outliers = {};   // sizes left out: no neighbour supports their times
  /// The first and the last segment; where one does not hold, the longest range from the smallest
  /// or from the largest size, at least three sizes, in which a line does. They give the start-up
  /// time and the rate that large messages approach.
  std::optional<CommunicationSegment> start = {};
  std::optional<CommunicationSegment> asymptote = {};
  std::vector<TimedSize> end = {};  // from a sixteenth of the largest size on

  /// r_inf = 1 / beta of the asymptote (Hockney 1994); absent where it does not rise with size.
  std::optional<Estimate<BytesPerSecond>> largest_rate() const;
};

struct CollectiveResult {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 2;
  std::optional<std::int64_t> nodes;    // that they stand on, where a job has several
  std::vector<CollectivePoint> points;  // by size
  std::vector<CommunicationFit> fits;
  std::size_t chosen = 0;  // index into fits: least held-out error
};

/// How NCCL performs a collective, in its words; empty where it does not report it.
struct Way {
  std::string algorithm;
  std::string protocol;
  friend auto operator<=>(const Way&, const Way&) = default;
};

/// Of a forced way.
struct AlgorithmLine : Way {
  std::vector<CollectivePoint> points;  // by size, the way forced
  CommunicationFit fit;                 // one alpha-beta line; without segments when not fitted
};

/// Sizes at which one way is the fastest by its line.
struct AlgorithmRegime : Way {
  Bytes smallest;  // measured range, or the boundary to the regime before
  Bytes largest;
};

/// What the library did by itself at one size, the way being what ran.
struct ChosenPoint : Way {
  CollectivePoint point;
  std::optional<BytesPerSecond> wire_bandwidth;  // through one GPU's port, by what ran
  std::optional<Seconds> fastest_line;           // least over the lines
};

/// NCCL's collective on one topology in one mode. Lines and regimes for isolated calls with
/// plain buffers only: there the ways were forced.
struct AlgorithmResult {
  Setting selection;  // which ranks: `selection_text`
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 2;
  bool in_place = false;
  bool shared_gpu = false;              // plumbing: no figure of an interconnect
  std::vector<ChosenPoint> chosen;      // by size
  std::optional<CommunicationFit> fit;  // of `chosen`; absent for too few sizes
  std::vector<AlgorithmLine> lines;
  std::vector<AlgorithmRegime> regimes;  // of the system curve, the minimum over the lines
};

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
double bus_factor(Collective collective, int ranks);

/// Bytes that a ring all-reduce moves per byte of the buffer and rank.
constexpr double ring_traffic(int ranks) {
  return 2.0 * (ranks - 1) / ranks;
}

/// How long a node's exchange of data with another took; nodes are numbered from 0.
struct PairTime {
  int a = 0;
  int b = 0;
  Seconds time;
};

/// A node that is slow to all others, or one way between two nodes that are not.
struct SlowLink {
  int node = 0;
  std::optional<int> other;
  double times = 1.0;  // as long as is usual
  Seconds usual;
};

/// Nodes first, by number. A node's time is the median over its partners without the two slowest
/// (without one of three, none of one), so that one or two other nodes at fault do not make it
/// slow; usual is the lower quartile over nodes. Slow is what lies 10 % above it, and two
/// deviations of pairs (from their median absolute deviation); a pair 10 % and five above its
/// slower node. Nothing for fewer than three nodes: of two, each could be at fault.
std::vector<SlowLink> find_slow_links(std::span<const PairTime> pairs);

/// Of the large messages that nodes of the run exchanged in pairs: the lower quartile of each pair,
/// which other programs disturb least.
std::vector<SlowLink> slow_links(const Run& run);

/// What a message between two ranks takes, alpha + bytes / rate, where they stand on one node or on
/// two; or an all-reduce over all nodes.
struct LinkLevel {
  enum class Reach : std::uint8_t { within_node, between_nodes, all_reduce } reach;
  Estimate<Seconds> alpha;
  Estimate<BytesPerSecond> rate;
};

/// Of the pairs that a run of several nodes exchanged messages in, each pair's median: the time of
/// 8 B, and the rate from 256 KiB to 1 MiB, by which the start of a stream drops out; the median
/// over pairs. With N nodes of p ranks each the all-reduce of n bytes that first reduces within the
/// nodes (rings; Thakur, Rabenseifner, Gropp 2005), by links that a node's ranks share:
///   t(n) = 2 (p - 1) alpha_w + 2 (p - 1) / p n / rate_w
///        + 2 (N - 1) alpha_b + 2 (N - 1) / N n / rate_b
/// Empty for one node.
std::vector<LinkLevel> link_levels(const Run& run);

/// One result per (collective, mode, rank count) of comm.collectives. A time is the median over
/// repetitions of the slowest rank's, with the interval of `series_estimate`; repeated sizes are
/// pooled. Settings with fewer than two ranks do not communicate and are left out. Throws
/// UserError, as `analyse_algorithms` does, when a point lacks a field or `bus_factor` does not
/// know it.
std::vector<CollectiveResult> analyse_collectives(const Run& run);

// Time of a collective as a function of its size: a line, or a curve that lines explain.

inline constexpr const char* form_alpha_beta = "alpha-beta";
inline constexpr const char* form_curve = "curve";

/// Both fits of `points` (ascending sizes, no duplicates, positive), from three points on:
///   alpha-beta   t = alpha + beta n  (Hockney 1994)
///   curve        through the measured times; its segments are alpha-beta lines over one to four
///                ranges of at least three sizes, which explain it and do not predict
/// Stray rows are taken out first and named: those 28 % outside what both neighbours continued and
/// joined give. Lines: coefficients >= 0, Huber's loss of the relative error (`fit_relative`).
/// Intervals of alpha and beta: Student t from that regression's robust covariance, so they contain
/// misfit as well as noise, given the boundaries; absent for a coefficient at 0.
/// `held_out_error`, `worst_held_out_error`: |relative error| at each size but the ends of the same
/// form fitted to every other size: interpolation within one run over twice the spacing, not
/// variation between runs; absent below six points. The time of a size between two that use
/// different protocols stays unknown by the step between them.
std::vector<CommunicationFit> fit_communication(std::span<const TimedSize> points);
/// One of these; absent for too few points.
std::optional<CommunicationFit> fit_communication(std::span<const TimedSize> points,
                                                  const std::string& form);

/// Index of the fit to predict with: the line where it holds and the curve's held-out error is not
/// less by more than 0.1 percentage point, its worst not by more than 5.
std::size_t choose_fit(std::span<const CommunicationFit> fits);

/// Fitted time at `message`: of the curve, else of the segment's line. Beyond the measured sizes
/// the line through the curve's end. Throws std::invalid_argument for a fit without segments.
Seconds evaluate(const CommunicationFit& fit, Bytes message);

/// n_1/2: the message from which `message` / time is at least half of the largest rate, by the
/// fitted times between the measured sizes; alpha / beta where one line holds. Absent without that
/// rate, or where the smallest message already reaches half.
std::optional<Bytes> half_rate_message(const CommunicationFit& fit);

/// Time of one operation of `message`. The 95 % interval is 2.45 x the held-out error (for normal
/// errors the mean |error| is 0.8 sigma, 1.96 / 0.8 = 2.45); of a line it adds, in quadrature, the
/// ends of alpha's and beta's intervals taken together (too wide: their errors partly cancel);
/// between two ranges of a curve it reaches to both ranges' lines. Absent when neither is known.
/// Beyond the largest size the rate may still rise or not: the geometric mean of c0 + c1 n and of
/// c0 sqrt(n) + c1 n (c >= 0, relative least squares), each over the sizes from a quarter and from
/// a sixteenth of the largest on; the interval spans them, and the held-out error at least. No form
/// sees a regime that begins beyond the measured sizes.
Estimate<Seconds> predict(const CommunicationFit& fit, Bytes message);

/// Whether a size counts among the large ones of a sweep up to `largest`: within a factor of eight.
bool is_large(Bytes message, Bytes largest);

/// Bus bandwidth of large messages: the median over the sizes from an eighth of the largest of
/// `points`, which an outlier does not move. Measured, not extrapolated from a fitted beta.
BytesPerSecond large_bus_bandwidth(const std::vector<CollectivePoint>& points);

/// Who takes part: ranks, on so many nodes that hold as many each.
struct RankLayout {
  int ranks = 2;
  int nodes = 1;
  int per_node() const { return (ranks + nodes - 1) / nodes; }
  friend auto operator<=>(const RankLayout&, const RankLayout&) = default;
};

/// Time of a collective on one layout over its size, as measured.
struct LayoutCurve {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  RankLayout layout;
  CommunicationFit fit;
  Bytes largest;  // measured size
};

/// Between two measured counts that differ in no other count the regime changes.
struct LayoutChange {
  Collective collective = Collective::all_reduce;
  RankLayout from;
  RankLayout to;
  double times = 1.0;  // as long for each byte that passes a link
};

/// The time of a collective among any ranks: on a measured layout by its curve (`predict`),
/// isolated calls first, else from curves whose layouts differ in one count k, ranks of one node or
/// nodes of as many ranks each. The start-up time of the smallest messages by a law over the
/// measured counts,
///   alpha(k) = a0 + a1 (k - 1) + a2 log2(k)   launch, hops of a ring, levels of a tree; a >= 0,
/// by relative least squares (from two counts without a2); its interval spans a0 + a1 (k - 1) and
/// a0 + a2 log2(k). One measured count m leaves growth unknown: between none and (k - 1) / (m - 1),
/// of which the value is the geometric mean. The rest, for each byte that passes a link of a ring,
/// (n - 1) / n of n ranks, is interpolated over log k; beyond the largest count it lies between
/// that count's and c0 + c1 log2(k). A step between two counts by 25 % or more, and three times
/// that of any other gap, is a change of regime: between the two the interval holds both, beyond it
/// the law takes the counts behind it only. Nothing over links, or on nodes of so many ranks (the
/// last one may hold fewer), that no layout had. Zero for one rank. Source: Hockney 1994; Thakur,
/// Rabenseifner, Gropp 2005; Chan et al. 2007.
class CommunicationModel {
 public:
  /// `node`: ranks of one node, where it is known.
  CommunicationModel() = default;
  explicit CommunicationModel(std::vector<LayoutCurve> curves, std::optional<int> node = {});

  std::optional<Estimate<Seconds>> time(Collective collective,
                                        const RankLayout& layout,
                                        Bytes message) const;
  /// Among so many ranks, by isolated calls first, or of `mode`; null where it was not measured.
  const LayoutCurve* measured(Collective collective,
                              int ranks,
                              std::optional<CollectiveMode> mode = {}) const;
  /// Of so many ranks: as they were measured, else they fill one node after the other.
  RankLayout layout(Collective collective, int ranks) const;
  /// At the largest size that all counts have.
  std::vector<LayoutChange> changes() const;
  /// Of isolated calls by a number of ranks; empty without any.
  std::function<std::optional<Estimate<Seconds>>(Bytes, int)> all_reduce() const;

 private:
  std::vector<LayoutCurve> curves_;  // isolated calls first, then by layout
  std::optional<int> node_;
};

/// What a recording names; of what is known to be communication and not which, an all-reduce.
Collective collective_of(CollectiveKind kind);

CommunicationModel communication_model(const Run& run);
/// Of its results.
CommunicationModel communication_model(const Run& run,
                                       const std::vector<CollectiveResult>& collectives,
                                       const std::vector<AlgorithmResult>& algorithms);

// An all-reduce by stated latency and bandwidth, in each of the ways that libraries do it.

/// Of one message between two ranks, in one direction; each rank sends and receives at once.
struct HopCost {
  Seconds latency;           // alpha
  BytesPerSecond bandwidth;  // 1 / beta
};

struct StatedFabric {
  HopCost hop;                         // between any two ranks
  int group = 1;                       // ranks that faster links join; 1: none
  std::optional<HopCost> inside = {};  // of these links; absent: as `hop`
};

enum class Schedule { ring, double_tree, recursive_doubling, halving_doubling, hierarchical };

/// The all-reduce of n bytes among p ranks; w = n beta, the time of the whole message on one hop:
///   ring                 2 (p - 1) alpha + 2 (p - 1) / p w
///   recursive doubling   log2(p) (alpha + w)
///   halving, doubling    2 log2(p) alpha + 2 (p - 1) / p w
///   double binary tree   4 (h + k) (alpha + w / (2 k)), h = ceil(log2 p) levels, k = sqrt(h w / (2
///                        alpha)) blocks in each tree, one at least: 4 h alpha + 2 w + 2 sqrt(8 h
///                        alpha w), a reduction and a broadcast
///   hierarchical         ring halves within groups of g, 2 (g - 1) (alpha + w / g) of their links,
///                        and between them the fastest of the others with n / g bytes of each rank
/// Both recursive ways fold p that is no power of two to the next smaller one: 2 (alpha + w) more.
/// Among more ranks than a group all others but the hierarchical go at the pace of the slow links.
/// The arithmetic of the sum is left out, and links that several messages share.
/// Absent for a hierarchy where groups do not divide the ranks into two groups at least.
/// Sources: Hockney 1994 (alpha, beta); Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005); Sanders,
/// Speck, Traeff, Parallel Computing 35 (2009), theorems 1 and 2. Throws UserError for fewer than
/// two ranks and terms that are not positive.
std::optional<RingTime> schedule_time(Schedule schedule,
                                      const StatedFabric& fabric,
                                      Bytes message,
                                      int ranks);

struct PricedWay {
  Schedule schedule = Schedule::ring;
  RingTime time;
};
/// Fastest first.
std::vector<PricedWay> price_all_reduce(const StatedFabric& fabric, Bytes message, int ranks);

struct AllReduceQuestion {
  StatedFabric fabric;
  Bytes message;
  int ranks = 8;
  std::optional<Seconds> compute = {};  // of a step at one rank, which the ranks share
};

struct AllReduceAnswer {
  std::vector<PricedWay> ways;  // of what is asked, fastest first
  /// The fastest from a size on at the ranks asked for (1 B to 1 TB, to 0.2 %), and from a count
  /// on, of powers of two to 65536, with the message asked for.
  std::vector<std::pair<double, Schedule>> by_size;
  std::vector<std::pair<int, Schedule>> by_count;
  /// Of ring and double tree alone, the two that NCCL has: the largest message that the tree is
  /// faster with, and the first count from which on it is; absent: none.
  std::optional<double> tree_below;
  std::optional<int> tree_from;
  /// The first count from which on the fastest way takes longer than the compute of each rank;
  /// absent without compute and where it does at no count up to 65536.
  std::optional<int> exceeds_compute;
};
AllReduceAnswer answer_all_reduce(const AllReduceQuestion& question);

// NCCL's collectives of a run: a line per algorithm and protocol, and the minimum over the lines.

/// One result per (topology, collective, mode, rank count, in place) of comm.nccl, in
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
