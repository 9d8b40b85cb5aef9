// SPDX-License-Identifier: Apache-2.0
/// Everything that `attribute` found out about a job's recordings: plain results that reports
/// print.
#pragma once

#include "src/core/attribution/culprits.h"
#include "src/core/attribution/efficiency.h"
#include "src/core/attribution/step_ledger.h"
#include "src/core/attribution/waits.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::attribution {

/// One rank's recording.
struct RankRecording {
  Rank rank;
  std::string file;
  std::string where;      // "host node-3, pid 144, GPU 0"; what is unknown is left out
  std::string rank_from;  // "distributedInfo", "file name", "order of files", ...
  std::int64_t device_events = 0;
  std::int64_t host_events = 0;
  std::map<std::string, std::int64_t> losses;  // dropped or malformed, by name with its unit
};

/// How many ranks the job has.
struct JobSize {
  std::int32_t at_least = 0;  // that the recordings show or tell; 0: not asked
  bool told = false;          // `at_least` is the number, by what a recording says of its job
};

/// How the steps were found, and what that means.
struct StepChoice {
  std::string source;    // "ProfilerStep markers", "repetition", "whole span", ...
  std::string sentence;  // for people
  std::int32_t steps = 0;
  std::int32_t excluded = 0;  // boundary and warm-up steps, kept but not averaged
};

/// Clocks of the ranks against the common clock (that of the reference rank).
struct ClockReport {
  struct RankClock {
    Rank rank;
    Nanoseconds offset{};    // add to the rank's times
    double drift_ppm = 0.0;  // of the rank's clock against the common one
    std::optional<Nanoseconds> residual_p50;
    std::optional<Nanoseconds> residual_p95;
    std::int64_t matches = 0;  // collectives that the fit used
  };
  std::vector<RankClock> ranks;
  /// Error bar of every wait: a difference of two ranks' times below this says nothing.
  Nanoseconds error{};
  std::int64_t causality_violations =
      0;  // after the fit: ends before the last begin beyond `error`
  std::string method;
  bool comparable = true;  // false: no verdict across ranks, `reason` says why
  std::string reason;
};

/// Kernel time by what the rules made of it; time is summed over kernels, not a union.
struct ClassifiedTime {
  WorkClass work_class = WorkClass::unclassified;
  std::int64_t kernels = 0;
  Nanoseconds time{};
  std::vector<std::pair<std::string, Nanoseconds>> largest;  // names, at most five
};

struct Attribution {
  std::vector<RankRecording> recordings;  // by rank
  JobSize job_size;
  std::vector<std::string> remarks;  // missing ranks, mixed runs, truncated files, ...
  StepChoice step_choice;
  ClockReport clocks;
  std::vector<ClassifiedTime> classes;
  std::vector<StepLedger> ledger;           // by (step, rank)
  std::vector<CollectiveWait> collectives;  // in time order
  std::int64_t unmatched_collectives = 0;   // calls whose partners are not in the recordings
  CulpritReport culprits;
  std::optional<Efficiency> efficiency;  // absent with `efficiency_reason`
  std::string efficiency_reason;
};

/// The rank that element `place` of the vectors "by rank" is about: ranks without a recording have
/// no element, so that it need not be rank `place`.
Rank rank_at(const Attribution& attribution, std::size_t place);

}  // namespace scaleworth::attribution
