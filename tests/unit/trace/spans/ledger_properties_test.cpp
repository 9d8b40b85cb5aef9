// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"
#include "trace/spans/ledger.h"

#include <numeric>
#include <tuple>

using namespace scaleworth;
using namespace scaleworth::testing;
using scaleworth::trace::build_ledger;
using scaleworth::trace::Ledger;
using scaleworth::trace::LedgerEntry;
using std::chrono::nanoseconds;

namespace {

auto content(const LedgerEntry& e) {
  return std::tuple(e.step,
                    e.rank,
                    e.step_time,
                    e.compute,
                    e.optimizer,
                    e.host,
                    e.progress,
                    e.exposed_wait,
                    e.exposed_transfer,
                    e.unattributed,
                    e.waited_for,
                    e.uncharged_wait);
}

// Malformed and well-formed ones, each twice: in a library that moves data by itself, and in one
// that does so only inside its calls.
Timeline random_case(std::uint64_t number) {
  Timeline timeline = number % 4 < 2 ? random_timeline(number / 2) : random_training(number / 2);
  timeline.progress_inside_calls_only = number % 2 == 1;
  return timeline;
}

bool same(const Ledger& a, const Ledger& b) {
  return loss_counters(a) == loss_counters(b) &&
         std::equal(a.entries.begin(),
                    a.entries.end(),
                    b.entries.begin(),
                    b.entries.end(),
                    [](const auto& x, const auto& y) { return content(x) == content(y); });
}

}  // namespace

TEST_CASE("the parts of any timeline sum to its steps, none of them negative", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    const Ledger ledger = build_ledger(random_case(seed));
    for (const LedgerEntry& entry : ledger.entries) {
      const std::vector<nanoseconds> parts{entry.compute,
                                           entry.optimizer,
                                           entry.host,
                                           entry.progress,
                                           entry.exposed_wait,
                                           entry.exposed_transfer,
                                           entry.unattributed};
      REQUIRE(std::accumulate(parts.begin(), parts.end(), nanoseconds{}) == entry.step_time);
      REQUIRE(*std::min_element(parts.begin(), parts.end()) >= nanoseconds{});
      REQUIRE(std::accumulate(entry.waited_for.begin(),
                              entry.waited_for.end(),
                              entry.uncharged_wait) == entry.exposed_wait);
      REQUIRE(entry.waited_for[static_cast<std::size_t>(entry.rank.index)] == nanoseconds{});
    }
  }
}

TEST_CASE("the order of the spans does not matter", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Timeline timeline = random_case(seed);
    Timeline shuffled = timeline;
    std::shuffle(shuffled.spans.begin(), shuffled.spans.end(), std::mt19937_64(seed));
    REQUIRE(same(build_ledger(timeline), build_ledger(shuffled)));
  }
}

TEST_CASE("shifting all clocks by the same amount changes nothing", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Timeline timeline = random_case(seed);
    Timeline shifted = timeline;
    for (Span& one : shifted.spans) {
      one.start += nanoseconds(1'700'000'000'123'456'789);
      one.end += nanoseconds(1'700'000'000'123'456'789);
    }
    REQUIRE(same(build_ledger(timeline), build_ledger(shifted)));
  }
}

TEST_CASE("the parts of a wait follow each other without gaps, none empty", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    const Ledger ledger = build_ledger(random_case(seed));
    nanoseconds parts{};
    for (const trace::WaitSplit& wait : ledger.waits) {
      for (std::size_t i = 0; i < wait.parts.size(); ++i) {
        REQUIRE(wait.parts[i].time.start < wait.parts[i].time.end);
        REQUIRE((i == 0 || wait.parts[i].time.start == wait.parts[i - 1].time.end));
        parts += wait.parts[i].time.end - wait.parts[i].time.start;
      }
    }
    for (const LedgerEntry& entry : ledger.entries) {
      parts -= entry.exposed_wait + entry.exposed_transfer;
    }
    REQUIRE(parts == nanoseconds{});
  }
}

TEST_CASE("stalls are taken from the transfer and from nothing else", "[ledger]") {
  nanoseconds stalled{};
  for (std::uint64_t seed = 0; seed < 4000; seed += 2) {
    const Ledger alone = build_ledger(random_case(seed));
    const Ledger calls = build_ledger(random_case(seed + 1));
    REQUIRE(alone.entries.size() == calls.entries.size());
    for (std::size_t i = 0; i < alone.entries.size(); ++i) {
      LedgerEntry before = alone.entries[i];
      const LedgerEntry& after = calls.entries[i];
      const nanoseconds moved = after.exposed_wait - before.exposed_wait;
      REQUIRE(moved >= nanoseconds{});
      REQUIRE(before.exposed_transfer - after.exposed_transfer == moved);
      REQUIRE(after.uncharged_wait >= before.uncharged_wait);
      for (std::size_t rank = 0; rank < after.waited_for.size(); ++rank) {
        REQUIRE(after.waited_for[rank] >= before.waited_for[rank]);
      }
      stalled += moved;
      before.exposed_wait = after.exposed_wait;
      before.exposed_transfer = after.exposed_transfer;
      before.waited_for = after.waited_for;
      before.uncharged_wait = after.uncharged_wait;
      REQUIRE(content(before) == content(after));
    }
  }
  REQUIRE(stalled > nanoseconds{});
}
