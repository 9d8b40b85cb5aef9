// SPDX-License-Identifier: Apache-2.0
/// Collectives at which ranks waited for one that came late, and who waited how long for whom.
#pragma once

#include "src/core/attribution/culprits.h"
#include "trace/analysis/clocks/align.h"
#include "trace/analysis/culprits/compute_cover.h"
#include "trace/analysis/steps/find_steps.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// One collective, one late rank.
struct Delay {
  std::int64_t collective = 0;  // index into Waits::collectives
  std::uint32_t late = 0;       // the rank that was waited for
  std::uint32_t compared = 0;   // of the others the one with the median arrival
  nanoseconds arrival{};        // of the late rank
  nanoseconds exposed{};        // sum over the ranks that waited
  std::int32_t step = 0;
};

struct Delays {
  std::vector<Delay> delays;            // by arrival
  attribution::CulpritReport matrices;  // only `exposed` and `total` are filled
  nanoseconds largest_wait{};           // charged or not
};

/// Which steps count: those that are not excluded; all, when every one is.
class CountedSteps {
 public:
  explicit CountedSteps(const StepPlan& plan);

  bool all_are_excluded() const { return all_excluded_; }
  /// Why most steps are excluded, when all are.
  const std::string& reason() const { return reason_; }
  bool counts(const std::string& excluded) const { return all_excluded_ || excluded.empty(); }
  /// Numbers of the steps that count, ascending.
  const std::vector<std::int32_t>& numbers() const { return numbers_; }
  /// Mean length of those steps over steps and ranks.
  nanoseconds mean_length() const { return mean_length_; }
  /// The step of `rank` at `time`; nullptr between steps and in one that does not count.
  const StepSpan* at(std::size_t rank, nanoseconds time) const;

 private:
  const StepPlan& plan_;
  bool all_excluded_ = false;
  std::string reason_;
  std::vector<std::int32_t> numbers_;
  nanoseconds mean_length_{};
};

/// `ledger` says how much of the waiting was exposed in total, `covers` for each collective.
Delays find_delays(const CountedSteps& steps,
                   const Waits& waits,
                   const std::vector<ComputeCover>& covers,
                   const std::vector<attribution::StepLedger>& ledger);

}  // namespace scaleworth::trace
