// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_table.h"
#include "tests/catch.h"

#include <numeric>

using namespace scaleworth;
using namespace scaleworth::model;
using namespace std::chrono_literals;

namespace {

void add(StepLedger& ledger, Part part, Nanoseconds time) {
  ledger.part(part) = time;
  ledger.end += time;
}

/// Four steps that count, of 9.9, 10.1, 9.9 and 10.1 ms on the last rank, 10 ms on the others,
/// after a long one that does not.
Attribution job(int ranks) {
  Attribution job;
  for (int rank = 0; rank < ranks; ++rank) {
    job.recordings.emplace_back().rank = Rank{rank};
    for (int step = 0; step < 5; ++step) {
      StepLedger ledger;
      ledger.step = step;
      ledger.rank = Rank{rank};
      add(ledger, Part::compute, step == 0 ? 50ms : 6ms);
      add(ledger, Part::exposed_transfer, 1ms);
      add(ledger, Part::exposed_wait, 800us);
      add(ledger, Part::exposed_copy, 700us);
      add(ledger, Part::host_late, 600us);
      add(ledger, Part::dependency_idle, 400us);
      add(ledger, Part::launch_gap, 300us);
      add(ledger, Part::unattributed, 200us);
      if (rank == ranks - 1 && step > 0) {
        ledger.parts[0] += step % 2 == 0 ? 100us : -100us;
        ledger.end += step % 2 == 0 ? 100us : -100us;
      }
      if (step == 0) ledger.excluded = {ExclusionCause::warm_up};
      job.ledger.push_back(ledger);
    }
  }
  job.efficiency_reason = FindingId::one_rank_alone;
  return job;
}

Efficiency factors(int ranks, double balance, double host, double transfer) {
  Efficiency one;
  one.load_balance = balance;
  one.host = host;
  one.transfer = transfer;
  one.dependency = 1.0;
  one.parallel = balance * host * transfer;
  one.step_time = 10ms;
  one.runtime = 40ms;  // four steps
  for (int rank = 0; rank < ranks; ++rank) one.useful.push_back(24ms);
  return one;
}

double part(const TableRow& row, PartGroup which) {
  return row.parts_s[index_of(which)].value();
}

AttributedCount with_factors(int ranks, double balance, double host, double transfer) {
  Attribution attributed = job(ranks);
  attributed.efficiency = factors(ranks, balance, host, transfer);
  return attributed_count(attributed, std::to_string(ranks));
}

}  // namespace

TEST_CASE("a count's time is the mean step that counts, and its parts add up to it", "[decide]") {
  const AttributedCount count = attributed_count(job(2), "traces");
  CHECK(count.row.count == 2);
  CHECK_THAT(count.row.time.value.value(), WithinRel(0.010, 1e-12));
  CHECK_THAT(part(count.row, PartGroup::compute), WithinRel(0.006, 1e-12));
  CHECK_THAT(part(count.row, PartGroup::communication), WithinRel(0.001, 1e-12));
  CHECK_THAT(part(count.row, PartGroup::idle), WithinRel(0.0014, 1e-12));  // .8 + .4 + .2
  CHECK_THAT(part(count.row, PartGroup::host), WithinRel(0.0009, 1e-12));  // .6 + .3
  CHECK_THAT(part(count.row, PartGroup::io), WithinRel(0.0007, 1e-12));
}

TEST_CASE("the interval of a mean step is that of Student's t", "[decide]") {
  const AttributedCount count = attributed_count(job(1), "traces");
  // 9.9, 10.1, 9.9, 10.1: sd .11547, t(3) = 3.18245, half = 3.18245 * .11547 / 2 = .18374 ms.
  CHECK_THAT(count.row.time.interval->low.value(), WithinAbs(0.010 - 0.18374e-3, 1e-8));
  CHECK_THAT(count.row.time.interval->high.value(), WithinAbs(0.010 + 0.18374e-3, 1e-8));
  CHECK(count.row.time.samples == 4);
}

TEST_CASE("a rank whose steps are shorter is idle for the rest", "[decide]") {
  Attribution uneven = job(2);
  for (StepLedger& ledger : uneven.ledger) {
    if (ledger.rank.index == 0) {
      ledger.parts[0] -= 2ms;
      ledger.end -= 2ms;
    }
  }
  const AttributedCount count = attributed_count(uneven, "traces");
  CHECK_THAT(count.row.time.value.value(), WithinRel(0.010, 1e-12));
  CHECK_THAT(part(count.row, PartGroup::compute), WithinRel(0.005, 1e-12));
  CHECK_THAT(part(count.row, PartGroup::idle), WithinRel(0.0024, 1e-12));
}

TEST_CASE("a lone rank's factors are those of its ledger, and multiply", "[decide]") {
  const auto count = attributed_count(job(1), "traces");
  REQUIRE(count.ledger.factors);
  const Efficiency& factors = *count.ledger.factors;
  CHECK(factors.load_balance == 1.0);
  CHECK_THAT(factors.transfer, WithinRel(8.2 / 10.0, 1e-9));  // less transfer and wait
  CHECK_THAT(factors.host, WithinRel(7.3 / 8.2, 1e-9));
  CHECK_THAT(factors.dependency, WithinRel(6.0 / 7.3, 1e-9));
  CHECK_THAT(factors.parallel, WithinRel(0.6, 1e-9));
  CHECK(factors.useful.front() == 6ms);
}

