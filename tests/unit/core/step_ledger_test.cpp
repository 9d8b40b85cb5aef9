// SPDX-License-Identifier: Apache-2.0
#include "src/core/mean_ledger.h"
#include "tests/catch.h"

#include <stdexcept>

namespace scaleworth {
namespace {
using namespace std::chrono_literals;

/// A step that waits, of a part of it for rank 5 at place 2, and otherwise computes.
StepLedger waiting_step(int rank, Nanoseconds length, Nanoseconds wait) {
  StepLedger ledger;
  ledger.rank = Rank{rank};
  ledger.end = length;
  ledger.part(Part::exposed_wait) = wait;
  ledger.part(Part::compute) = length - wait;
  ledger.compute_by_class[0] = length - wait;
  ledger.waited_for[Place{2}] = wait / 4;
  ledger.uncharged_wait = wait - wait / 4;
  return ledger;
}

TEST_CASE("sparse times hold what was put in, in the order of the places") {
  SparseTimes<Nanoseconds> times;
  CHECK(times.empty());
  times[Place{7}] += 3ns;
  times[Place{2}] += 5ns;
  times[Place{7}] += 4ns;
  CHECK(times.at(Place{7}) == 7ns);
  CHECK(times.at(Place{2}) == 5ns);
  CHECK(times.at(Place{3}) == 0ns);
  CHECK(times.sum() == 12ns);
  CHECK(times.begin()->place == Place{2});
  CHECK(times.end() - times.begin() == 2);
}

TEST_CASE("waits that do not add up to the exposed wait are a defect") {
  StepLedger ledger = waiting_step(0, 100ns, 40ns);
  CHECK_NOTHROW(check_sums(ledger));
  ledger.waited_for[Place{9}] += 1ns;
  CHECK_THROWS_AS(check_sums(ledger), std::logic_error);
}

TEST_CASE("ranks count alike in the mean of a job, whatever their number of steps") {
  // Rank 1: (100 + 300) / 2 = 200 ns, of which (20 + 40) / 2 = 30 are waiting; rank 4: 400 and 10.
  std::vector<StepLedger> ledgers{waiting_step(1, 100ns, 20ns),
                                  waiting_step(4, 400ns, 10ns),
                                  waiting_step(1, 300ns, 40ns),
                                  waiting_step(4, 900ns, 0ns)};
  ledgers[3].excluded = {ExclusionCause::last_step};
  const JobMeans means = job_means(ledgers).value();
  CHECK_FALSE(means.only_excluded);
  REQUIRE(means.ranks.size() == 2);
  CHECK(means.ranks[0].rank == Rank{1});
  CHECK(means.ranks[0].steps == 2);
  CHECK_THAT(means.ranks[0].step.mean, WithinRel(200e-9, 1e-12));
  CHECK_THAT(means.ranks[0].step.most, WithinRel(300e-9, 1e-12));
  CHECK_THAT(means.mean.step.mean, WithinRel(300e-9, 1e-12));
  CHECK_THAT(means.mean.part(Part::exposed_wait).mean, WithinRel(20e-9, 1e-12));
  CHECK_THAT(means.mean.part(Part::exposed_wait).least, WithinRel(10e-9, 1e-12));
  CHECK(means.mean.steps == 2);
  CHECK_FALSE(means.mean.rank.has_value());
}
}  // namespace
}  // namespace scaleworth
