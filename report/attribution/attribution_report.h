// SPDX-License-Identifier: Apache-2.0
/// What became of a job's time, in one of the report's formats.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "src/core/attribution.h"
#include "src/core/machine_change.h"
#include "src/core/mean_ledger.h"
#include "src/model/recording_comparison.h"

namespace scaleworth::report {
/// Of a recording, beside causes and parts.
enum class OtherFinding : std::uint8_t {
  slow_fabric,
  pipeline_turns,   // ranks of a pipeline wait for their turns
  graphs_launched,  // launch-bound, and much of the work is launched as CUDA graphs already
  idle_processor,   // recorded on processors: no operator runs
  idle_rank,        // the same of one late rank
  slow_processor,   // the same: a late rank runs the same operators slower
  other_copies,     // most of them within GPUs, or of page-locked memory already
};
constexpr auto enum_words(OtherFinding) {
  return std::array{Word{"slow_fabric", "slow fabric"},
                    Word{"pipeline_turns", "bubble of the pipeline"},
                    Word{"graphs_launched", "launch-bound beside graphs"},
                    Word{"idle_processor", "no operator runs"},
                    Word{"idle_rank", "no operator runs"},
                    Word{"slow_processor", "same operators slower"},
                    Word{"other_copies", "exposed copy"}};
}

/// Version of the JSON format's layout (docs/attribution.schema.json).
inline constexpr int attribution_schema_version = 3;

/// A job's collectives against the curves of a run.
struct FabricComparison {
  std::string name;  // of the run, as on the command line
  std::vector<FabricRow> rows;
};

/// The report. Text and Markdown are a summary unless details are asked for; CSV and HTML hold
/// every table and JSON every result, of collectives the thousand with the most waiting. Without a
/// price per GPU no amount is printed. `options.input` is what was attributed.
std::string render_attribution(const Attribution& attribution,
                               std::optional<DollarsPerSecond> price_per_gpu,
                               const RenderOptions& options,
                               const FabricComparison* fabric = nullptr);

/// Absent where the whole is 0.
inline std::optional<double> share_of(double part, double whole) {
  return whole > 0.0 ? std::optional(part / whole) : std::nullopt;
}

/// What the sections of a report are made from.
struct AttributionView {
  const Attribution& attribution;
  const RenderOptions& options;
  std::optional<JobMeans> averages;
  std::optional<DollarsPerSecond> price_per_gpu = {};
  const FabricComparison* fabric = nullptr;  // null: none was asked for
};

/// Single collectives that CSV and JSON hold.
inline constexpr std::size_t most_collectives = 1000;

Section ledger_section(const AttributionView& view);
Section stragglers_section(const AttributionView& view);
Section collectives_section(const AttributionView& view);
Section efficiency_section(const AttributionView& view);
/// Steps, clocks, classification, recordings and remarks: how far to trust the rest.
Section evidence_section(const AttributionView& view);

// Single tables that the summary shows too.
Table parts_table(const AttributionView& view);
Table rank_table(const AttributionView& view);
Table straggler_table(const AttributionView& view);
Table kinds_table(const AttributionView& view);
Table what_if_table(const AttributionView& view);
/// Empty without a fabric.
Table fabric_table(const AttributionView& view);

/// Time of collectives in waiting and in transfer, over their participants, in seconds.
struct CollectiveTime {
  double wait = 0.0;
  double transfer = 0.0;
  double either = 0.0;  // waits below the clock error, and where partners left no recording