TEST_CASE("ranks that left no recording need a job that tells how many there are", "[decide]") {
  Attribution partial = job(2);
  partial.job_size = {8, true};
  const AttributedCount known = attributed_count(partial, "traces");
  CHECK(known.row.count == 8);
  CHECK(known.remarks.front() == Finding(FindingId::ranks_without_recording, "traces", 2, 8));
  CHECK(known.ledger.no_factors == Finding(FindingId::ranks_missing));
  partial.job_size.stated = false;
  CHECK_THROWS_WITH(attributed_count(partial, "traces"),
                    "traces: 2 ranks of 8 or more left recordings: give all");
  Attribution empty = job(2);
  empty.ledger.clear();
  CHECK_THROWS_AS(attributed_count(empty, "traces"), UserError);
}

TEST_CASE("what cannot be true in a recording is a warning of the table", "[decide]") {
  Attribution odd = job(2);
  odd.contradictions = {{FindingId::impossible_times, 1, "rank0.json"}};
  odd.programs = {"ranks 0: a", "ranks 1: b"};
  const auto table = attributed_table({attributed_count(odd, "traces")}, {});
  REQUIRE(table.warnings.size() == 2);
  CHECK(table.warnings.at(0) == Finding(FindingId::contradicted, "traces", odd.contradictions[0]));
  CHECK(table.warnings.at(1) == Finding(FindingId::several_programs, "traces", 2));
  CHECK(attributed_table({attributed_count(job(2), "traces")}, {}).warnings.empty());
}

TEST_CASE("steps of which none counts are told by what they are", "[decide]") {
  Attribution boundary = job(2);
  std::erase_if(boundary.ledger, [](const auto& ledger) { return !ledger.excluded; });
  const AttributedCount count = attributed_count(boundary, "traces");
  CHECK(count.remarks.front() ==
        Finding(FindingId::no_steady_step, "traces", "warm-up: takes longer than the later steps"));
  CHECK_FALSE(count.row.time.interval);
}

TEST_CASE("two attributions of one count are refused by their names", "[decide]") {
  CHECK_THROWS_WITH(
      attributed_table({attributed_count(job(2), "a"), attributed_count(job(2), "b")},
                       std::nullopt),
      "a and b are both of 2 ranks; give one argument per count, a folder or a quoted "
      "pattern");
}

TEST_CASE("how work grows is read from the compute per rank, with a remark", "[decide]") {
  const std::vector<AttributedCount> counts{attributed_count(job(8), "8"),
                                            attributed_count(job(1), "1")};
  const ScalingTable assumed = attributed_table(counts, std::nullopt);
  CHECK(assumed.rows.front().count == 1);
  CHECK(scaling_of(assumed) == Scaling::weak);
  const Finding& read = assumed.remarks.back();
  CHECK(read.id == FindingId::scaling_by_compute);
  CHECK(read.arguments.at(2) == 1);
  CHECK(read.arguments.at(3) == "weak");
  CHECK(read.arguments.at(4) == "strong");
  CHECK(scaling_of(attributed_table(counts, Scaling::strong)) == Scaling::strong);
  std::vector<AttributedCount> shared = counts;
  *shared.front().row.parts_s[index_of(PartGroup::compute)] /= 7.0;
  CHECK(scaling_of(attributed_table(shared, std::nullopt)) == Scaling::strong);
}

TEST_CASE("POP factors of recordings decide on the cause, and say where the parts differ",
          "[decide]") {
  // Against 2 ranks only the host's factor differs: ln 2 of ln 2. The parts are all the same.
  ScalingTable table = attributed_table(
      {with_factors(2, 1.0, 0.8, 0.9), with_factors(8, 1.0, 0.4, 0.9)}, Scaling::weak);
  table.rows.back().time = {Seconds(0.02), std::nullopt, 1};
  table.rows.back().parts_s[index_of(PartGroup::idle)] = 0.0114;
  const Finding straggler(FindingId::waits_for, "rank 7", 5.0, "its host was late", 0);
  table.ledgers.back().straggler = straggler;
  const Decision decision = decide_table(table, {});
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::host);
  CHECK(decision.diagnosis.by_factors);
  REQUIRE(decision.diagnosis.factor_gaps.size() == 1);
  CHECK_THAT(decision.diagnosis.factor_gaps.front().lost_s,
             WithinRel(0.010, 1e-9));  // half of 20 ms
  REQUIRE(decision.diagnosis.factor_note);
  const auto& shares =
      std::get<std::vector<Finding>>(decision.diagnosis.factor_note->arguments.at(1).value);
  REQUIRE(shares.size() == 2);
  CHECK(shares[0] == Finding(FindingId::share_differs, "idle", 1.0, 0.0));
  CHECK(shares[1] == Finding(FindingId::share_differs, "host", 0.0, 1.0));
  CHECK(decision.diagnosis.straggler == straggler);
}

TEST_CASE("without factors at the baseline the parts decide, and it is said why", "[decide]") {
  AttributedCount bare = with_factors(2, 1.0, 0.8, 0.9);
  bare.ledger.factors.reset();
  bare.ledger.no_factors = FindingId::no_kernel_ran;
  const Decision decision =
      decide_table(attributed_table({bare, with_factors(8, 1.0, 0.4, 0.9)}, Scaling::strong), {});
  CHECK_FALSE(decision.diagnosis.by_factors);
  CHECK(decision.diagnosis.factor_note ==
        Finding(FindingId::by_parts_alone, 2, Finding(FindingId::no_kernel_ran)));
  REQUIRE(decision.diagnosis.cause);
}

TEST_CASE("time of the host is a part of its own, in its gap and among the remedies", "[decide]") {
  std::vector<TableRow> rows;
  for (const int count : {1, 2, 4, 8}) {
    TableRow at;
    at.count = count;
    at.parts_s = {80.0 / count, 0.0, 0.0, std::nullopt, 5.0 * (count - 1)};
    rows.push_back(at);
  }
  const Decision decision = decide_table(assemble(rows), {});
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::host);
  CHECK(decision.diagnosis.remedies.front().cause == Cause::host);
}
