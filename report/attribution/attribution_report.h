// SPDX-License-Identifier: Apache-2.0
/// What became of a job's time, in one of the report's formats.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "src/core/attribution.h"

#include <array>

namespace scaleworth::report {
/// Version of the JSON format's layout (docs/attribution.schema.json).
inline constexpr int attribution_schema_version = 2;

/// The report. Text and Markdown are a summary unless details are asked for; CSV and HTML hold
/// every table and JSON every result, of collectives the thousand with the most waiting. Without a
/// price per GPU no amount is printed. `options.input` is what was attributed.
std::string render_attribution(const attribution::Attribution& attribution,
                               std::optional<DollarsPerSecond> price_per_gpu,
                               const RenderOptions& options);

/// Mean over steps with the extremes, in seconds.
struct Spread {
  double mean = 0.0;
  double least = 0.0;
  double most = 0.0;
};

struct AveragedLedger {
  std::optional<Rank> rank;  // absent: the mean over ranks, whose extremes are those of the ranks
  int steps = 0;
  Spread step;
  std::array<Spread, part_count> parts{};
  // Means in seconds; the first two divide compute and host late.
  std::array<double, attribution::work_classes> compute_by_class{};
  std::array<double, attribution::host_causes> host_late_by_cause{};
  double overlapped_transfer = 0.0;
  double overlapped_wait = 0.0;
  double overlapped_copy = 0.0;
  double communication = 0.0;

  const Spread& part(Part which) const { return parts[index_of(which)]; }
  /// Of the mean step; 0 for a step without length.
  double share(Part which) const { return step.mean > 0.0 ? part(which).mean / step.mean : 0.0; }
};

/// A job's ledgers averaged over the steps that count.
struct AveragedJob {
  std::vector<AveragedLedger> ranks;  // by rank
  AveragedLedger mean;
  /// Every step is one that must not be averaged, and they were, because nothing else is there.
  bool only_excluded = false;
  int steps = 0;  // of the rank with the most
};

/// Absent when there is no step at all.
std::optional<AveragedJob> average(const attribution::Attribution& attribution);

inline double in_seconds(attribution::Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-9;
}

/// What the sections of a report are made from.
struct AttributionView {
  const attribution::Attribution& attribution;
  const RenderOptions& options;
  std::optional<AveragedJob> averages;
  std::optional<DollarsPerSecond> price_per_gpu = {};
};

/// Who waited for whom, over the steps that count.
struct PairWait {
  Rank rank;
  Rank waited_for;
  attribution::Nanoseconds exposed{};
  attribution::Nanoseconds total{};
};
/// The pairs that are not zero, row by row of the matrix.
std::vector<PairWait> pair_waits(const attribution::Attribution& attribution);

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

/// One collective's time in waiting and in transfer, over its participants.
struct CollectiveTime {
  double wait = 0.0;  // seconds
  double transfer = 0.0;
};
CollectiveTime collective_time(const attribution::CollectiveWait& collective);
/// The collectives with the most waiting, at most `most_collectives`, in time order.
std::vector<attribution::CollectiveWait> listed_collectives(
    const attribution::Attribution& attribution);

/// Of the GPU time that the averages are made of, what the straggler cost; absent without averages.
std::optional<double> share_of_gpu_time(const AttributionView& view,
                                        const attribution::Straggler& straggler);

/// Dollars that the straggler costs per hour of the job; absent without a price.
std::optional<double> lost_per_hour(const AttributionView& view,
                                    const attribution::Straggler& straggler);

/// The rows beyond 16 are details, left out of the short formats, and a note says so.
Table limit_rows(Table table, const std::string& what);

/// A column of times, each with the unit that suits it.
inline Column times(const char* id, const char* header) {
  return measure(id, header, Unit::seconds).in_own_scale();
}

/// Absent where the whole is 0.
inline std::optional<double> share_of(double part, double whole) {
  return whole > 0.0 ? std::optional(part / whole) : std::nullopt;
}

/// The average step of each rank by part, who waited for whom, and the length of every step.
std::vector<Chart> attribution_charts(const AttributionView& view);

/// The results in nanoseconds and base units, null for what is absent.
std::string attribution_json(const AttributionView& view);
/// docs/attribution.schema.json.
std::string attribution_schema();

/// The headline names the straggler that is beyond the clock error and costs most, else repeats why
/// no rank is named. The answer is `no` for a straggler, `yes` when there is none beyond the clock
/// error, else `unknown`.
Verdict judge_attribution(const AttributionView& view);
}  // namespace scaleworth::report
