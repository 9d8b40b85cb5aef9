// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"
#include "trace/span_ledger.h"

using namespace scaleworth;
using namespace scaleworth::testing;
using scaleworth::StepLedger;
using scaleworth::trace::build_ledger;
using scaleworth::trace::Ledger;
using scaleworth::trace::WaitCause;
using scaleworth::trace::WaitPart;
using scaleworth::trace::WaitSplit;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mark = 13;        // index of rank 1's completion of collective 0
constexpr std::size_t computing = 11;   // of its compute after its arrival at collective 0
constexpr std::size_t first_wait = 5;   // of rank 0's wait for collective 0
constexpr std::size_t second_wait = 6;  // for collective 1

}  // namespace

TEST_CASE("blocked time while a rank computes after its arrival is charged to it", "[stalls]") {
  const Ledger ledger = build_ledger(two_buckets());
  const StepLedger& first = ledger.entries.at(0);
  // Collective 0, blocked [42, 64), all arrived at 42: rank 1 computes [42, 60), 18; transfer 4.
  // Collective 1, blocked [64, 90): rank 1 arrives at 84 and worked 18 of these 20; transfer 8.
  REQUIRE(first.part(Part::exposed_wait) == 36ns);
  REQUIRE(first.part(Part::exposed_transfer) == 12ns);
  REQUIRE(first.waited_for.at(Place{1}) == 36ns);
  REQUIRE(first.waited_for.sum() == 36ns);
  const StepLedger& second = ledger.entries.at(1);
  REQUIRE(second.part(Part::exposed_wait) == 0ns);
  REQUIRE(second.part(Part::exposed_transfer) == 6ns);  // [84, 90): rank 0 is inside of the library
  REQUIRE(ledger.losses.empty());
}

TEST_CASE("where the library moves data by itself the same time is transfer", "[stalls]") {
  Timeline timeline = two_buckets();
  timeline.progress_inside_calls_only = false;
  const StepLedger first = build_ledger(timeline).entries.at(0);
  REQUIRE(first.part(Part::exposed_wait) == 20ns);
  REQUIRE(first.part(Part::exposed_transfer) == 28ns);
}

TEST_CASE("the parts of a wait say what each was spent on", "[stalls]") {
  const WaitSplit wait = build_ledger(two_buckets()).waits.at(0);
  REQUIRE(wait.parts.size() == 2);
  REQUIRE(wait.parts[0].time.start == 42ns);
  REQUIRE(wait.parts[0].time.end == 60ns);
  REQUIRE(wait.parts[0].cause == WaitCause::stall);
  REQUIRE(wait.parts[0].waited_for == Rank{1});
  REQUIRE(wait.parts[1].cause == WaitCause::transfer);
  REQUIRE(wait.parts[1].time.end == 64ns);
}

TEST_CASE("a rank that has completed the collective holds nobody up", "[stalls]") {
  Timeline timeline = two_buckets();
  timeline.spans[first_wait].end = 70ns;  // rank 1 computes from 64 on, but is done since 64
  timeline.spans[second_wait].start = 70ns;
  const WaitSplit wait = build_ledger(timeline).waits.at(0);
  REQUIRE(wait.parts.size() == 2);
  REQUIRE(wait.parts[1].cause == WaitCause::transfer);
  REQUIRE(wait.parts[1].time.start == 60ns);
  REQUIRE(wait.parts[1].time.end == 70ns);
}

TEST_CASE("a rank that completes late is charged until then", "[stalls]") {
  Timeline timeline = two_buckets();
  timeline.spans[first_wait].end = 70ns;
  timeline.spans[second_wait].start = 70ns;
  timeline.spans[mark].start = timeline.spans[mark].end = 82ns;  // after its second compute
  const StepLedger first = build_ledger(timeline).entries.at(0);
  // [42, 60), [64, 70), then [70, 84) less the two of its post
  REQUIRE(first.waited_for.at(Place{1}) == 36ns);
  REQUIRE(first.part(Part::exposed_transfer) == 4ns + 8ns);  // [60, 64) and [82, 90)
}

TEST_CASE("a rank whose completion is unknown is charged only until its next call", "[stalls]") {
  Timeline timeline = two_buckets();
  timeline.spans[first_wait].end = 70ns;
  timeline.spans[second_wait].start = 70ns;
  timeline.spans.erase(timeline.spans.begin() + mark);
  const StepLedger first = build_ledger(timeline).entries.at(0);
  REQUIRE(first.waited_for.at(Place{1}) == 18ns + 14ns);      // [42, 60), then [70, 84)
  REQUIRE(first.part(Part::exposed_transfer) == 10ns + 6ns);  // [60, 70) and [84, 90)
}

TEST_CASE("time that no span covers is not known to be away", "[stalls]") {
  Timeline timeline = two_buckets();
  timeline.spans[computing].end = 50ns;
  const StepLedger first = build_ledger(timeline).entries.at(0);
  REQUIRE(first.waited_for.at(Place{1}) == 8ns + 20ns);
}

TEST_CASE("a stall shorter than the clock error is charged to nobody", "[stalls]") {
  Timeline timeline = two_buckets();
  timeline.clock_error = 19ns;
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries[0].uncharged_wait == 18ns);
  REQUIRE(ledger.entries[0].waited_for.at(Place{1}) == 20ns);
  REQUIRE(ledger.losses.at("uncharged_waits") == 1);
}

TEST_CASE("of several ranks that are away the one that comes back last is charged", "[stalls]") {
  Timeline timeline = three_away(30, 40);
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries[0].waited_for.at(Place{2}) == 30ns);  // [10, 40)
  REQUIRE(ledger.entries[0].waited_for.sum() == 30ns);
  REQUIRE(ledger.entries[0].part(Part::exposed_transfer) == 10ns);
  REQUIRE(ledger.entries[1].waited_for.at(Place{2}) == 10ns);  // [30, 40)
  REQUIRE(ledger.entries[1].waited_for.sum() == 10ns);
  REQUIRE(ledger.entries[2].part(Part::exposed_wait) == 0ns);
}

TEST_CASE("ranks that come back within the clock error of each other share no blame", "[stalls]") {
  const Ledger tie = build_ledger(three_away(30, 30));
  REQUIRE(tie.entries[0].uncharged_wait == 20ns);
  Timeline timeline = three_away(30, 31);
  timeline.clock_error = 1ns;
  const Ledger near = build_ledger(timeline);
  REQUIRE(near.entries[0].uncharged_wait == 20ns);          // [10, 30)
  REQUIRE(near.entries[0].waited_for.at(Place{2}) == 1ns);  // [30, 31)
  REQUIRE(near.entries[0].waited_for.sum() == 1ns);
}

TEST_CASE("ranks that block as soon as they arrived stall nothing", "[stalls]") {
  Timeline timeline = straggling_steps({30, 0, 7'000, 120}, 3);
  timeline.progress_inside_calls_only = true;
  for (const StepLedger& entry : build_ledger(timeline).entries) {
    REQUIRE(entry.part(Part::exposed_transfer) == 200ns);
  }
}
