// SPDX-License-Identifier: Apache-2.0
/// A scaling table: what one job took at several counts, from any source.
#pragma once

#include "src/core/attribution.h"
#include "src/core/estimate.h"
#include "src/core/figures/vocabulary.h"
#include "src/core/finding.h"
#include "src/core/mean_ledger.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace scaleworth::model {
/// One rank's steps; every series has one value per step, in seconds; empty for a part that the
/// spans of probes do not have.
struct RankLedger {
  int rank = 0;
  std::array<std::vector<double>, part_count> parts;
  std::map<int, std::vector<double>> waited_for;  // by the rank waited for, within exposed wait
};

/// The training steps of one mode and count.
struct MeasuredCount {
  std::string precision = "fp32";  // of the products
  int ranks = 1;
  std::int64_t global_batch = 0;
  double tokens = 0.0;       // all ranks, one step
  double model_flops = 0.0;  // all ranks, one step
  std::optional<Bytes> gradient;
  std::optional<int> buckets;
  Series step_s;  // slowest rank, per step
  std::vector<double> loss;
  std::vector<RankLedger> ledger;  // by rank; empty when it was not measured
  std::optional<int> straggler_rank;
  double straggler_factor = 1.0;
  bool slowed_on_purpose() const { return straggler_rank && *straggler_rank < ranks; }
};

struct MeasuredMode {
  BatchScaling mode = BatchScaling::strong;
  std::vector<MeasuredCount> counts;  // ascending, at least one, each with steps
};

/// Strong first. Empty when no training step was measured. Settings without a step (an interrupted
/// run) are left out. Throws UserError for a malformed point: a missing name, a step time that is
/// not positive, two points of one mode and count.
std::vector<MeasuredMode> measured_modes(const Run& run);

/// The median of the steps.
Estimate<Seconds> step_time(const MeasuredCount& count);

/// Part times of the mean rank: per step the mean over ranks, the median over `steps`, which
/// selects and repeats steps (a bootstrap resample), then scaled so that they add to `step` exactly
/// (a median of sums is not the sum of medians). Absent without a ledger, without steps or when all
/// parts are 0.
std::optional<PartTimes> mean_part_times(const MeasuredCount& count,
                                         double step,
                                         const std::vector<std::size_t>& steps);
/// Of the steps that all ranks have.
std::optional<PartTimes> mean_part_times(const MeasuredCount& count, double step);
/// Of one rank alone.
std::optional<PartTimes> rank_part_times(const RankLedger& rank, double step);

/// Steps that every rank's ledger and `step_s` have.
std::size_t common_steps(const MeasuredCount& count);

/// How the ranks of a count were laid out; absent where the table does not say it.
struct Layout {
  std::optional<int> tensor;
  std::optional<int> pipeline;
  std::optional<int> context;
  std::optional<int> data;
  std::optional<int> expert;  // inside the data-parallel ranks: no factor of the count

  bool operator==(const Layout&) const = default;
  bool empty() const { return *this == Layout{}; }
};

/// All but the data-parallel replicas, which are what a count adds: another one is another program.
Layout layout_of_replica(const Layout& layout);

/// "TP 8, PP 16, DP 64"; empty where nothing is said.
std::string layout_text(const Layout& layout);

/// A percentile or mean of a latency, by the name that the table gives it.
struct Latency {
  std::string name;  // "p99", "ttft_p99", "tpot_mean"
  double seconds = 0.0;
};

/// Relative differences of quality up to this are the same: what seeds of one training differ by.
inline constexpr double same_quality = 0.005;

/// What a scaling table may say of a count beside its time and its parts.
struct RowFacts {
  Layout layout;
  std::optional<double> batch;            // sequences, or whatever it counts, of one step
  std::optional<double> sequence_length;  // tokens
  std::optional<double> microbatches;     // of one step and data-parallel replica
  std::optional<double> steps;            // of a run
  std::optional<double> epochs;           // of a run
  std::optional<DollarsPerSecond> price;  // of one rank, in place of the price for all rows
  std::optional<double> power_w;          // of one rank, while it runs
  std::vector<Latency> latencies;

  /// Batch times sequence length where both are known, else the one of them.
  std::optional<double> step_work() const;
  /// By its name; absent where the table has no such column or an empty cell.
  std::optional<double> latency_s(const std::string& name) const;
};

/// What a job's recordings say of one count beside its times and parts.
struct LedgerFacts {
  int count = 1;
  /// POP factors; `runtime` and `useful` are those of one step.
  std::optional<Efficiency> factors;
  std::optional<Finding> no_factors;  // why they are absent
  double step_work = 1.0;             // of one step, over that of the smallest count
  /// For whom the others wait, how long and why; absent where no rank is named with certainty.
  std::optional<Finding> straggler;
};

/// Published speed-ups, efficiencies and rates are rounded by as much.
inline constexpr double published_rounding = 0.06;

