// SPDX-License-Identifier: Apache-2.0
/// What differs between two runs: a join of their figures on metric and setting.
#pragma once

#include "src/core/catalogue.h"
#include "src/core/figures/metric.h"
#include "src/core/machine_change.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>

namespace scaleworth {
struct Attribution;
}  // namespace scaleworth

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
  return probe.losses.contains("damaged_rows") || probe.losses.contains("ended_early");
}

/// What the interval of a ratio is made from.
enum class NoiseBasis : std::uint8_t {
  repeats,     // the spread between runs, of one or of both
  samples,     // the samples within one run of each: how far runs differ is not known
  neighbours,  // single values: the scatter of the ratio from one size to the next
  none         // nothing to tell noise from
};

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
/// (Rousseeuw & Croux 1993), at least four common sizes; of a figure over k sizes s sqrt(pi / (2
/// k)), the error of a median; widened likewise.
Comparison compare(const std::vector<Figure>& a, const std::vector<Figure>& b);

enum class CheckStatus : std::uint8_t { pass, warn, fail, cannot_tell };

/// What carries bytes: so many links, each with a rate in one direction.
enum class Wire : std::uint8_t { nvlink, pcie, network };
struct LinkRate {
  Wire wire = Wire::nvlink;
  double count = 1.0;  // of one GPU; network cards of one node
  BytesPerSecond each;
};

/// What figures of a metric at settings with all of `where` must not leave.
struct Allowed {
  Metric metric = Metric::bus_bandwidth;
  Setting where;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<LinkRate> link{};  // that the bound follows from; absent: a stated rule
};

/// In one direction, of an NVLink or a PCIe lane of a generation, or a network card of so many
/// Gbit/s; 0 where it is not known. PCIe coded: 8b/10b, 128b/130b from generation 3, 236 of 256
/// bytes in 6. Source: PCI Express Base Specification; NVIDIA's descriptions of NVLink.
BytesPerSecond link_rate(Wire wire, double stated);

/// NVLinks and PCIe lanes of the run's first GPU, as the driver reports them.
std::vector<LinkRate> detected_links(const Run& run);

/// What physics allows figures of `run` over these links. At most all bytes that must pass a port
/// (a GPU's, between nodes a node's NICs together) at its full rate, by the algorithm with the
/// fewest: of an all-reduce among k ports min(2 (k - 1) / k, 1 + 1/k) of the message (ring; reduced
/// in the switch), of others what a port lacks or must send. At least 70 % of the rate with the
/// bytes of a ring (of copies: of the rate, not where a GPU has fewer NVLinks than go to a switch):
/// presumed for headers and protocols; published sweeps of healthy machines reach 76 to 96 %. Of collectives large messages only.
/// Memory: two transfers per clock and pin. A link that is not known bounds nothing.
std::vector<Allowed> envelope(const Comparison& itself, const std::vector<LinkRate>& links);

struct CheckedFigure {
  ComparedFigure figure;  // A is the baseline, or the end of a bound that is nearer
  CheckStatus status = CheckStatus::cannot_tell;
  bool beyond_chance = false;  // worse with 95 % over all figures together, by whatever amount
  /// Where it cannot be told: runs of each side that would show a loss of the tolerance with 80 %.
  std::optional<int> runs_needed{};
  std::optional<Allowed> bound{};  // in place of a baseline
};

/// A stated rule that no figure of the run is under.
struct UnmetRule {
  Allowed rule;
  Setting lacking;  // what of its setting no figure of its metric has; empty: these together
};

struct CheckResult {
  std::vector<CheckedFigure> figures;  // the worst first
  std::vector<UnmetRule> unmet;        // in the order of the rules
  std::size_t wrong_results = 0;       // settings of the run whose results a check found wrong
  std::size_t measured_once = 0;       // figures without repeats on either side: not judged
  CheckStatus status = CheckStatus::cannot_tell;
};

/// Judges the key figures of `comparison` by the spread between repeats; tolerance in (0, 1).
///   fail         worse by at least the tolerance, with 95 % over all figures together (Holm 1979)
///   warn         worse, but by less than the tolerance, or only when judged alone
///   pass         a loss of the tolerance is left out by the interval
///   cannot tell  neither: no repeats, or too few for their spread
/// The whole is the worst of fail, warn, pass of the figures with repeats; cannot tell where there
/// are none, or where one of them could not be judged and might hide a failure. Wrong results in
/// the run are a failure, whatever its speed.
CheckResult check(const Comparison& comparison, double tolerance, std::size_t wrong_results = 0);

/// Judges the figures of a run, compared with itself, by bounds, with a tolerance of 0 and the
/// spread between its repeats; a figure measured once with `presumed_run_noise` and the interval of
/// its samples. Where a rule meets no figure the whole cannot be told, unless it fails.
CheckResult check(const Comparison& itself,
                  const std::vector<Allowed>& bounds,
                  std::size_t wrong_results);
}  // namespace scaleworth::model

namespace scaleworth {
template <>
inline constexpr std::array word_list<model::Wire>{
    Word{"nvlink", "NVLink"}, Word{"pcie", "PCIe lane"}, Word{"network", "network card"}};
template <>
inline constexpr std::array word_list<model::CheckStatus>{Word{"pass", "pass"},
                                                          Word{"warn", "warn"},
                                                          Word{"fail", "fail"},
                                                          Word{"cannot_tell", "cannot tell"}};
template <>
inline constexpr std::array word_list<model::NoiseBasis>{
    Word{"repeats", "spread between runs"},
    Word{"samples", "samples of one run each"},
    Word{"neighbours", "scatter between sizes"},
    Word{"none", "nothing to tell noise from"}};
}  // namespace scaleworth
