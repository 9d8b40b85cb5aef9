// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"

#include "src/core/error.h"
#include "src/core/run.h"
#include "tests/catch.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;

TEST_CASE("an all-reduce message is one rank's buffer", "[message]") {
  const MessageShape shape = message_shape(Collective::all_reduce, Bytes(8.0), 4);
  REQUIRE(shape.block == 2);  // 8 B / 4 B
  REQUIRE(shape.send == 2);
  REQUIRE(shape.receive == 2);
  REQUIRE(shape.message == Bytes(8.0));
}

TEST_CASE("an all-gather message is the sum over ranks", "[message]") {
  const MessageShape shape = message_shape(Collective::all_gather, Bytes(64.0), 4);
  REQUIRE(shape.block == 4);  // 64 B / 4 B / 4 ranks
  REQUIRE(shape.send == 4);
  REQUIRE(shape.receive == 16);
  REQUIRE(shape.buffers() == Bytes(80.0));
}

TEST_CASE("a reduce-scatter message is the whole array, of which each rank keeps a part",
          "[message]") {
  const MessageShape shape = message_shape(Collective::reduce_scatter, Bytes(64.0), 4);
  REQUIRE(shape.send == 16);
  REQUIRE(shape.receive == 4);
}

TEST_CASE("a gather's message lies at the root, a scatter's too, a reduce's on each rank",
          "[message]") {
  REQUIRE(message_shape(Collective::gather, Bytes(64.0), 4).send == 4);
  REQUIRE(message_shape(Collective::gather, Bytes(64.0), 4).receive == 16);
  REQUIRE(message_shape(Collective::scatter, Bytes(64.0), 4).send == 16);
  REQUIRE(message_shape(Collective::scatter, Bytes(64.0), 4).receive == 4);
  REQUIRE(message_shape(Collective::reduce, Bytes(64.0), 4).send == 16);
}

TEST_CASE("sizes are rounded up to whole elements per rank", "[message]") {
  // 10 B = 3 elements = 1 per rank of 3, 2 per rank of 2.
  REQUIRE(message_shape(Collective::all_to_all, Bytes(10.0), 3).message == Bytes(12.0));
  REQUIRE(message_shape(Collective::all_to_all, Bytes(10.0), 2).message == Bytes(16.0));
  REQUIRE(message_shape(Collective::broadcast, Bytes(1.0), 2).message == Bytes(4.0));
}

TEST_CASE("nothing to move is refused", "[message]") {
  REQUIRE_THROWS_AS(message_shape(Collective::broadcast, Bytes(0.0), 2), ProbeFailure);
  REQUIRE_THROWS_AS(message_shape(Collective::broadcast, Bytes(8.0), 1), ProbeFailure);
}

namespace {
const StoppingTarget target{.relative_half_width = 0.01,
                            .minimum_samples = 6,
                            .maximum_samples = 60,
                            .time_budget = Seconds(10.0)};
}  // namespace

TEST_CASE("isolated repetitions are one operation, batches last 20 ms", "[pacer]") {
  const CollectivePacer pacer(CollectiveMode::isolated, target, Seconds(1e-3));
  CHECK(pacer.next().repetitions == 20);  // 20 ms / 1 ms
  CHECK(pacer.next().operations == 1);
}

TEST_CASE("other modes fill a millisecond between two clock readings", "[pacer]") {
  // 1 ms / 20 us = 50; large messages still take two, tiny ones at most a hundred.
  CHECK(CollectivePacer(CollectiveMode::back_to_back, target, Seconds(20e-6)).operations() == 50);
  CHECK(CollectivePacer(CollectiveMode::graph, target, Seconds(1.0)).operations() == 2);
  CHECK(CollectivePacer(CollectiveMode::graph, target, Seconds(1e-6)).operations() == 100);
}

TEST_CASE("a batch never exceeds the samples that are left, and no batch follows enough",
          "[pacer]") {
  CollectivePacer pacer(CollectiveMode::isolated, target, Seconds(10e-6));
  CHECK(pacer.next().repetitions == 50);
  // Half are twice as slow: the median cannot converge.
  std::vector<double> samples(50, 10e-6);
  for (std::size_t i = 0; i < samples.size(); i += 2) samples[i] = 20e-6;
  pacer.add(samples);
  CHECK(pacer.next().repetitions == 10);
  samples.resize(10);
  pacer.add(samples);
  CHECK(pacer.next().repetitions == 0);
}

TEST_CASE("a batch survives the way to the other ranks, anything else is refused", "[pacer]") {
  const CollectiveBatch batch = CollectiveBatch::of(CollectiveBatch{7, 50}.text());
  CHECK(batch.repetitions == 7);
  CHECK(batch.operations == 50);
  for (const char* wrong : {"", "7", "7 ", "7 0", "-1 2", "7 50 1", "99999 2", "x y"}) {
    CHECK_THROWS_AS(CollectiveBatch::of(wrong), ProbeFailure);
  }
}

