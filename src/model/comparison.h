// SPDX-License-Identifier: Apache-2.0
/// What differs between two runs: a join of their figures on metric and setting.
#pragma once

#include "src/core/attribution.h"
#include "src/core/catalogue.h"
#include "src/core/figures/metric.h"
#include "src/core/machine_change.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>

namespace scaleworth::model {
/// The figures of a run, each with its value in each of several runs.
/// Training: step_s at each count, of the same model and batch.
/// Machine: flop_rate (multiply-adds by format; products by format and nominal shape),
/// memory_bandwidth and load_latency by level, transfers and launches of GPUs. Of the host at one
/// worker and at all, whatever their number. Collectives: bus_bandwidth at each size, alpha of each
/// sweep at its setting without a size; those of ranks that share a GPU and of sizes with wrong
/// results are left out. Throws UserError for a malformed point.
std::vector<Figure> figures_of(const Run& run);

/// Settings of collectives, and those of them whose results a check found wrong.
struct WrongResults {
  std::size_t settings = 0;
  std::size_t of = 0;
};
WrongResults wrong_results(const Run& run);

/// Of another tool's output, which ends early or has rows that are damaged.
inline bool cut_short(const ProbeRecord& probe) {
  return probe.losses.contains(loss_name::damaged_rows) ||
         probe.losses.contains(loss_name::ended_early);
}

/// What the interval of a ratio is made from.
enum class NoiseBasis : std::uint8_t {
  repeats,     // the spread between runs, of one or of both
  samples,     // the samples within one run of each: how far runs differ is not known
  neighbours,  // single values: the scatter of the ratio from one size to the next
  none         // nothing to tell noise from
};
constexpr auto enum_words(NoiseBasis) {
  return std::array{Word{"repeats", "spread between runs"},
                    Word{"samples", "samples of one run each"},
                    Word{"neighbours", "scatter between sizes"},
                    Word{"none", "nothing to tell noise from"}};
}

/// One metric at one setting in both: B over A. Where a low number is better (a time) it is A over
/// B, so that above 1 B is always the better one.
struct ComparedFigure {
  Metric metric = Metric::bus_bandwidth;
  Setting setting;  // of A; what ran may differ in B
  Estimate<double> a;
  Estimate<double> b;
  Estimate<double> gain;  // its interval at 95 %, absent where `noise` is none
  NoiseBasis noise = NoiseBasis::none;
  /// Variance of ln(value) from one run to the next (neighbours: of ln(gain) from one size to the
  /// next), and the standard error of ln(gain) where that variance is 1.
  SampleVariance spread{};
  double error_of_one = 0.0;

  /// Standard error of ln(gain).
  double error() const { return error_of_one * std::sqrt(spread.variance); }

  /// Whether the interval leaves out 1.
  bool differs() const {
    return gain.interval && (gain.interval->low > 1.0 || gain.interval->high < 1.0);
  }
};

/// The interval that follows from the spread.
void set_interval(ComparedFigure& figure);

/// One sweep over sizes: a collective in one mode on one layout.
struct ComparedSweep {
  Setting setting;                    // of A, without a size
  std::vector<ComparedFigure> sizes;  // bus_bandwidth at the sizes that both have, ascending
  /// largest_bus_bandwidth (the median over the common sizes that are large), alpha, and
  /// bus_bandwidth at the common sizes nearest to 8 KiB, 1 MiB and 64 MiB: what is judged. Never a
  /// mean over the sweep.
  std::vector<ComparedFigure> key_figures;
};

/// A sweep that only one of the two has, and what tells it from the most similar one of the other.
struct Unmatched {
  bool of_a = true;
  Setting setting;
  /// Empty: the other has no such collective. message_bytes: no size that both have, or the other
  /// has several such sweeps, of which another one was taken.
  std::vector<Parameter> differs_in;
};

/// Figures of a machine that only one of both has.
struct UnmatchedFigures {
  bool of_a = true;
  Metric metric = Metric::flop_rate;
  std::size_t count = 0;
};

struct Comparison {
  std::vector<ComparedSweep> sweeps;    // all-reduce first, most ranks first
  std::vector<ComparedFigure> machine;  // of no collective: by metric, all cores first
  std::vector<Unmatched> unmatched;
  std::vector<UnmatchedFigures> unmatched_machine;

  bool empty() const { return sweeps.empty() && machine.empty(); }
};

/// A machine by what was measured on it, or a GPU by its data sheet.
struct MachineSource {
  const Run* run = nullptr;
  const GpuDatasheet* sheet = nullptr;
};

/// The pace of each kind of a recorded job's work on the machine `on`, which has a run. Products,
/// memory and copies take the inverse ratio of the two machines' figures (of several that both
/// have, the median; of several GPUs, the slowest one's; ranks on processors share them), compute
/// of no known kind the mean of products and memory, collectives the ratio of the fitted times at
/// their size and ranks (what a call took beyond its curve stays), the host that of one core.
/// Against a data sheet the figures are those of both data sheets, and collectives take the time of
/// the curve. Errors: of the figures, of their spread, and of how far kernels follow ceilings (4 %,
/// hosts 8 %, data sheets 15 %: presumed). What has no figure is as recorded, with a standard
/// deviation of 20 %.
std::vector<WorkPace> machine_paces(std::vector<WorkPace> work,
                                    const MachineSource& from,
                                    const MachineSource& on);

/// Each kind, size and number of ranks of a job's collectives against the fitted curve of `fabric`,
/// most calls x (wait + excess) first. A transfer beyond the curve's interval, at least 10 %, is
/// excess; waiting is skew. Of excess and waiting together, where that is 10 % of the time or more,
/// the one with 80 % (DESIGN: a cause explains 80 %) holds them up, else both do. Cannot tell
/// without a recorded size, below 8 KiB, without a curve of as many ranks, and where partners left
/// no recording.
std::vector<FabricRow> against_fabric(const Attribution& job, const Run& fabric);

/// What is judged: the figures of the machine and the key figures of each sweep.
std::vector<ComparedFigure> judged(const Comparison& comparison);

/// Standard deviation of ln(value) from one run to the next where no run was repeated. Messages of
/// 4 GiB in a public sweep of 64 ranks repeat within 3 %, those of 8 MiB within a factor of two.
/// Too small: noise between runs is taken for a difference; too large: small differences need
/// repeats to be seen.
inline constexpr double presumed_run_noise = 0.03;

/// Joins on the metric and the parameters that are asked or relative to the machine; on nodes, type
/// of the elements and reduction only where both sides state them.
///
/// Interval of a gain g from repeats: ln g +- t s sqrt(1/n_a + 1/n_b), s^2 the pooled variance of
/// ln(value) between the runs of each side, moderated by those of all figures (`variance_prior`), t
/// of its degrees of freedom (Student; a side with one
/// run has the spread of the other). Without repeats that of `ratio()`, widened in quadrature by
/// 1.96 sqrt(2) `presumed_run_noise`. Where there are single values too, as in published tables: ln
/// g +- t s, s = 1.4826 MAD of the differences between ln(gain) at neighbouring sizes over sqrt(2)
/// (Rousseeuw & Croux 1993), at least three common sizes; of a figure over k sizes s sqrt(pi / (2
/// k)), the error of a median; widened likewise.
Comparison compare(const std::vector<Figure>& a, const std::vector<Figure>& b);
}  // namespace scaleworth::model
