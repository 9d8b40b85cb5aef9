// SPDX-License-Identifier: Apache-2.0
/// Types of losses, gap, cause, knee, remedy.
#pragma once

#include "src/model/decision/choice.h"
#include "src/model/laws/classic_laws.h"
#include "src/model/laws/model_selection.h"

#include <array>
#include <optional>

namespace scaleworth::model {
/// One row's gap from ideal, from the table's parts.
struct RowLoss {
  int count = 1;
  double missing = 0.0;  // lost speed-up: count ratio - speed-up
  GroupTimes lost_s{};   // part - the baseline's part, growth of work and count taken into account
  std::optional<double> without_communication;  // speed-up, had it taken no time
  std::optional<double> without_idle;
};

/// One row per row beyond the baseline that has parts, as has the baseline; else none.
std::vector<RowLoss> row_losses(const std::vector<DecisionRow>& rows);

/// From which count on communication takes longer than compute, for good.
struct Crossing {
  int before = 1;  // measured counts around it; beyond the largest that one and none
  std::optional<int> after;
  double at = 1.0;
  std::optional<double> low;  // 95 % interval of `at`; absent: exact
  std::optional<double> high;
};

/// ln(communication / compute) against ln(count) as a line between measured counts and, up to four
/// times the largest, along the last two of three or more. The interval holds the noise of the two
/// ratios (spread of repeats, else `presumed_run_noise`) and the curvature c of the neighbours:
/// t (1 - t) c h^2 / 2 within an interval h of ln(count), at t of it; c d (d + h) at d beyond. Of
/// two counts without neighbours it is the gap between them; `high` is absent where the ratio may
/// never reach 1. On simulated curves (ring, tree and mixed costs; noise of 0.5 to 5 %) it held the
/// truth in 96 to 98 % within and 94 to 98 % beyond. Absent without parts, and where communication
/// never takes longer, or does from the first count on.
std::optional<Crossing> communication_overtakes(const std::vector<DecisionRow>& rows);

/// The root of c (K - 1) = s + (1 - s) / K; absent without communication.
std::optional<Crossing> communication_overtakes(const Coefficients& coefficients);

/// The work that keeps an efficiency, computing over the whole time of a rank, at a count.
struct KeptWork {
  int count = 1;
  double growth = 1.0;  // over the baseline's work
};

/// With o(K) what a row's time has beside compute, taken not to grow with the work, and c the
/// baseline's compute, divided evenly: E = w c / (w c + o(K)) for w of the baseline's work on each
/// rank, so that W(K) / W(K0) = (K / K0) E / (1 - E) o(K) / c. Of rows beyond the baseline with
/// such a part. Source of the question: Grama, Gupta, Kumar, Isoefficiency, IEEE P&DT 1 (1993).
std::vector<KeptWork> isoefficiency(const std::vector<DecisionRow>& rows, double efficiency);

/// One sentence per reason for rows whose efficiency lies above 1 with its whole interval (with its
/// value, where there is none): the part of the baseline that shrank by more than the counts,
/// another layout, a single run that may be noise, or what else is known to do it. Such rows are
/// never clipped.
std::vector<Finding> superlinear_remarks(const std::vector<DecisionRow>& rows);

/// Whether the compute part of a table is serial work or kernels that grow less efficient.
struct ComputeSplit {
  std::vector<TimePoint> points;
  ShapeFits fits;         // of {1/r, 1}, {1/r, log2(r)/r} and both; the last is the richest
  double serial_s = 0.0;  // level part by the richest fit, at every count
};

/// Of the rows from the baseline on that have parts, for the same work. Serial work keeps its time,
/// a slow-down shrinks like log2(r)/r. Absent below four such rows.
std::optional<ComputeSplit> split_compute(const std::vector<DecisionRow>& rows);

/// Share of a ring all-reduce that is latency, T = 2 (K-1) alpha + 2 (K-1)/K n beta:
///   alpha / (alpha + n beta/K),
/// which does not depend on the number of calls. Assumes that exposed communication divides as the
/// whole does. Throws UserError for a term that is not positive or `count` below 2.
/// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005).
double latency_share(const MessageTerms& terms, int count);

/// n = alpha K/beta: messages below it are mostly latency.
Bytes balanced_message(const MessageTerms& terms, int count);

enum class Cause {
  serial,         // does not shrink with the count
  communication,  // measured, or a law's coefficient that means it
  level,          // does not shrink: serial work or the transfers of a ring, alike in totals
  overhead,       // grows with the count: communication or waiting, which totals do not separate
  idle,           // waiting for others: uneven load, barriers
  host,           // processors without work because their host was late
  io,
  slowdown  // compute that shrinks, but less than the count grows
};
constexpr auto enum_words(Cause) {
  return std::array{Word{"serial", "serial work"},
                    Word{"communication", "communication"},
                    Word{"level", "serial work or communication that does not shrink"},
                    Word{"overhead", "growing overhead"},
                    Word{"idle", "idle"},
                    Word{"host", "host"},
                    Word{"io", "I/O"},
                    Word{"slowdown", "compute slow-down"}};
}

/// The part of the time in which a cause is seen; compute that serial work has no part in.
struct PartCause {
  Cause cause;
  PartGroup part;
};
inline constexpr std::array part_causes{PartCause{Cause::communication, PartGroup::communication},
                                        PartCause{Cause::idle, PartGroup::idle},
                                        PartCause{Cause::host, PartGroup::host},
                                        PartCause{Cause::io, PartGroup::io},
                                        PartCause{Cause::slowdown, PartGroup::compute}};

struct CauseLoss {
  Cause cause = Cause::serial;
  double lost_s = 0.0;  // above zero
  double share = 0.0;   // of all losses above zero
  /// Least and greatest share that the rows do not refute, where a fit decides it.
  std::optional<Interval<double>> spread{};
};

/// The gap from ideal at a count, divided by cause.
struct Gap {
  int count = 1;
  double lost_s = 0.0;                  // time - ideal time of the same work
  std::vector<CauseLoss> losses;        // largest first; empty where nothing was lost
  std::optional<double> latency_share;  // of the communication, where its message is known

