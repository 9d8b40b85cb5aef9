// SPDX-License-Identifier: Apache-2.0
#include "trace/span_ledger.h"

#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"
#include "trace/formats/export/export.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::testing;
using Json = nlohmann::json;

namespace {
Json write(const Timeline& timeline, const std::map<std::string, std::string>& metadata = {}) {
  return Json::parse(trace::chrome_trace(timeline, trace::build_ledger(timeline), metadata));
}

std::vector<Json> events(const Json& written, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : written.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

// Microseconds with three decimals are exact nanoseconds again after rounding.
std::int64_t nanoseconds_of(const Json& event, const char* key) {
  return std::llround(event.at(key).get<double>() * 1000.0);
}

bool nests(const std::vector<Json>& slices) {
  std::map<int, std::vector<std::int64_t>> open;  // ends of the enclosing slices per process
  for (const Json& slice : slices) {
    auto& ends = open[slice.at("pid").get<int>()];
    const std::int64_t start = nanoseconds_of(slice, "ts");
    const std::int64_t end = start + nanoseconds_of(slice, "dur");
    while (!ends.empty() && ends.back() <= start) ends.pop_back();
    if (!ends.empty() && end > ends.back()) return false;
    ends.push_back(end);
  }
  return true;
}
}  // namespace

TEST_CASE("steps, spans, parts of waits and arrows are events of the trace", "[chrome]") {
  const Json written = write(straggling_steps({0, 300, 40}, 2));
  // per step and rank 5 spans; waits of ranks 0 and 2 have both parts, rank 1 only transfer
  REQUIRE(events(written, "X").size() == 2 * 3 * 5 + 2 * 5);
  REQUIRE(events(written, "s").size() == 2 * 2);
  REQUIRE(events(written, "f").size() == 2 * 2);
  REQUIRE(events(written, "M").size() == 3 * 4);  // name and place of each process and track
}

TEST_CASE("the sub-slices of a wait are the parts of the ledger", "[chrome]") {
  std::vector<std::pair<std::string, std::int64_t>> parts;
  for (const Json& slice : events(write(two_buckets()), "X")) {
    if (slice.at("cat") != "ledger") continue;
    parts.emplace_back(slice.at("name"), nanoseconds_of(slice, "dur"));
  }
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"wait for rank 1 to make progress", 18},
      {"transfer", 4},
      {"wait for rank 1", 18},  // its calls are no work of its own
      {"transfer", 8},
      {"transfer", 6}};  // the last one on rank 1
  REQUIRE(parts == expected);
}

TEST_CASE("slices nest on every row, even of a malformed timeline", "[chrome]") {
  REQUIRE(nests(events(write(straggling_steps({0, 300, 40}, 3)), "X")));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Timeline timeline = random_timeline(seed);
    timeline.progress_inside_calls_only = seed % 2 == 1;
    std::erase_if(timeline.spans, [](const Span& one) {
      return one.activity == Activity::step;  // steps of a rank that overlap cannot nest
    });
    for (int rank = 0; rank < timeline.ranks; ++rank) {
      timeline.spans.push_back(span(rank, Activity::step, 100, 600));
    }
    REQUIRE(nests(events(write(timeline), "X")));
  }
}