namespace {
std::vector<float> pattern(int rank, std::size_t count) {
  std::vector<float> data(count);
  fill_pattern(data, rank);
  return data;
}

/// What rank 1 of 2 holds after an all-to-all of 4 elements: block 1 of rank 0, block 1 of rank 1.
std::vector<float> exchanged() {
  const auto from_0 = pattern(0, 4);
  const auto from_1 = pattern(1, 4);
  return {from_0[2], from_0[3], from_1[2], from_1[3]};
}
}  // namespace

TEST_CASE("the pattern is a hash of the place plus a term of the rank", "[pattern]") {
  // (1 x 2654435761 mod 2^32) >> 22 = 632; (2 x 2654435761 mod 2^32 = 1013904226) >> 22 = 241;
  // rank 3 adds 7 x 3 = 21.
  const auto data = pattern(3, 3);
  REQUIRE(data == std::vector<float>{21.0F, 653.0F, 262.0F});
}

TEST_CASE("the sum over ranks is what an all-reduce must give", "[pattern]") {
  const MessageShape shape = message_shape(Collective::all_reduce, Bytes(4096.0), 3);
  std::vector<float> sum(shape.receive);
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = pattern(rank, shape.send);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  REQUIRE_FALSE(find_error(sum, expected_result(Collective::all_reduce, shape, 1, 3)));
}

TEST_CASE("sums beyond the whole numbers of fp32 are refused, not called wrong", "[pattern]") {
  const MessageShape shape = message_shape(Collective::all_reduce, Bytes(4096.0), 8209);
  // 8208 (1023 + 1020) = 16,768,944 < 2^24 = 16,777,216.
  CHECK_NOTHROW(expected_result(Collective::all_reduce, shape, 0, 8208));
  CHECK_THROWS_AS(expected_result(Collective::all_reduce, shape, 0, 8209), ProbeFailure);
  CHECK_THROWS_AS(expected_result(Collective::reduce_scatter, shape, 0, 8209), ProbeFailure);
  CHECK_NOTHROW(expected_result(Collective::broadcast, shape, 1, 8209));
}

TEST_CASE("an exchanged block is right in its place only", "[pattern]") {
  const MessageShape shape = message_shape(Collective::all_to_all, Bytes(16.0), 2);
  const auto expected = expected_result(Collective::all_to_all, shape, 1, 2);
  REQUIRE_FALSE(find_error(exchanged(), expected));

  auto swapped = exchanged();
  std::swap(swapped[0], swapped[2]);
  std::swap(swapped[1], swapped[3]);
  REQUIRE(find_error(swapped, expected));
  // The same data is wrong for the other rank.
  REQUIRE(find_error(exchanged(), expected_result(Collective::all_to_all, shape, 0, 2)));
}

TEST_CASE("one wrong element is found and named", "[pattern]") {
  const MessageShape shape = message_shape(Collective::broadcast, Bytes(4000.0), 2);
  auto data = pattern(0, 1000);
  data[777] += 1.0F;
  const auto error = find_error(data, expected_result(Collective::broadcast, shape, 1, 2));
  REQUIRE(error);
  REQUIRE(error->starts_with("1 of 1000 elements are wrong, first element 777: "));
}

TEST_CASE("only the root holds the result of a reduce and of a gather", "[pattern]") {
  const MessageShape sum = message_shape(Collective::reduce, Bytes(8.0), 2);
  const auto from_0 = pattern(0, 2);
  const auto from_1 = pattern(1, 2);
  const std::vector<float> added{from_0[0] + from_1[0], from_0[1] + from_1[1]};
  REQUIRE_FALSE(find_error(added, expected_result(Collective::reduce, sum, 0, 2)));
  REQUIRE(find_error(from_0, expected_result(Collective::reduce, sum, 0, 2)));
  REQUIRE(expected_result(Collective::reduce, sum, 1, 2).empty());

  const MessageShape blocks = message_shape(Collective::gather, Bytes(16.0), 2);
  const std::vector<float> gathered{from_0[0], from_0[1], from_1[0], from_1[1]};
  REQUIRE_FALSE(find_error(gathered, expected_result(Collective::gather, blocks, 0, 2)));
  REQUIRE(expected_result(Collective::gather, blocks, 1, 2).empty());
}

TEST_CASE("a scatter gives each rank its block of the root's buffer", "[pattern]") {
  const MessageShape shape = message_shape(Collective::scatter, Bytes(16.0), 2);
  const auto root = pattern(0, 4);
  const std::vector<float> second(root.begin() + 2, root.end());
  REQUIRE_FALSE(find_error(second, expected_result(Collective::scatter, shape, 1, 2)));
  REQUIRE(find_error(second, expected_result(Collective::scatter, shape, 0, 2)));
}

