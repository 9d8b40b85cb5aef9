// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/chrome_json.h"

#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"

#include <sstream>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::testing;
using scaleworth::trace::ChromeTraceCounts;
using Json = nlohmann::json;

namespace {

struct Written {
  Json json;
  ChromeTraceCounts counts;
};

Written write(const Timeline& timeline, const trace::TraceMetadata& metadata = {}) {
  std::ostringstream out;
  const ChromeTraceCounts counts = trace::write_chrome_trace(out, timeline, metadata);
  return {Json::parse(out.str()), counts};
}

std::vector<Json> events(const Written& written, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : written.json.at("traceEvents")) {
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

TEST_CASE("slices, sub-slices and arrows are as many as the writer says", "[chrome]") {
  const Written written = write(straggling_steps({0, 300, 40}, 2));
  // per step and rank 5 spans; waits of ranks 0 and 2 have both parts, rank 1 only transfer
  REQUIRE(written.counts.slices == 2 * 3 * 5);
  REQUIRE(written.counts.sub_slices == 2 * 5);
  REQUIRE(written.counts.arrows == 2 * 2);
  REQUIRE(events(written, "X").size() == 40);
  REQUIRE(events(written, "s").size() == 4);
  REQUIRE(events(written, "f").size() == 4);
  REQUIRE(events(written, "M").size() == 9);
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
      {"wait for rank 1", 20},
      {"transfer", 6},
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

TEST_CASE("times are exact microseconds from the first step, the base is kept", "[chrome]") {
  Timeline timeline;
  timeline.ranks = 1;
  const std::int64_t base = 1'700'000'000'123'456'789;
  timeline.spans = {span(0, Activity::step, base, base + 3'000'001),
                    span(0, Activity::compute, base + 1'007, base + 2'000'008)};
  std::ostringstream out;
  trace::write_chrome_trace(out, timeline, {});
  const std::string text = out.str();
  REQUIRE(text.find("\"baseTimeNanoseconds\":1700000000123456789,") != std::string::npos);
  REQUIRE(text.find("\"ts\":0.000,\"dur\":3000.001,") != std::string::npos);
  REQUIRE(text.find("\"ts\":1.007,\"dur\":1999.001,") != std::string::npos);
}

TEST_CASE("an arrow leads from the last arriver's post into the wait, never back in time",
          "[chrome]") {
  const Written written = write(straggling_steps({0, 300}, 1));
  const Json from = events(written, "s").at(0);
  const Json to = events(written, "f").at(0);
  REQUIRE(from.at("pid") == 2);
  REQUIRE(to.at("pid") == 1);
  REQUIRE(from.at("id") == to.at("id"));
  REQUIRE(to.at("bp") == "e");
  REQUIRE(nanoseconds_of(from, "ts") == 1300);  // its post starts after 1000 + 300 of compute
  REQUIRE(nanoseconds_of(to, "ts") == 1309);    // the wait ends at 1310
}

TEST_CASE("hostile names and metadata are escaped", "[chrome]") {
  Timeline timeline = straggling_steps({0}, 1);
  const std::string hostile = "\"},{]\n\\</script>\x01";
  timeline.spans[1].name = hostile;
  timeline.spans[2].name = "\xff\xfe";
  const Written written = write(timeline, {{hostile, "a\"b"}});
  REQUIRE(events(written, "X").at(1).at("name") == hostile);
  REQUIRE(events(written, "X").at(2).at("name") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  REQUIRE(written.json.at("otherData").at(hostile) == "a\"b");
}

TEST_CASE("an empty timeline is still a trace", "[chrome]") {
  REQUIRE(write(Timeline{}).json.at("traceEvents").empty());
}
