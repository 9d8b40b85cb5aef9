// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/ledger.h"

#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"

using namespace scaleworth;
using namespace scaleworth::testing;
using scaleworth::trace::build_ledger;
using scaleworth::trace::Ledger;
using scaleworth::trace::LedgerEntry;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

namespace {

// Two ranks; rank 1 arrives at collective 0 at 70, the collective ends at 90.
//   rank 0: host 0-5, compute 5-30, post 30-32, progress 32-36, wait 36-90, optimizer 90-98, end
//   100 rank 1: compute 0-65, post 65-70, wait 70-88, optimizer 90-97, end 97
Timeline two_ranks() {
  Timeline timeline;
  timeline.ranks = 2;
  timeline.spans = {span(0, Activity::step, 0, 100),
                    span(0, Activity::host, 0, 5),
                    span(0, Activity::compute, 5, 30),
                    collective(0, Activity::post, 0, 30, 32),
                    span(0, Activity::progress, 32, 36),
                    collective(0, Activity::collective_wait, 0, 36, 90),
                    span(0, Activity::optimizer, 90, 98),
                    span(1, Activity::step, 0, 97),
                    span(1, Activity::compute, 0, 65),
                    collective(1, Activity::post, 0, 65, 70),
                    collective(1, Activity::collective_wait, 0, 70, 88),
                    span(1, Activity::optimizer, 90, 97)};
  return timeline;
}

}  // namespace

TEST_CASE("a wait is split at the last arrival and charged to the rank that arrived last",
          "[ledger]") {
  const Ledger ledger = build_ledger(two_ranks());
  REQUIRE(ledger.entries.size() == 2);
  const LedgerEntry& first = ledger.entries[0];
  REQUIRE(first.step_time == 100ns);
  REQUIRE(first.compute == 25ns);
  REQUIRE(first.optimizer == 8ns);
  REQUIRE(first.host == 5ns);
  REQUIRE(first.progress == 6ns);           // post 2 + progress 4
  REQUIRE(first.exposed_wait == 34ns);      // [36, 70)
  REQUIRE(first.exposed_transfer == 20ns);  // [70, 90)
  REQUIRE(first.unattributed == 2ns);       // [98, 100)
  REQUIRE(first.waited_for == std::vector<nanoseconds>{0ns, 34ns});
}

TEST_CASE("the last arriver waits for nobody: its blocked time is transfer", "[ledger]") {
  const LedgerEntry last = build_ledger(two_ranks()).entries[1];
  REQUIRE(last.exposed_wait == 0ns);
  REQUIRE(last.exposed_transfer == 18ns);
  REQUIRE(last.unattributed == 2ns);  // [88, 90)
  REQUIRE(last.waited_for == std::vector<nanoseconds>{0ns, 0ns});
}

TEST_CASE("a wait that ends before the last arrival is all wait", "[ledger]") {
  Timeline timeline = two_ranks();
  timeline.spans[5].end = 60ns;
  const LedgerEntry first = build_ledger(timeline).entries[0];
  REQUIRE(first.exposed_wait == 24ns);
  REQUIRE(first.exposed_transfer == 0ns);
}

TEST_CASE("a wait shorter than the clock error is charged to nobody and counted", "[ledger]") {
  Timeline timeline = two_ranks();
  timeline.clock_error = 35ns;  // the wait has 34 ns, the arrivals lie 38 ns apart
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries[0].exposed_wait == 34ns);
  REQUIRE(ledger.entries[0].uncharged_wait == 34ns);
  REQUIRE(ledger.entries[0].waited_for[1] == 0ns);
  REQUIRE(ledger.uncharged_waits == 1);
  REQUIRE(loss_counters(ledger).at("uncharged_waits") == 1.0);
}

TEST_CASE("when the two last arrivals lie within the clock error nobody is blamed", "[ledger]") {
  Timeline timeline = straggling_steps({0, 500, 495}, 1);
  timeline.clock_error = 5ns;
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries[0].exposed_wait == 500ns);
  REQUIRE(ledger.entries[0].uncharged_wait == 500ns);
  timeline.clock_error = 4ns;
  REQUIRE(build_ledger(timeline).entries[0].waited_for[1] == 500ns);
}

TEST_CASE("a wait with a rank's arrival unknown is unattributed and counted", "[ledger]") {
  Timeline timeline = two_ranks();
  timeline.spans.erase(timeline.spans.begin() + 9);  // rank 1's post
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.unsplit_waits == 2);
  REQUIRE(ledger.entries[0].exposed_wait == 0ns);
  REQUIRE(ledger.entries[0].unattributed == 56ns);  // [36, 90) and [98, 100)
}

TEST_CASE("one rank alone never waits", "[ledger]") {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.spans = {span(0, Activity::step, 10, 50), span(0, Activity::compute, 10, 50)};
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries.at(0).compute == 40ns);
  REQUIRE(ledger.entries.at(0).unattributed == 0ns);
  REQUIRE(loss_counters(ledger).empty());
}

TEST_CASE("an empty timeline has an empty ledger", "[ledger]") {
  REQUIRE(build_ledger(Timeline{}).entries.empty());
}

TEST_CASE("the lateness of a simulated straggler is recovered to the nanosecond", "[ledger]") {
  const std::vector<std::int64_t> lateness{30, 0, 7'000, 120};
  const Ledger ledger = build_ledger(straggling_steps(lateness, 5));
  REQUIRE(ledger.entries.size() == 20);
  for (const LedgerEntry& entry : ledger.entries) {
    const std::int64_t own = lateness[static_cast<std::size_t>(entry.rank.index)];
    REQUIRE(entry.waited_for[2] == nanoseconds(7'000 - own));
    REQUIRE(entry.exposed_wait == entry.waited_for[2]);
    REQUIRE(entry.exposed_transfer == 200ns);
    REQUIRE(entry.unattributed == 0ns);
  }
}
