// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/analysis/one_rank.h"

#include <fmt/format.h>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

std::int64_t of_class(const StepLedger& ledger, WorkClass work_class) {
  return ledger.compute_by_class[static_cast<std::size_t>(work_class)].count();
}

}  // namespace

TEST_CASE("an instant belongs to the first active class", "[ledger]") {
  // compute [0,100); communication [50,200): waits until 120, transfers from there; copy [150,260).
  OneRank rank;
  rank.step(0, 300);
  rank.work(WorkClass::gemm, 0, 100);
  rank.communication(50, 120, 200, 1);
  rank.work(WorkClass::copy, 150, 260, 0, 9);
  const StepLedger step = rank.ledger(2).at(0);
  CHECK(part(step, Part::compute) == 100);
  CHECK(part(step, Part::exposed_wait) == 20);      // [100,120)
  CHECK(part(step, Part::exposed_transfer) == 80);  // [120,200)
  CHECK(part(step, Part::exposed_copy) == 60);      // [200,260)
  CHECK(part(step, Part::unattributed) == 40);      // [260,300): no host events at all
  CHECK(step.overlapped_wait == nanoseconds(50));   // [50,100)
  CHECK(step.overlapped_transfer == nanoseconds(0));
  CHECK(step.overlapped_copy == nanoseconds(50));  // [150,200) under the transfer
  CHECK(step.communication == nanoseconds(150));
  CHECK(step.waited_for.at(Place{1}) == nanoseconds(20));
  CHECK(step.uncharged_wait == nanoseconds(0));
}

TEST_CASE("a wait for nobody known is not charged", "[ledger]") {
  OneRank rank;
  rank.step(0, 100);
  rank.communication(0, 30, 100, -1);
  rank.communication(10, 50, 60, -1);
  const StepLedger step = rank.ledger(2).at(0);
  CHECK(part(step, Part::exposed_wait) == 30);      // until 30 nobody transfers
  CHECK(part(step, Part::exposed_transfer) == 70);  // transfer goes before wait
  CHECK(step.uncharged_wait == nanoseconds(30));
}

TEST_CASE("of several waits the one that began first and is charged counts", "[ledger]") {
  OneRank rank;
  rank.step(0, 100);
  rank.communication(0, 40, 40, -1, 20);
  rank.communication(5, 60, 60, 2, 21);
  rank.communication(6, 90, 100, 1, 22);
  const StepLedger step = rank.ledger(3).at(0);
  CHECK(step.uncharged_wait == nanoseconds(5));
  CHECK(step.waited_for.at(Place{2}) == nanoseconds(55));
  CHECK(step.waited_for.at(Place{1}) == nanoseconds(30));
  CHECK(part(step, Part::exposed_transfer) == 10);
}

TEST_CASE("a rank that arrives before its operation is recorded waits from then on", "[ledger]") {
  Job job;
  job.recordings.resize(2);
  const auto add = [&](WorkClass work_class, std::int64_t start, std::int64_t end) {
    DeviceEvent event;
    event.start = nanoseconds(start);
    event.end = nanoseconds(end);
    event.work_class = work_class;
    job.recordings[0].device_events.push_back(event);
  };
  add(WorkClass::gemm, 0, 100);
  add(WorkClass::gemm, 200, 210);
  add(WorkClass::communication, 400, 500);
  Waits waits;
  waits.by_rank.resize(2);
  waits.by_rank[0] = {{2, nanoseconds(100), nanoseconds(400), nanoseconds(500), true, Place{1}}};
  StepPlan plan;
  plan.by_rank = {{{0, nanoseconds(0), nanoseconds(500), {}}}, {}};
  const StepLedger step = build_job_ledger(job, plan, waits, ClockMap(2)).at(0);
  CHECK(part(step, Part::compute) == 110);
  CHECK(part(step, Part::exposed_wait) == 290);
  CHECK(step.overlapped_wait == nanoseconds(10));
  CHECK(part(step, Part::exposed_transfer) == 100);
  CHECK(part(step, Part::unattributed) == 0);
}

