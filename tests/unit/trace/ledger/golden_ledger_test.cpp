// SPDX-License-Identifier: Apache-2.0
// Golden numbers: README of the recordings, computed there independently, from raw clocks.
#include "tests/catch.h"
#include "tests/unit/trace/recordings.h"
#include "trace/analysis/ledger/build_ledger.h"
#include "trace/classify/classify.h"
#include "trace/format/nsight/read_nsight.h"

#include <array>

using namespace scaleworth;
using namespace scaleworth::trace;
using attribution::LedgerPart;
using attribution::StepLedger;

namespace {

/// Each rank's ledger summed over all steps, flagged ones included, with clocks as they are.
std::vector<StepLedger> totals(const Job& job) {
  const ClockMap clocks(job.recordings.size());
  Alignment alignment;
  alignment.map = clocks;
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  std::vector<StepLedger> sums(job.recordings.size());
  for (const StepLedger& step : build_job_ledger(job, find_steps(job, clocks), waits, clocks)) {
    StepLedger& sum = sums.at(static_cast<std::size_t>(step.rank.index));
    for (std::size_t i = 0; i < sum.parts.size(); ++i) sum.parts[i] += step.parts[i];
    sum.communication += step.communication;
    sum.overlapped_wait += step.overlapped_wait;
    sum.overlapped_transfer += step.overlapped_transfer;
    sum.overlapped_copy += step.overlapped_copy;
  }
  return sums;
}

std::int64_t of(const StepLedger& ledger, LedgerPart part) {
  return ledger.part(part).count();
}

void classify_all(Job& job, const RuleTable& rules) {
  for (Recording& recording : job.recordings) classify(recording, rules);
}

}  // namespace

TEST_CASE("the pair of processes recorded by Nsight Systems has its golden ledger", "[golden]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const RuleTable rules = RuleTable::built_in();
  Job job;
  job.recordings = read_nsight(*path, rules);
  classify_all(job, rules);
  const auto sums = totals(job);
  REQUIRE(sums.size() == 2);
  struct Golden {
    std::int64_t compute, communication, copies, busy, wait, transfer;
  };
  const std::array<Golden, 2> golden{
      {{253'690'832, 17'172'652, 2'954'303, 273'817'787, 10'898'336, 6'274'316},
       {256'095'624, 8'229'100, 2'951'192, 267'275'916, 2'477'480, 5'751'620}}};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CAPTURE(rank);
    const StepLedger& sum = sums[rank];
    CHECK(of(sum, LedgerPart::compute) == golden[rank].compute);
    CHECK(sum.communication.count() == golden[rank].communication);
    CHECK(of(sum, LedgerPart::exposed_copy) + sum.overlapped_copy.count() == golden[rank].copies);
    CHECK(of(sum, LedgerPart::compute) + sum.communication.count() +
              of(sum, LedgerPart::exposed_copy) ==
          golden[rank].busy);
    CHECK(of(sum, LedgerPart::exposed_wait) == golden[rank].wait);
    CHECK(of(sum, LedgerPart::exposed_transfer) == golden[rank].transfer);
    CHECK(sum.overlapped_wait + sum.overlapped_transfer == nanoseconds(0));
  }
}
