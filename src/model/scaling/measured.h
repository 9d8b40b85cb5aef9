// SPDX-License-Identifier: Apache-2.0
/// The training steps of a run as the scaling model reads them: step times, losses and ledgers by
/// mode and count.
#pragma once

#include "src/core/run/record.h"
#include "src/core/units.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// The parts of a ledger, in print order.
enum class Part : std::size_t {
  compute,
  optimizer,
  host,
  progress,
  exposed_transfer,
  exposed_wait,
  unattributed
};
inline constexpr std::size_t part_count = 7;
inline constexpr std::array all_parts{Part::compute,
                                      Part::optimizer,
                                      Part::host,
                                      Part::progress,
                                      Part::exposed_transfer,
                                      Part::exposed_wait,
                                      Part::unattributed};
/// "compute", "exposed transfer", ...
const char* part_name(Part part);

/// Seconds by part.
using PartTimes = std::array<double, part_count>;

/// One rank's steps; every series has one value per step, in seconds.
struct RankLedger {
  int rank = 0;
  std::array<std::vector<double>, part_count> parts;
  std::map<int, std::vector<double>> waited_for;  // by the rank waited for, within exposed wait
};

/// One mode and count.
struct MeasuredCount {
  std::string precision = "fp32";  // of the products
  int ranks = 1;
  std::int64_t global_batch = 0;
  double tokens = 0.0;       // all ranks, one step
  double model_flops = 0.0;  // all ranks, one step
  std::optional<Bytes> gradient;
  std::optional<int> buckets;
  std::vector<double> step_s;  // slowest rank, per step
  std::vector<double> loss;
  std::vector<RankLedger> ledger;  // by rank; empty when it was not measured
  std::optional<int> straggler_rank;
  double straggler_factor = 1.0;
};

struct MeasuredMode {
  std::string mode;                   // "strong", "weak"
  std::vector<MeasuredCount> counts;  // ascending, at least one, each with steps
};

/// Strong first. Empty when no training step was measured. Settings without a step (an interrupted
/// run) are left out. Throws UserError for a malformed point: a missing name, a step time that is
/// not positive, two points of one mode and count.
std::vector<MeasuredMode> measured_modes(const Run& run);

/// Part times of the mean rank: per step the mean over ranks, the median over steps, then scaled so
/// that they add to `step` exactly (a median of sums is not the sum of medians). `steps` selects
/// and repeats steps (a bootstrap resample). Absent without a ledger or when all parts are 0.
std::optional<PartTimes> mean_part_times(const MeasuredCount& count, double step);
std::optional<PartTimes> mean_part_times(const MeasuredCount& count,
                                         double step,
                                         const std::vector<std::size_t>& steps);

/// The same for one rank alone.
std::optional<PartTimes> rank_part_times(const RankLedger& ledger, double step);

/// Steps that every rank's ledger and `step_s` have.
std::size_t common_steps(const MeasuredCount& count);

}  // namespace scaleworth::model