TEST_CASE("the step that is drawn is kept piece by piece, short ones merged", "[ledger]") {
  Job job;
  job.recordings.resize(1);
  const auto add = [&](WorkClass work_class, std::int64_t start, std::int64_t end) {
    DeviceEvent event;
    event.start = nanoseconds(start);
    event.end = nanoseconds(end);
    event.work_class = work_class;
    job.recordings[0].device_events.push_back(event);
  };
  add(WorkClass::gemm, 0, 1'000'000);  // of another step
  // A pixel is 1/1500 of 1.5 ms: 1 us.
  add(WorkClass::gemm, 1'000'000, 1'600'000);
  add(WorkClass::communication, 1'600'000, 2'000'000);
  for (int i = 0; i < 10; ++i) {  // 200 ns of copies, then 800 ns of kernels
    add(WorkClass::copy, 2'000'000 + 1000 * i, 2'000'200 + 1000 * i);
    add(WorkClass::gemm, 2'000'200 + 1000 * i, 2'001'000 + 1000 * i);
  }
  add(WorkClass::copy, 2'010'000, 2'500'000);
  StepPlan plan;
  plan.by_rank = {{{0, nanoseconds(0), nanoseconds(1'000'000), {}},
                   {1, nanoseconds(1'000'000), nanoseconds(2'500'000), {}}}};
  plan.drawn = 1;
  Waits waits;
  waits.by_rank.resize(1);
  const auto ledger = build_job_ledger(job, plan, waits, ClockMap(1));
  CHECK(ledger.at(0).pieces.empty());
  std::vector<std::pair<Part, std::int64_t>> pieces;
  for (const StepPiece& piece : ledger.at(1).pieces)
    pieces.emplace_back(piece.part, piece.length.count());
  CHECK(pieces == std::vector<std::pair<Part, std::int64_t>>{{Part::compute, 600'000},
                                                             {Part::exposed_transfer, 400'000},
                                                             {Part::compute, 10'000},
                                                             {Part::exposed_copy, 490'000}});
}

TEST_CASE(
    "A piece of the drawn step has the name of what takes most of it, and the rank waited for",
    "[ledger]") {
  Job job;
  for (int i = 0; i < 2; ++i) job.recordings.emplace_back();
  const auto add = [&](const char* name, WorkClass work, int start_us, int end_us) {
    Recording& recording = job.recordings[0];
    DeviceEvent event;
    event.start = nanoseconds(1000 * start_us);
    event.end = nanoseconds(1000 * end_us);
    event.work_class = work;
    event.name = recording.names.intern(name);
    recording.device_events.push_back(event);
  };
  add("short kernel", WorkClass::gemm, 0, 100);
  add("long kernel", WorkClass::gemm, 100, 300);
  add("all-reduce", WorkClass::communication, 250, 700);  // waits until 500, then transfers
  StepPlan plan;
  plan.by_rank = {{{0, nanoseconds(0), nanoseconds(800'000), {}}}, {}};
  plan.drawn = 0;
  Waits waits;
  waits.by_rank.resize(2);
  waits.by_rank[0].push_back({.event = 2,
                              .start = nanoseconds(250'000),
                              .split = nanoseconds(500'000),
                              .end = nanoseconds(700'000),
                              .known = true,
                              .waited_for = Place{1}});
  const auto ledger = build_job_ledger(job, plan, waits, ClockMap(2));
  std::vector<std::string> pieces;
  for (const StepPiece& piece : ledger.at(0).pieces)
    pieces.push_back(piece.name +
                     (piece.partner ? fmt::format(" for {}", piece.partner->index) : ""));
  CHECK(pieces == std::vector<std::string>{"long kernel", "all-reduce for 1", "all-reduce", ""});
}

TEST_CASE("communication that no split knows is transfer", "[ledger]") {
  OneRank rank;
  rank.step(0, 100);
  rank.work(WorkClass::communication, 0, 100);
  CHECK(part(rank.ledger().at(0), Part::exposed_transfer) == 100);
}

TEST_CASE("compute divides by class, what no rule knows last", "[ledger]") {
  OneRank rank;
  rank.step(0, 100);
  rank.work(WorkClass::unclassified, 0, 60, 0, 1);
  rank.work(WorkClass::elementwise, 20, 70, 0, 2);
  rank.work(WorkClass::gemm, 30, 40, 0, 3);
  const StepLedger step = rank.ledger().at(0);
  CHECK(of_class(step, WorkClass::unclassified) == 20);
  CHECK(of_class(step, WorkClass::elementwise) == 40);  // [20,30) and [40,70)
  CHECK(of_class(step, WorkClass::gemm) == 10);
  CHECK(part(step, Part::compute) == 70);
}

TEST_CASE("work over a step's boundary is cut there", "[ledger]") {
  OneRank rank;
  rank.step(100, 200);
  rank.step(200, 300);
  rank.step(350, 400);
  rank.work(WorkClass::gemm, 50, 260);
  rank.communication(290, 360, 380, 1);
  const auto steps = rank.ledger(2);
  REQUIRE(steps.size() == 3);
  CHECK(part(steps[0], Part::compute) == 100);
  CHECK(part(steps[1], Part::compute) == 60);
  CHECK(part(steps[1], Part::exposed_wait) == 10);
  CHECK(part(steps[2], Part::exposed_wait) == 10);
  CHECK(part(steps[2], Part::exposed_transfer) == 20);
  CHECK(part(steps[2], Part::unattributed) == 20);
}
