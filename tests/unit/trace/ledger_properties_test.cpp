// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"
#include "trace/analysis/ledger.h"

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
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Ledger ledger = build_ledger(random_timeline(seed));
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
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Timeline timeline = random_timeline(seed);
    Timeline shuffled = timeline;
    std::shuffle(shuffled.spans.begin(), shuffled.spans.end(), std::mt19937_64(seed));
    REQUIRE(same(build_ledger(timeline), build_ledger(shuffled)));
  }
}

TEST_CASE("shifting all clocks by the same amount changes nothing", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Timeline timeline = random_timeline(seed);
    Timeline shifted = timeline;
    for (Span& one : shifted.spans) {
      one.start += nanoseconds(1'700'000'000'123'456'789);
      one.end += nanoseconds(1'700'000'000'123'456'789);
    }
    REQUIRE(same(build_ledger(timeline), build_ledger(shifted)));
  }
}