  double whole() const { return wait + transfer + either; }
  /// Absent where nothing is known to be wait or transfer.
  std::optional<double> known(double CollectiveTime::*time) const {
    return either > 0.0 && either == whole() ? std::nullopt : std::optional(this->*time);
  }
  std::optional<double> share(double CollectiveTime::*time) const {
    return known(time) ? share_of(this->*time, whole()) : std::nullopt;
  }
};
CollectiveTime collective_time(const CollectiveWait& collective);
inline CollectiveTime collective_time(const CollectiveSum& sum) {
  return {in_seconds(sum.wait), in_seconds(sum.transfer), in_seconds(sum.either)};
}
/// The collectives with the most waiting, at most `most_collectives`, in time order.
std::vector<CollectiveWait> listed_collectives(const Attribution& attribution);

/// "without rank 3's lateness", "with transfers that take no time".
std::string change_text(const Efficiency::WhatIf& one);

/// Of the GPU time that the averages are made of, what the straggler cost; absent without averages.
std::optional<double> share_of_gpu_time(const AttributionView& view, const Straggler& straggler);

/// All of the job's, with a recording or not.
int job_ranks(const Attribution& attribution);

/// Dollars that the straggler costs per hour of the job, whose ranks without a recording are taken
/// to lose as much as the others; absent without a price.
std::optional<double> lost_per_hour(const AttributionView& view, const Straggler& straggler);

/// The rows beyond 16 are details, left out of the short formats, and a note says so.
Table limit_rows(Table table, const std::string& what);

/// What was found, and what to try against it (data/advice.toml).
struct Advice {
  std::string cause;   // as it is printed
  std::string found;   // what the first sentence begins with: "Copies that nothing hides take"
  std::string action;  // what it ends with: "copy from page-locked memory"
  std::string text;
  std::string url;               // empty: nothing is advised, `text` says why
  std::optional<double> gain{};  // of the step, at most, by the replay
  std::size_t entry = 0;         // of the file: equal for one piece of advice
};
/// What advice is on: why a rank or a host is late, the part of a step that is long, the kind of a
/// collective that exchanges no gradients (all_to_all, all_gather, send_receive), or another
/// finding.
using AdviceSubject = std::variant<OtherFinding, LateCause, HostCause, Part, CollectiveKind>;
/// Nothing is launched where there is no GPU, and whose kernels run in graphs needs no graphs.
AdviceSubject host_subject(const AttributionView& view, HostCause cause);
/// Processors have no clock that nvidia-smi shows.
AdviceSubject late_subject(const AttributionView& view, LateCause cause);
/// Of exposed transfer: by the kind of collective that takes most of it.
AdviceSubject transfer_subject(const AttributionView& view);
/// Of exposed copies: by what most of the time of all copies is in.
AdviceSubject copy_subject(const AttributionView& view);
/// Whether most of the waiting is that of a pipeline's ranks for their turns.
bool turns_cost_most(const AttributionView& view);
/// Absent when the file does not know it.
std::optional<Advice> advice_on(const AdviceSubject& subject);
/// Of a step; a part other than compute that takes less is not worth an action.
inline constexpr double least_loss_to_act_on = 0.03;
/// At most three, on what costs most; of parts from that share of the step on.
std::vector<Advice> advice_for(const AttributionView& view);
/// "Launch less often: .... Predicted: saves up to 12.3 % of the step."
std::string advice_text(const Advice& one);
Section advice_section(const AttributionView& view);

/// "7.61 ms", of a time in seconds, of nanoseconds or of an estimate.
template <class Time>
std::string duration_text(const Time& time) {
  return format_quantity(time, Unit::seconds);
}
/// "33.9 %"
template <class Share>
std::string share_text(const Share& share) {
  return format_quantity(share, Unit::percent);
}

/// A column of times, each with the unit that suits it.
inline Column times(const char* id, const char* header) {
  return measure(id, header, Unit::seconds).in_own_scale();
}

/// The average step of each rank by part, the slowest step piece by piece, the length of every
/// step, and who waited because of whom.
std::vector<Chart> attribution_charts(const AttributionView& view);

/// The results in nanoseconds and base units, null for what is absent.
std::string attribution_json(const AttributionView& view);
/// docs/attribution.schema.json.
std::string attribution_schema();
/// What attribution_json() states, of this and older versions; of `file` in messages. Left out is
/// what only reports hold, programs, pieces of steps, and collectives beyond those listed. Throws
/// UserError for any other text.
Attribution read_attribution(std::string_view text, const std::string& file);

/// One of two jobs that are compared: what it is called, as on the command line, and its result.
struct ComparedJob {
  std::string name;
  const Attribution& job;
};
/// What differs between two recordings of a job, the first of the command line being A.
std::string render_recording_comparison(const ComparedJob& a,
                                        const ComparedJob& b,
                                        const model::RecordingComparison& comparison,
                                        const RenderOptions& options);
/// docs/recording_comparison.schema.json.
std::string recording_comparison_schema();

/// A recorded job on another machine.
struct PredictedJob {
  std::string name;  // of the machine: the last part of its run's path
  const Attribution& recorded;
  const Attribution& predicted;  // of the recording with the times that it has there
  const MachinePrediction& prediction;
  bool by_sheets = false;
  std::optional<DollarsPerSecond> price_from{};  // of a GPU of the recorded machine
  std::optional<DollarsPerSecond> price_on{};
  std::optional<double> tokens{};  // of one step of the whole job
};
/// Throws UserError for work of 1 % of the step or more without a figure, with the machine (`from`
/// is the recorded one's) and the probe that it lacks.
void refuse_missing_figures(const PredictedJob& job, const std::string& from);
std::string render_prediction(const PredictedJob& job, const RenderOptions& options);
/// docs/prediction.schema.json.
std::string prediction_schema();

/// "all reduce of 64 MiB over 8 ranks", "bf16 matrix products".
std::string work_text(const MachineWork& work);

/// The range that holds at least half of the time that hosts are late for that cause; null for
/// none.
const HostRange* named_range(const AttributionView& view, HostCause cause);

/// What keeps the figures from being those of the whole job in its steady state, the most important
/// first: contradictions, files cut off, missing ranks, no steady step, different programs, unknown
/// work, communication whose waiting is unknown.
std::vector<Finding> recording_limits(const AttributionView& view);
/// Those of them that say what the steps are: too few, little of the work, none that is steady.
std::vector<Finding> limits_of_steps(const AttributionView& view);
/// "each step of 7.61 ms", or, where no steps were found, "the 7.61 ms recorded".
std::string step_text(const AttributionView& view, double step);
/// Work of the mean step that the recordings do not tell.
Finding unknown_work(const AttributionView& view, UnknownWork kind);

/// The first sentence is finding, amount, action and at most one of the `recording_limits`, in that
/// many words at most: what cannot be true, else a recording without a step or of work that is not
/// known, else the largest loss: the straggler beyond the clock error or a part of the step,
/// whichever costs more. The answer is `no` for a straggler, `yes` when there is none beyond the
/// clock error, else `unknown`.
Verdict judge_attribution(const AttributionView& view);
}  // namespace scaleworth::report