  double share(Cause cause) const;  // 0 where it lost nothing
};

/// From the parts of the table, for each of `losses`, which are those of `rows`. Compute's loss is
/// divided by `split` into serial work and slow-down where the rows separate them; else it is
/// slow-down.
std::vector<Gap> part_gaps(const std::vector<DecisionRow>& rows,
                           const std::vector<RowLoss>& losses,
                           const std::optional<ComputeSplit>& split,
                           const std::optional<MessageTerms>& message);

/// Of totals with a ring's time known by its terms: communication is what it takes beyond the
/// baseline's, at most the whole gap; the remainder is `rest`.
Gap ring_gap(const DecisionRow& row, const DecisionRow& baseline, const RingCost& ring, Cause rest);

/// Divides a gap's compute slow-down at a ratio of counts into what `split` says is serial work,
/// and the rest; with the spread of the fits where they are asked for. As it is without `split`.
void divide_slowdown(Gap& gap, double ratio, const std::optional<ComputeSplit>& split, bool spread);

/// By what coefficients mean: T1 s (1 - 1/K) is serial, T1 c (K - 1) communication.
Gap coefficient_gap(const Coefficients& coefficients,
                    int count,
                    const std::optional<MessageTerms>& message);

/// The POP factors of one count as shares of its gap: a factor f of the product takes
/// ln f / ln(product). Load balance and dependency are idle, transfer is communication; the growth
/// of the useful time (all ranks together, over the growth of the work) is compute slow-down. Each
/// factor counts relative to the baseline's. Factors above 1 are left out, and the rest is the
/// whole. `lost_s` is runtime (1 - efficiency), relative to the baseline's; without losses where
/// that is not above zero. Throws UserError for a factor that is not positive or no useful time.
/// Source: POP Centre of Excellence, "POP Standard Metrics".
Gap pop_gap(const Efficiency& at, int count, const Efficiency& baseline, double work_growth);

/// The cause of the gap from ideal at the largest count.
struct ScalingCause {
  std::optional<Cause> owner;  // explains >= 80 % of the loss
  double explained = 0.0;      // share of the loss explained by `owner`, or by the largest part
  std::vector<std::pair<Cause, double>> mixture;  // share of the loss by cause, adds to 1
};

/// The owner where one cause holds at least `explains_enough` of the gap (by the whole of
/// its spread), else the mixture. Absent where nothing was lost.
std::optional<ScalingCause> gap_cause(const Gap& gap);

/// How one fit divides the missing speed-up r - S at the largest count ratio r.
struct LawReading {
  std::string fit;
  double serial = 0.0;          // s
  double serial_folds = 0.0;    // r - S with the serial part alone
  double overhead_folds = 0.0;  // what the overhead takes beyond; a law without one: the rest
  double unexplained_folds = 0.0;
  double serial_share = 0.0;  // of the lost seconds, in 0 to 1
  double residual = 0.0;      // root mean square, relative
  bool holds = true;          // not refuted by the rows
};

struct LawSpread {
  int count = 1;         // the largest
  double missing = 0.0;  // lost speed-up
  std::vector<LawReading> readings;
  /// Serial share by the readings that hold, noise left out; absent where none does.
  std::optional<Interval<double>> by_fits;
  /// The same with their draws; absent where the rows do not show their noise.
  std::optional<Interval<double>> serial_share;
  Gap gap;         // by the law with c or with a logarithm, whichever fits better, with the spread
  ShapeFit fit{};  // that law
};

/// Four fits of the rows from the baseline on:
///   Amdahl by plain least squares (the textbook's; the baseline counts as exact),
///   Amdahl, Amdahl with c (K - 1) and Amdahl with a logarithm, by least relative squares with T1
///   free and terms >= 0.
/// A fit is refuted by `fit_shapes` against all four terms. The lost seconds of a law are additive:
/// T1 s (1 - 1/r) and the overhead's term; lost speed-ups are not, the serial part comes first.
/// Absent below four such rows.
std::optional<LawSpread> law_spread(const std::vector<DecisionRow>& rows);

/// Of the loss at `ratio`, what is level rather than falling short (log2(r)/r), in 0 to 1, by the
/// times alone: every share whose best fit, with T1 and the size of the loss free, is not worse
/// than the free one by more than 10 % on one side allow (Student's t with the residuals' degrees
/// of freedom; the normal distribution where `fits` hold a measured spread). A share is a linear
/// hypothesis on the three terms, so that the error is met exactly for normal relative noise
/// (Fieller 1954). One value where even the nearest share is refuted: the times bend more than
/// either growth. The whole of 0 to 1 where the terms see no loss. `fits` are those of `points`,
/// the richest of ideal, level and falling short. Absent without a spread of the times.
std::optional<Interval<double>> level_share_profile(const std::vector<TimePoint>& points,
                                                    const ShapeFits& fits,
                                                    double ratio);

/// Where a scaling curve bends, by definitions that do not depend on the range that was measured.
enum class KneeKind {
  efficiency,      // the last count with E(K) >= theta
  speed_per_rank,  // maximum of S E = S^2/K, that is the least time x ranks x time
  cost,            // minimum of (K p + f) W(K), W the wall time with what interrupts the job
  peak             // minimum of W(K)
};
constexpr auto enum_words(KneeKind) {
  return std::array{Word{"efficiency threshold", "efficiency"},
                    Word{"speed-up x efficiency", "largest speed-up x efficiency"},
                    Word{"cost", "least cost"},
                    Word{"peak", "fastest"}};
}
inline constexpr double default_knee_threshold = 0.5;

struct Knee {
  KneeKind kind = KneeKind::efficiency;
  std::optional<int> count{};        // whole; absent where the curve never gets there
  std::optional<double> position{};  // continuous; absent as `count`, and where rows do not show it
  double low = 1.0;                  // the interval, of the meaning that the set states
  std::optional<double> high{};      // absent: no upper end
  bool beyond = false;               // outside the counts that were measured
};

struct KneeRequest {
  double threshold = default_knee_threshold;  // theta, in (0, 1]
  bool threshold_given = false;
  std::optional<Prices> prices;
  int baseline = 1;                  // E is relative to this count
  std::optional<int> smallest = {};  // measured; absent for a curve that was not
  std::optional<int> largest = {};
  WallTime wall = {};             // of costs and the peak; empty: the time itself
  double reach = farthest_count;  // a knee there or beyond it is none
};

/// Of any curve, s against the count: where E(K) falls to theta first, and the least of
/// the rest, on a grid of eight counts a doubling from 1 to the reach, then by bisection;
/// derivatives by central differences. `low` and `high` are the 2.5 % and 97.5 % quantiles of the
/// draws' own knees together with the value itself; without draws the value alone. A definition
/// that no count meets (theta above 1) is left out.
std::vector<Knee> law_knees(const TimeAt& time,
                            const std::vector<TimeAt>& draws,
                            const KneeRequest& request);

/// The position of the curve's knee of least cost, undisturbed. 1 where cost rises from there on;
/// absent where it falls for ever, or without prices.
std::optional<double> continuous_optimum(const Coefficients& coefficients, const Prices& prices);

/// By rows alone (ascending, the baseline among them): the best row, and as `low` and `high` the
/// measured counts between which the knee lies if the curve has one bend: for the efficiency the
/// row that meets the threshold and the next one, for the rest the neighbours of the best row. Open
/// above where the best row is the last. The efficiency's position is interpolated in log K.
std::vector<Knee> measured_knees(std::vector<TimePoint> rows, const KneeRequest& request);

/// Null where none is of the kind.
const Knee* find_knee(const std::vector<Knee>& knees, KneeKind kind);

/// All knees of one curve and what they were read from.
struct KneeSet {
  KneeRequest request;
  std::optional<Finding> basis{};     // from what, and what `low` and `high` mean
  bool by_law = true;                 // false: rows alone
  std::optional<CombinedLaw> laws{};  // without draws; absent: rows alone, or coefficients
  std::vector<Knee> knees{};