/// What a table's times are of.
enum class TimeBasis {
  run,        // the work of a whole run
  step,       // one step
  work_unit,  // some units of work, by the reciprocal of a throughput
};

/// How the work of the rows grows.
enum class Scaling { strong, weak, mixed };
constexpr auto enum_words(Scaling) {
  return std::array{Word{"strong", "strong scaling"},
                    Word{"weak", "weak scaling"},
                    Word{"mixed", "work that grows otherwise"}};
}
/// What counts the rows: machines to buy, or a load that one machine serves.
enum class Axis { ranks, nodes, load };

/// What our own training step left beside its time and the groups of its parts.
struct TrainedStep {
  /// Medians over the steps, scaled so that the parts add up to the step; no extremes.
  std::optional<JobMeans> ledger;
  std::optional<double> final_loss;
  std::optional<double> mfu_measured;  // against the measured ceiling of so many ranks
  std::optional<Finding> mfu_basis;    // which ceiling that is
  std::optional<double> mfu_peak;      // against the given peak
  bool slowed = false;                 // a rank, on purpose: of no decision
};

/// One count, as a line of a table says it or, assembled, its repeats together. Numbers are in base
/// units and finite.
struct TableRow {
  std::string place;  // "strong.csv:3", for messages
  int count = 1;
  std::optional<int> repeat;  // as the table names it
  std::optional<double> time_s;
  Estimate<Seconds> time;             // of the repeats; absent as read
  int repeats = 1;                    // that `time` is of
  std::optional<double> relative_sd;  // of the repeats, from two on
  bool repeats_are_steps = false;     // of one run: runs do not spread as steps do
  /// Independent repeats that `time` is the mean of; absent: it is their median.
  std::optional<double> mean_of;
  GroupTimes parts_s{};              // assembled they add up to `time`
  std::optional<double> quality;     // the worst of the repeats, as far as that is known
  int better_quality = 0;            // 1: more is better, as accuracy; -1: less; 0: not known
  std::optional<double> work;        // items, tokens
  std::optional<double> throughput;  // work per second, all ranks together; not assembled
  /// As the table states them, in whatever unit: only their ratios count.
  std::optional<double> stated_speedup;
  std::optional<double> stated_efficiency;
  /// Work over that of the smallest count, where it is declared and not counted.
  std::optional<double> growth;
  std::optional<double> energy_j;
  std::optional<double> energy_per_work_j;
  RowFacts facts;
  TrainedStep trained;

  /// By how much the quality is worse than `baseline`'s; by how much it differs, where it is not
  /// known what is better. 0 without qualities.
  double quality_loss(const TableRow& baseline) const;
  bool has_parts() const;
};

/// Whether each row, or any, has what `member` finds in it.
template <class Row, class Member>
bool all_have(const std::vector<Row>& rows, Member member) {
  return std::ranges::all_of(rows,
                             [&](const Row& row) { return std::invoke(member, row).has_value(); });
}
template <class Row, class Member>
bool any_has(const std::vector<Row>& rows, Member member) {
  return std::ranges::any_of(rows,
                             [&](const Row& row) { return std::invoke(member, row).has_value(); });
}

/// The sum of the parts that are there; absent where none is.
std::optional<double> sum_of(const GroupTimes& parts);

/// The rank that at least 80 % of the exposed wait of a count is charged to, where that is at least
/// 1 % of the step.
struct ChargedRank {
  int count = 1;
  int rank = 0;
  Seconds cost;  // wait per step charged to it, summed over ranks
};

/// How a table's columns were read, for an echo of it.
struct TableReading {
  bool table = false;        // else a run, recordings or coefficients
  std::string time_unit{};   // "hours"; empty: no time
  std::string rate{};        // a rate by its header, where no noun says it better
  std::string rate_noun{};   // what a rate is of, "tokens"; empty: no rate
  bool rate_of_one = false;  // of one GPU, not of all
  bool of_flops = false;
  bool fixed_work = false;              // times of an epoch
  bool of_steps = false;                // times by steps per second
  bool odd_parts = false;               // parts left out, for they do not add up to the time
  std::string currency{};               // "EUR" of the prices; empty: USD, or not said
  std::vector<std::string> left_out{};  // rows, "8 (OOM)"
};

/// A column that says with one text for all rows what ran or how, "dtype" "bf16".
struct StatedOfJob {
  std::string column;
  std::string text;
  bool job = false;  // what ran: with another text it is other work; else how
};

/// What the columns say of all rows.
struct TableKind {
  TimeBasis basis = TimeBasis::run;
  Axis axis = Axis::ranks;
  TableReading read{};
  bool relative = false;        // times are of nothing: only ratios are known
  bool growing_models = false;  // each count trains a larger model: only rates of one GPU compare
  bool unclear_time = false;    // of a run or of a step
  bool unclear_batch = false;   // of all ranks or of one
  bool named_weak = false;      // a column speaks of weak scaling
  bool named_strong = false;
  double load_unit = 1.0;   // of a count; not 1 where loads are no whole numbers
  std::string noun{};       // what is counted, "GPUs"; empty: not known
  std::string work_noun{};  // what work is counted in, "tokens"; empty: not known
  std::vector<StatedOfJob> stated{};
  std::vector<Finding> warnings{};  // why the rows may not be held against each other
};

