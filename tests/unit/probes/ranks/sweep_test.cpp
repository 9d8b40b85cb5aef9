// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/sweep.h"

#include "probes/collectives/message.h"
#include "probes/collectives/sweep_plan.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"
#include "tests/catch.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

constexpr Bytes plenty{8e9};

/// Every operation takes 1 us and 1 ns per byte.
class FakeGroup : public RankGroup {
 public:
  explicit FakeGroup(int size) : size_(size) {}
  Rank rank() const override { return Rank{0}; }
  int size() const override { return size_; }
  std::string placement() const override { return "nowhere"; }
  Bytes available_memory_per_rank() const override { return Bytes(4096.0); }
  CollectiveMeasured time_collective(const CollectiveWork& work, const StoppingTarget&) override {
    const double time_s = 1e-6 + 1e-9 * work.message.value();
    return {work.message, {time_s}, {{0, Rank{0}, 0, 10}, {0, Rank{1}, 1, 12}}, "one", {}, 3};
  }
  TrainingMeasured train(const TrainingWork&) override { return {}; }

 private:
  int size_;
};

class KeepingRecorder : public Recorder {
 public:
  void add(Point point) override { points.push_back(std::move(point)); }
  void add_timeline(const Point&, Timeline) override {}
  void add_rows(const std::string& name,
                const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& more) override {
    file = name;
    columns = header;
    rows.insert(rows.end(), more.begin(), more.end());
  }
  void warn(const std::string& warning) override { warnings.push_back(warning); }
  void lose(const std::string&, double) override {}
  void progress(double fraction, const std::string&) override { fractions.push_back(fraction); }

  std::vector<Point> points;
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> warnings;
  std::vector<double> fractions;
};

bool same(const CollectiveWork& a, const CollectiveWork& b) {
  return a.collective == b.collective && a.mode == b.mode && a.message == b.message &&
         a.ranks == b.ranks;
}

}  // namespace

TEST_CASE("rank counts are the powers of two and the size itself", "[sweep]") {
  REQUIRE(rank_counts(1).empty());
  REQUIRE(rank_counts(2) == std::vector<int>{2});
  REQUIRE(rank_counts(6) == std::vector<int>{2, 4, 6});
  REQUIRE(rank_counts(8) == std::vector<int>{2, 4, 8});
}

TEST_CASE("the quick sweep has 13 sizes, the standard one 26", "[sweep]") {
  // 2^3, 2^5, ... 2^25 and 2^26: 13; 2^3 ... 2^28: 26; times 6 collectives and 2 modes.
  REQUIRE(plan_sweep(Suite::quick, 2, plenty).settings.size() == 13 * 6 * 2);
  REQUIRE(plan_sweep(Suite::standard, 2, plenty).settings.size() == 26 * 6 * 2);
  REQUIRE(plan_sweep(Suite::quick, 2, plenty).left_out.empty());
}

TEST_CASE("sizes that become one after rounding are measured once", "[sweep]") {
  // On 4 ranks 8 B is 4 elements = 16 B for the three collectives that divide the message, which
  // is their next size: 26 + 25 sizes, 3 collectives each, 2 modes, beside the 2-rank settings.
  REQUIRE(plan_sweep(Suite::standard, 4, plenty).settings.size() == 26 * 6 * 2 + (26 + 25) * 3 * 2);
}

TEST_CASE("sizes whose buffers do not fit are left out and said", "[sweep]") {
  const SweepPlan plan = plan_sweep(Suite::quick, 2, Bytes(64.0 * 1024 * 1024));
  for (const CollectiveWork& work : plan.settings) {
    REQUIRE(message_shape(work.collective, work.message, work.ranks).buffers() <=
            Bytes(32.0 * 1024 * 1024));
  }
  // All-reduce of 32 MiB has two buffers of 32 MiB.
  REQUIRE(plan.left_out.starts_with("messages from 32 MiB up were left out"));
}

TEST_CASE("the order is random and the same each time", "[sweep]") {
  const auto one = plan_sweep(Suite::quick, 2, plenty).settings;
  const auto two = plan_sweep(Suite::quick, 2, plenty).settings;
  REQUIRE(std::equal(one.begin(), one.end(), two.begin(), two.end(), same));
  REQUIRE_FALSE(std::is_sorted(
      one.begin(), one.end(), [](const auto& a, const auto& b) { return a.message < b.message; }));
}

TEST_CASE("each setting gives a point with its parameters and the ranks' timings", "[sweep]") {
  FakeGroup group(2);
  KeepingRecorder recorder;
  Setting setting;
  setting.max_ranks = 2;
  measure_collectives(group, setting, {}, recorder);

  // 2048 B of buffers: 8, 32, 128, 512 B for all; 2048 B for none (2 x 2048, 1.5 x 2048).
  REQUIRE(recorder.points.size() == 4 * 6 * 2);
  const Point& point = recorder.points.front();
  const auto bytes = integer_parameter(point, fields::message_bytes);
  REQUIRE_THAT(series(point, fields::time_s).at(0),
               WithinRel(1e-6 + 1e-9 * static_cast<double>(bytes), 1e-12));
  REQUIRE(integer_parameter(point, fields::ranks) == 2);
  REQUIRE(recorder.warnings.size() == 1);
  REQUIRE(std::is_sorted(recorder.fractions.begin(), recorder.fractions.end()));

  REQUIRE(recorder.file == "collectives.csv");
  REQUIRE(recorder.rows.size() == 2 * recorder.points.size());
  const auto& second = recorder.rows.at(1);
  REQUIRE(second.size() == recorder.columns.size());
  REQUIRE(std::vector<std::string>(second.begin() + 4, second.end()) ==
          std::vector<std::string>{"3", "0", "1", "1", "12"});
}

TEST_CASE("one rank has nothing to measure", "[sweep]") {
  FakeGroup group(1);
  KeepingRecorder recorder;
  REQUIRE_THROWS_AS(measure_collectives(group, {}, {}, recorder), NothingToMeasure);
}

TEST_CASE("more rank counts and a larger suite take longer", "[sweep]") {
  Setting two;
  two.available_memory = plenty;
  two.max_ranks = 2;
  Setting four = two;
  four.max_ranks = 4;
  Setting standard = two;
  standard.suite = Suite::standard;
  REQUIRE(estimate_collectives(two) < estimate_collectives(four));
  REQUIRE(estimate_collectives(two) < estimate_collectives(standard));
}