TEST_CASE("times are microseconds from the first step, exact to the nanosecond, the base is kept",
          "[chrome]") {
  Timeline timeline;
  timeline.ranks = 1;
  const std::int64_t base = 1'700'000'000'123'456'789;
  timeline.spans = {span(0, Activity::step, base, base + 3'000'001),
                    span(0, Activity::compute, base + 1'007, base + 2'000'008)};
  const std::string text = trace::chrome_trace(timeline, trace::build_ledger(timeline), {});
  REQUIRE(text.find("\"baseTimeNanoseconds\":1700000000123456789,") != std::string::npos);
  const auto nanoseconds_of = [](const Json& us) { return std::llround(us.get<double>() * 1000); };
  const Json slices = events(Json::parse(text), "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["ts"] == 0);
  CHECK(nanoseconds_of(slices[0]["dur"]) == 3'000'001);
  CHECK(nanoseconds_of(slices[1]["ts"]) == 1'007);
  CHECK(nanoseconds_of(slices[1]["dur"]) == 1'999'001);
}

TEST_CASE("an arrow leads from the last arriver's post into the wait, never back in time",
          "[chrome]") {
  const Json written = write(straggling_steps({0, 300}, 1));
  const Json from = events(written, "s").at(0);
  const Json to = events(written, "f").at(0);
  REQUIRE(from.at("pid") == 2);
  REQUIRE(to.at("pid") == 1);
  REQUIRE(from.at("id") == to.at("id"));
  REQUIRE(to.at("bp") == "e");
  REQUIRE(nanoseconds_of(from, "ts") == 1300);  // its post starts after 1000 + 300 of compute
  REQUIRE(nanoseconds_of(to, "ts") == 1310);    // the wait ends
}

TEST_CASE("hostile names and metadata are escaped", "[chrome]") {
  Timeline timeline = straggling_steps({0}, 1);
  const std::string hostile = "\"},{]\n\\</script>\x01";
  timeline.spans[1].name = hostile;
  const Json written = write(timeline, {{hostile, "a\"b"}});
  REQUIRE(events(written, "X").at(1).at("name") == hostile);
  REQUIRE(written.at("otherData").at(hostile) == "a\"b");
}

TEST_CASE("an empty timeline is still a trace", "[chrome]") {
  REQUIRE(write(Timeline{}).at("traceEvents").empty());
}

TEST_CASE("each rank becomes a point whose series have one value per step", "[ledger]") {
  Point setting;
  setting.setting.set(Parameter::scaling, std::string("strong"));
  setting.setting.set(Parameter::ranks, std::int64_t{2});
  const Timeline timeline = straggling_steps({0, 300}, 4);
  const auto points = trace::ledger_points(setting, trace::build_ledger(timeline));
  REQUIRE(points.size() == 3);
  REQUIRE(text_parameter(points[1], Parameter::scaling) == "strong");
  REQUIRE(integer_parameter(points[1], Parameter::rank) == 1);
  // step = 1000 + 300 compute + 10 post + 200 transfer + 50 optimizer
  REQUIRE(series(points[0], Metric::step_ns) == std::vector<double>(4, 1560.0));
  REQUIRE(series(points[0], Metric::compute_ns) == std::vector<double>(4, 1000.0));
  REQUIRE(series(points[0], Metric::exposed_wait_ns) == std::vector<double>(4, 300.0));
  // Rank 0 waits for rank 1, which waits for none.
  REQUIRE(integer_parameter(points[2], Parameter::rank) == 0);
  REQUIRE(integer_parameter(points[2], Parameter::waited_for) == 1);
  REQUIRE(series(points[2], Metric::wait_ns) == std::vector<double>(4, 300.0));
  REQUIRE(points[0].warnings.empty());
}

TEST_CASE("what the ledger could not read becomes a warning of every point", "[ledger]") {
  Timeline timeline = straggling_steps({0, 300}, 1);
  timeline.spans.push_back(span(0, Activity::compute, 50, 10));
  const auto points = trace::ledger_points({}, trace::build_ledger(timeline));
  REQUIRE(points.at(1).warnings ==
          std::vector<Finding>{{FindingId::ledger_lost, "invalid_spans", 1}});
}

using scaleworth::StepLedger;
using scaleworth::trace::build_ledger;
using scaleworth::trace::Ledger;
using std::chrono::nanoseconds;

namespace {
auto content(const StepLedger& e) {
  return std::tuple(e.step,
                    e.rank,
                    e.end - e.start,
                    e.part(Part::compute),
                    e.part(Part::optimizer),
                    e.part(Part::host),
                    e.part(Part::progress),
                    e.part(Part::exposed_wait),
                    e.part(Part::exposed_transfer),
                    e.part(Part::unattributed),
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
  return a.losses == b.losses &&
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
    for (const StepLedger& entry : ledger.entries) {
      const std::vector<nanoseconds> parts{entry.part(Part::compute),
                                           entry.part(Part::optimizer),
                                           entry.part(Part::host),
                                           entry.part(Part::progress),
                                           entry.part(Part::exposed_wait),
                                           entry.part(Part::exposed_transfer),
                                           entry.part(Part::unattributed)};
      REQUIRE(std::accumulate(parts.begin(), parts.end(), nanoseconds{}) ==
              entry.end - entry.start);
      REQUIRE(*std::min_element(parts.begin(), parts.end()) >= nanoseconds{});
      REQUIRE(entry.waited_for.sum() + entry.uncharged_wait == entry.part(Part::exposed_wait));
      REQUIRE(entry.waited_for.at(entry.place) == nanoseconds{});
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
    for (const StepLedger& entry : ledger.entries) {
      parts -= entry.part(Part::exposed_wait) + entry.part(Part::exposed_transfer);
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
      StepLedger before = alone.entries[i];
      const StepLedger& after = calls.entries[i];
      const nanoseconds moved = after.part(Part::exposed_wait) - before.part(Part::exposed_wait);
      REQUIRE(moved >= nanoseconds{});
      REQUIRE(before.part(Part::exposed_transfer) - after.part(Part::exposed_transfer) == moved);
      REQUIRE(after.uncharged_wait >= before.uncharged_wait);
      for (const auto& [place, time] : before.waited_for)
        REQUIRE(after.waited_for.at(place) >= time);
      stalled += moved;
      before.part(Part::exposed_wait) = after.part(Part::exposed_wait);
      before.part(Part::exposed_transfer) = after.part(Part::exposed_transfer);
      before.waited_for = after.waited_for;
      before.uncharged_wait = after.uncharged_wait;
      REQUIRE(content(before) == content(after));
    }
  }
  REQUIRE(stalled > nanoseconds{});
}

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
  const StepLedger& first = ledger.entries[0];
  REQUIRE(first.end - first.start == 100ns);
  REQUIRE(first.part(Part::compute) == 25ns);
  REQUIRE(first.part(Part::optimizer) == 8ns);
  REQUIRE(first.part(Part::host) == 5ns);
  REQUIRE(first.part(Part::progress) == 6ns);           // post 2 + progress 4
  REQUIRE(first.part(Part::exposed_wait) == 34ns);      // [36, 70)
  REQUIRE(first.part(Part::exposed_transfer) == 20ns);  // [70, 90)
  REQUIRE(first.part(Part::unattributed) == 2ns);       // [98, 100)
  REQUIRE(first.waited_for.at(Place{1}) == 34ns);
  REQUIRE(first.waited_for.sum() == 34ns);
}

TEST_CASE("the last arriver waits for nobody: its blocked time is transfer", "[ledger]") {
  const StepLedger last = build_ledger(two_ranks()).entries[1];
  REQUIRE(last.part(Part::exposed_wait) == 0ns);
  REQUIRE(last.part(Part::exposed_transfer) == 18ns);
  REQUIRE(last.part(Part::unattributed) == 2ns);  // [88, 90)
  REQUIRE(last.waited_for.empty());
}

TEST_CASE("a wait that ends before the last arrival is all wait", "[ledger]") {
  Timeline timeline = two_ranks();
  timeline.spans[5].end = 60ns;
  const StepLedger first = build_ledger(timeline).entries[0];
  REQUIRE(first.part(Part::exposed_wait) == 24ns);
  REQUIRE(first.part(Part::exposed_transfer) == 0ns);
}

TEST_CASE("a wait shorter than the clock error is charged to nobody and counted", "[ledger]") {
  Timeline timeline = two_ranks();
  timeline.clock_error = 35ns;  // the wait has 34 ns, the arrivals lie 38 ns apart
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries[0].part(Part::exposed_wait) == 34ns);
  REQUIRE(ledger.entries[0].uncharged_wait == 34ns);
  REQUIRE(ledger.entries[0].waited_for.at(Place{1}) == 0ns);
  REQUIRE(ledger.losses.at("uncharged_waits") == 1);
}

TEST_CASE("when the two last arrivals lie within the clock error nobody is blamed", "[ledger]") {
  Timeline timeline = straggling_steps({0, 500, 495}, 1);
  timeline.clock_error = 5ns;
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries[0].part(Part::exposed_wait) == 500ns);
  REQUIRE(ledger.entries[0].uncharged_wait == 500ns);
  timeline.clock_error = 4ns;
  REQUIRE(build_ledger(timeline).entries[0].waited_for.at(Place{1}) == 500ns);
}

TEST_CASE("a wait with a rank's arrival unknown is unattributed and counted", "[ledger]") {
  Timeline timeline = two_ranks();
  timeline.spans.erase(timeline.spans.begin() + 9);  // rank 1's post
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.losses.at("unsplit_waits") == 2);
  REQUIRE(ledger.entries[0].part(Part::exposed_wait) == 0ns);
  REQUIRE(ledger.entries[0].part(Part::unattributed) == 56ns);  // [36, 90) and [98, 100)
}

TEST_CASE("one rank alone never waits", "[ledger]") {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.spans = {span(0, Activity::step, 10, 50), span(0, Activity::compute, 10, 50)};
  const Ledger ledger = build_ledger(timeline);
  REQUIRE(ledger.entries.at(0).part(Part::compute) == 40ns);
  REQUIRE(ledger.entries.at(0).part(Part::unattributed) == 0ns);
  REQUIRE(ledger.losses.empty());
}

TEST_CASE("an empty timeline has an empty ledger", "[ledger]") {
  REQUIRE(build_ledger(Timeline{}).entries.empty());
}

TEST_CASE("the lateness of a simulated straggler is recovered to the nanosecond", "[ledger]") {
  const std::vector<std::int64_t> lateness{30, 0, 7'000, 120};
  const Ledger ledger = build_ledger(straggling_steps(lateness, 5));
  REQUIRE(ledger.entries.size() == 20);
  for (const StepLedger& entry : ledger.entries) {
    const std::int64_t own = lateness[static_cast<std::size_t>(entry.rank.index)];
    REQUIRE(entry.waited_for.at(Place{2}) == nanoseconds(7'000 - own));
    REQUIRE(entry.part(Part::exposed_wait) == entry.waited_for.at(Place{2}));
    REQUIRE(entry.part(Part::exposed_transfer) == 200ns);
    REQUIRE(entry.part(Part::unattributed) == 0ns);
  }
}

namespace {
Timeline one_step(std::vector<Span> spans) {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.spans = std::move(spans);
  timeline.spans.push_back(span(0, Activity::step, 100, 200));
  return timeline;
}
}  // namespace

TEST_CASE("of two overlapping spans the earlier one keeps the common time", "[segments]") {
  const auto result = build_ledger(
      one_step({span(0, Activity::host, 140, 170), span(0, Activity::compute, 110, 150)}));
  REQUIRE(result.spans.size() == 3);  // the first is the step
  REQUIRE(result.spans[1].end == 150ns);
  REQUIRE(result.spans[2].start == 150ns);
  REQUIRE(result.spans[2].end == 170ns);
  REQUIRE(result.losses.at("overlapping_spans") == 1);
  REQUIRE(result.losses.at("overlapping_time_ns") == 10);
}

TEST_CASE("a span inside another one is dropped and its time counted", "[segments]") {
  const auto result = build_ledger(
      one_step({span(0, Activity::compute, 110, 150), span(0, Activity::host, 120, 130)}));
  REQUIRE(result.spans.size() == 2);
  REQUIRE(result.losses.at("overlapping_time_ns") == 10);
}

TEST_CASE("spans are clipped to their step", "[segments]") {
  const auto result = build_ledger(one_step({span(0, Activity::compute, 90, 120),
                                             span(0, Activity::compute, 190, 230),
                                             span(0, Activity::compute, 300, 305)}));
  REQUIRE(result.spans.size() == 3);
  REQUIRE(result.spans[1].start == 100ns);
  REQUIRE(result.spans[2].end == 200ns);
  REQUIRE(result.losses.at("outside_spans") == 3);
  REQUIRE(result.losses.at("outside_time_ns") == 45);  // 10 + 30 + 5
}

TEST_CASE("impossible spans are counted and ignored", "[segments]") {
  const std::int64_t extreme = std::numeric_limits<std::int64_t>::max();
  const auto result = build_ledger(one_step({span(0, Activity::compute, 150, 120),
                                             span(7, Activity::compute, 110, 120),
                                             span(0, Activity::compute, -extreme, extreme)}));
  REQUIRE(result.spans.size() == 1);
  REQUIRE(result.losses.at("invalid_spans") == 3);
}

TEST_CASE("a doubled step, a missing step and a span without step are counted", "[segments]") {
  Timeline timeline = one_step({span(0, Activity::step, 100, 150)});
  timeline.ranks = 2;
  timeline.spans.push_back(span(1, Activity::compute, 100, 150));
  const auto result = build_ledger(timeline);
  REQUIRE(result.losses.at("duplicate_steps") == 1);
  REQUIRE(result.losses.at("missing_steps") == 1);
  REQUIRE(result.losses.at("orphan_spans") == 1);
  REQUIRE(result.losses.size() == 3);
}

TEST_CASE("a rank that starts late because its last collective ended late is not waited for",
          "[ledger]") {
  // Both compute 100 in each step; rank 1's all-reduces end 40 after rank 0's.
  Timeline timeline;
  timeline.ranks = 2;
  for (int rank = 0; rank < 2; ++rank) {
    const int late = 40 * rank;
    for (int step = 0; step < 3; ++step) {
      const int begin = 200 * step + (step > 0 ? late : 0);
      const int posted = begin + 100 + (step == 2 ? 6 * rank : 0);
      const int end = 200 * step + 190 + late;
      for (Span one : {span(rank, Activity::step, begin, end),
                       span(rank, Activity::compute, begin, posted),
                       collective(rank, Activity::post, 0, posted, posted + 1),
                       collective(rank, Activity::collective_wait, 0, posted + 1, end)}) {
        one.step = step;
        timeline.spans.push_back(one);
      }
    }
  }
  const auto ledger = trace::build_ledger(timeline);
  const auto waited = [&](int step) {
    return ledger.entries.at(static_cast<std::size_t>(2 * step)).part(Part::exposed_wait).count();
  };
  CHECK(waited(1) == 0);
  CHECK(waited(2) == 6);  // what it worked longer
  const auto& second = ledger.entries.at(2);
  CHECK(second.part(Part::exposed_transfer).count() == 89);
  CHECK(second.waited_for.empty());
}