  bool exact() const { return by_law && !laws; }  // of coefficients
};

/// Of the rows: by their `laws`, whose draws are the intervals, up to `farthest_extrapolation`
/// times the largest count; without laws between the rows. No knees below two rows from the
/// baseline on.
KneeSet table_knees(const std::vector<DecisionRow>& rows,
                    KneeRequest request,
                    std::optional<CombinedLaw> laws);

/// Of coefficients, which are taken as exact.
KneeSet curve_knees(const Coefficients& coefficients, const KneeRequest& request);

/// The rows from the baseline on as knees are read from them, each with the spread of its median.
std::vector<TimePoint> knee_rows(const std::vector<DecisionRow>& rows);

/// What would move the knee, and what would not: the curve again with one cause taken away.
struct Remedy {
  Cause cause = Cause::serial;
  Knee before;  // of the kind that all remedies are judged by
  Knee after;
  /// Of the bill at the cost optimum, else of the time at the knee; absent where either is nowhere.
  std::optional<double> saved;
  /// The count changes, by more than 5 % where the position is continuous. Absent where the knee is
  /// the largest row's count, read by rows alone: it may lie beyond with and without the change.
  std::optional<bool> moves;
};

/// The knee that remedies are judged by: the cost optimum where a wall-clock price makes it depend
/// on the curve, else the efficiency threshold.
KneeKind judged_by(const KneeRequest& request);

/// The change that takes a cause away, of communication by what its latency takes of it.
Finding remedy_of(Cause cause, const std::optional<double>& latency_share = {});

/// Why a curve bends where it does, and what would move the bend.
struct Diagnosis {
  std::vector<Gap> gaps;        // by parts or coefficients; empty where the table has only totals
  std::optional<Gap> decisive;  // at the count whose cause is asked for
  std::optional<LawSpread> spread;    // of measured rows
  std::optional<ScalingCause> cause;  // at the count asked for
  bool by_law = false;                // the cause stands on fits alone, not on parts
  bool by_terms = false;              // on totals and the ring's latency and bandwidth
  std::optional<Finding> no_cause;    // why there is none
  bool no_loss = false;  // parts are known and lost nothing beyond the noise: no cause is missing
  /// Of the compute part, else of totals whose cause is named: what is serial, and overhead.
  std::optional<ShapeFit> fit{};
  std::vector<Remedy> remedies;  // the most effective first
  // Of recordings alone.
  std::vector<Gap> factor_gaps;  // by POP factors, relative to the baseline's
  bool by_factors = false;       // `decisive` and `cause` are theirs
  /// Where they and the parts show different causes, or why they lack.
  std::optional<Finding> factor_note;
  std::optional<Finding> straggler;  // for whom the others wait at the count asked for, and why
};

/// Of measured rows. With parts the cause is theirs, at the largest count. With totals alone it is
/// named only where every fit that holds, and 95 % of its draws, give one owner at least
/// `explains_enough`, and never as serial work: a ring's 2 (K-1)/K n beta has Amdahl's form. With a
/// known ring the gap is divided into its time and the rest where totals name the cause, or where
/// the ring is `explains_enough` of it. `predictable` is false beyond a cliff, where no law says
/// anything.
Diagnosis diagnose_table(const std::vector<DecisionRow>& rows,
                         const std::vector<RowLoss>& losses,
                         bool predictable,
                         const std::optional<MessageTerms>& message,
                         const std::optional<RingCost>& ring = {});

/// The rows without their communication, idle, host or I/O time, with half the serial work of
/// `diagnosis.fit`, with compute as efficient as at the baseline; each alone. Of totals with a
/// named cause that fit's serial work and overhead, where the laws that hold (95 % of their weight)
/// have serial work too. Read as the knees were: by all laws fitted to the changed rows (at most
/// 64) with their draws, or by the rows alone. The most effective first; none where the knee is
/// nowhere.
std::vector<Remedy> table_remedies(const std::vector<DecisionRow>& rows,
                                   const Diagnosis& diagnosis,
                                   const KneeSet& knees);

/// The curve with c = 0, and with half its serial work (s/2; what is saved is done in parallel).
std::vector<Remedy> curve_remedies(const Coefficients& coefficients, const KneeRequest& request);

/// Brings in what recordings show: the gaps by POP factors, which then decide on the cause where
/// both the baseline and the largest count have them, and the straggler there. Shares of a cause
/// that differ from the additive parts' by more than 10 points are noted: factors follow waiting
/// back to what it waited for, parts do not.
void add_ledgers(Diagnosis& diagnosis,
                 const std::vector<DecisionRow>& rows,
                 const std::vector<LedgerFacts>& ledgers);

/// Of coefficients, at `count`; gaps at `shown`.
Diagnosis diagnose_curve(const Coefficients& coefficients,
                         int count,
                         const std::vector<DecisionRow>& shown,
                         const KneeSet& knees,
                         const std::optional<MessageTerms>& message);
}  // namespace scaleworth::model