/// Ascending by count, at least one row.
struct ScalingTable : TableKind {
  std::vector<TableRow> rows{};
  std::vector<Finding> remarks{};          // what was concluded from the columns
  std::vector<LedgerFacts> ledgers{};      // ascending by count; of recordings only
  std::optional<ChargedRank> straggler{};  // of the largest count of a run
};

/// What a table leaves open: the flags of each way to settle it, and what that means.
struct Question : UserError {
  struct Answer {
    std::vector<std::string> flags;  // "--scaling", "weak"
    std::string means;
  };
  Question(std::string what, std::vector<Answer> ways)
      : UserError(what), answers(std::move(ways)) {}
  static constexpr std::size_t most_shown = 2;
  std::vector<Answer> answers;  // likeliest first
  bool alike = false;           // each is of another curve of the table, and none asks further
};

/// Throws UserError with the place of a row that `assemble` refuses by itself.
void check_row(const TableRow& at, Axis axis);

/// Rows of one count are repeats: their median, its order-statistic interval (absent below six). A
/// time that is missing is the sum of the parts; where no row has a time it is work / throughput,
/// of a power of 1000 units where none is given. Work that is missing is time x throughput, or the
/// batch of a step, where these grow. Compute that no row has is what the other parts leave. Throws
/// UserError with the place of: a count below 1, a time that is not positive, a negative part,
/// parts that do not add up to the time, a named repeat that is there twice, work, throughput,
/// energy or a latency not above 0, work or facts that differ between repeats, a layout that is not
/// the count.
ScalingTable assemble(const std::vector<TableRow>& rows, TableKind kind = {});

/// The table of a run of `work` units, where its times are those of some units or of steps whose
/// work is known; else as it is. Throws UserError for work that is not above 0.
ScalingTable of_work(ScalingTable table, double work);

/// How far repeats lie apart: standard deviation (n - 1) over the mean; absent for fewer than two
/// times.
std::optional<double> relative_sd(const std::vector<double>& times);

/// How far runs of the same work lie apart, relative to their time, pooled over the repeats of all
/// counts. No degrees without repeats; steps of one run say nothing of runs.
SampleVariance repeat_noise(const std::vector<TableRow>& rows);

/// For who reads its figures: what the times are of, a batch that grows with the
/// count, layouts that differ between counts, loads instead of machines, and what was concluded
/// when the table was assembled.
std::vector<Finding> table_remarks(const ScalingTable& table);

/// What the attribution of one job says of its count.
struct AttributedCount {
  std::string input;  // what the user named, for messages
  TableRow row;
  LedgerFacts ledger;
  std::vector<Finding> remarks;
  std::vector<Finding> warnings;  // why its figures may not hold
};

/// The time of a step is the mean over the steps that count (over all, with a remark, where none
/// does) of the rank whose mean is largest, with the t-interval of that mean, which assumes
/// independent steps. Parts are means over ranks of the step's ledger:
///   compute        compute
///   communication  exposed transfer
///   idle           exposed wait, dependency idle, unattributed, and what a rank's mean step is
///                  shorter than the slowest rank's
///   host           host late, launch gap, profiler overhead
///   I/O            exposed copy
/// and add up to the time. The count is the number of ranks that the recordings state, else that of
/// the recordings.
/// Throws UserError naming `input` where no step was found, no step has a length, or ranks are
/// missing and nothing states how many there are.
AttributedCount attributed_count(const Attribution& attribution, const std::string& input);

/// One row per count; the work of a step is counted in steps of the smallest count: 1 at each for
/// strong scaling, the ratio of counts for weak. Without `declared` strong scaling is assumed with
/// a remark, which questions it where compute grows as weak scaling's would. A part that no count
/// has is left out. Throws UserError naming both inputs for two of one count, and for none.
ScalingTable attributed_table(std::vector<AttributedCount> counts, std::optional<Scaling> declared);

/// The row of one count. Where the others wait for one rank, `parts_s` are means over the others:
/// its own longer work is the same loss as their waiting. Without MFU.
TableRow trained_row(const MeasuredCount& count);

/// One row per count of the mode asked for (absent: strong where there is one): the median step of
/// the slowest rank with its interval, tokens as work, and the ledger of the mean rank as parts:
/// compute with the optimizer; transfers that nothing hides with the work that drives them as
/// communication; waiting and what no record explains as idle; host time as host. Rows have parts
/// where a ledger was measured. A count with a rank slowed on purpose is left out and named. Throws
/// UserError without a training step, or without the mode.
ScalingTable run_table(const std::vector<MeasuredMode>& modes, std::optional<Scaling> scaling);
}  // namespace scaleworth::model
