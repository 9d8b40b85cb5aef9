// SPDX-License-Identifier: Apache-2.0
/// Whether a rank's whole pipeline stage computes longer than the others.
#pragma once

#include "trace/analysis/culprits/delays.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

class PipelineStages {
 public:
  PipelineStages(const Job& job,
                 const CountedSteps& steps,
                 const std::vector<attribution::StepLedger>& ledger);

  /// Ranks with equal numbers are replicas of a stage; without pipeline stages each rank is alone.
  const std::vector<std::uint32_t>& units() const { return units_; }
  std::uint32_t unit_count() const { return unit_count_; }

  /// The stage of `rank` and how much longer it computes, when every one of its replicas, at least
  /// two, computes longer than the median rank by 5 % or more, and by at least half of what `rank`
  /// does; else absent.
  std::optional<std::string> uneven(std::uint32_t rank) const;

 private:
  const Job& job_;
  std::vector<double> compute_;  // ns, by rank, over the steps that count
  double median_ = 0.0;
  std::vector<std::uint32_t> units_;
  std::uint32_t unit_count_ = 0;
};

}  // namespace scaleworth::trace