TEST_CASE("what was never written is found", "[pattern]") {
  const MessageShape shape = message_shape(Collective::send_receive, Bytes(8.0), 2);
  const std::vector<float> untouched(2, std::numeric_limits<float>::quiet_NaN());
  REQUIRE(find_error(untouched, expected_result(Collective::send_receive, shape, 1, 2)));
}

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
    return {work.message, {time_s}, {{0, Rank{0}, 0, 10}, {0, Rank{1}, 1, 12}}, {}, {}, 3};
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
  void warn(const Finding& warning) override { warnings.push_back(warning); }
  void lose(const std::string&, double) override {}
  void progress(double fraction, const std::string&) override { fractions.push_back(fraction); }

  std::vector<Point> points;
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<Finding> warnings;
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

TEST_CASE("the quick sweep has 14 sizes, the standard one 26", "[sweep]") {
  // 2^3, 2^5, ... 2^25, 2^20 and 2^26: 14; 2^3 ... 2^28: 26; times 6 collectives and 2 modes.
  REQUIRE(plan_sweep(Suite::quick, 2, plenty).settings.size() == 14 * 6 * 2);
  REQUIRE(plan_sweep(Suite::standard, 2, plenty).settings.size() == 26 * 6 * 2);
  REQUIRE_FALSE(plan_sweep(Suite::quick, 2, plenty).left_out);
}

TEST_CASE("a sweep of the user's sizes and collectives has these only", "[sweep]") {
  RankOptions options;
  options.collectives = {Collective::broadcast};
  options.sizes = {Bytes(6.0), Bytes(1e6)};
  const SweepPlan plan = plan_sweep(Suite::standard, 2, plenty, options);
  REQUIRE(plan.settings.size() == 2 * 2);  // in both modes
  for (const CollectiveWork& work : plan.settings) {
    CHECK(work.collective == Collective::broadcast);
    CHECK((work.message == Bytes(8.0) || work.message == Bytes(1e6)));
  }
}

TEST_CASE("a sweep is cut to its time, but for the sizes at which runs are compared", "[sweep]") {
  const std::vector<CollectiveWork> all = plan_sweep(Suite::quick, 4, plenty).settings;
  std::vector<bool> done(all.size());
  const auto fitting = [&](double budget_s) {
    std::vector<CollectiveWork> works;
    for (const std::size_t place :
         cut_to_budget(all, done, 4, Seconds(budget_s), [](const auto&) { return Seconds(1.0); })) {
      works.push_back(all[place]);
    }
    return works;
  };
  const auto sizes = [](const std::vector<CollectiveWork>& works) {
    std::set<double> found;
    for (const CollectiveWork& work : works)
      if (work.collective == Collective::broadcast) found.insert(work.message.value());
    return found;
  };
  const auto least = fitting(0.0);
  REQUIRE(least.size() == 6 * 3);
  REQUIRE(sizes(least) == std::set{8.0, 1048576.0, 67108864.0});
  for (const CollectiveWork& work : least) {
    CHECK(work.ranks == 4);
    CHECK(work.mode == CollectiveMode::isolated);
  }
  // Twice that has them back to back as well, then come sizes between, then fewer ranks.
  for (const CollectiveWork& work : fitting(36.0)) CHECK(work.ranks == 4);
  REQUIRE(sizes(fitting(36.0)).size() == 3);
  REQUIRE(sizes(fitting(60.0)).size() > 3);
  REQUIRE(fitting(1e6).size() == all.size());
  // What was measured comes no more.
  for (const std::size_t place :
       cut_to_budget(all, done, 4, Seconds(0.0), [](const auto&) { return Seconds(1.0); })) {
    done[place] = true;
  }
  REQUIRE(fitting(0.0).empty());
  REQUIRE(fitting(18.0).size() == 18);
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
  REQUIRE(plan.left_out == Finding(FindingId::messages_left_out, 32.0, 64.0));
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
  PlanInputs setting;
  setting.max_ranks = 2;
  measure_collectives(group, setting, recorder);

  // 2048 B of buffers: 8, 32, 128, 512 B for all; 2048 B for none (2 x 2048, 1.5 x 2048).
  REQUIRE(recorder.points.size() == 4 * 6 * 2);
  const Point& point = recorder.points.front();
  const auto bytes = integer_parameter(point, Parameter::message_bytes);
  REQUIRE_THAT(series(point, Metric::time_s).at(0),
               WithinRel(1e-6 + 1e-9 * static_cast<double>(bytes), 1e-12));
  REQUIRE(integer_parameter(point, Parameter::ranks) == 2);
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
  REQUIRE_THROWS_AS(measure_collectives(group, {}, recorder), NothingToMeasure);
}

TEST_CASE("more rank counts and a larger suite take longer", "[sweep]") {
  PlanInputs two;
  two.available_memory = plenty;
  two.max_ranks = 2;
  PlanInputs four = two;
  four.max_ranks = 4;
  PlanInputs standard = two;
  standard.suite = Suite::standard;
  REQUIRE(estimate_collectives(two) < estimate_collectives(four));
  REQUIRE(estimate_collectives(two) < estimate_collectives(standard));
}
