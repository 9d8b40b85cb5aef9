// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/kernel_spans.h"

#include "cuda/training/step/rank_share.h"
#include "tests/catch.h"
#include "trace/spans/ledger.h"

#include <algorithm>
#include <chrono>

using namespace scaleworth;
using gpu::DeviceActivity;
using std::chrono::nanoseconds;

namespace {

DeviceActivity kernel(std::int64_t start, std::int64_t end, const std::string& name) {
  return {DeviceActivity::Kind::kernel, 0, 7, start, end, name};
}

DeviceActivity copy(std::int64_t start, std::int64_t end) {
  return {DeviceActivity::Kind::copy, 0, 7, start, end, {}};
}

const std::string update = "_ZN10scaleworth3gpu12_GLOBAL__N_16updateENS0_4AdamE";
const std::string sum = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)";

/// From `t` on: copy, two kernels with a gap, a sum beside the second and behind it, the loss's
/// copy, the update until t + 100.
void add_step(std::int64_t t, std::vector<DeviceActivity>& to) {
  to.push_back(copy(t + 2, t + 5));
  to.push_back(kernel(t + 10, t + 30, "forward"));
  to.push_back(kernel(t + 40, t + 60, "backward"));
  to.push_back(kernel(t + 35, t + 80, sum));
  to.push_back(copy(t + 82, t + 84));
  to.push_back(kernel(t + 90, t + 100, update));
}

std::vector<DeviceActivity> two_steps() {
  std::vector<DeviceActivity> activities;
  activities.push_back(kernel(900, 1000, update));
  add_step(1000, activities);
  add_step(1100, activities);
  return activities;
}

trace::LedgerEntry entry_of(const std::vector<Span>& spans) {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.spans = spans;
  return trace::build_ledger(timeline).entries.front();
}

}  // namespace

TEST_CASE("a traced step lasts from the update before to its own", "[gpu training]") {
  const auto spans = gpu::kernel_spans(two_steps(), {2, 1}, Rank{0});
  std::vector<Span> steps;
  std::copy_if(spans.begin(), spans.end(), std::back_inserter(steps), [](const Span& s) {
    return s.activity == Activity::step;
  });
  REQUIRE(steps.size() == 2);
  REQUIRE(steps[0].start == nanoseconds(1000));
  REQUIRE(steps[0].end == nanoseconds(1100));
  REQUIRE(steps[1].step == 1);
  REQUIRE(steps[1].end == nanoseconds(1200));
}

TEST_CASE("the ledger of kernels: products, waits behind them, gaps", "[gpu training]") {
  const trace::LedgerEntry entry = entry_of(gpu::kernel_spans(two_steps(), {2, 1}, Rank{0}));
  REQUIRE(entry.step_time == nanoseconds(100));
  REQUIRE(entry.compute == nanoseconds(20 + 20));
  REQUIRE(entry.optimizer == nanoseconds(10));
  REQUIRE(entry.host == nanoseconds(3 + 2));  // copies
  // The sum runs from 35 to 80; the rank itself until 60: 20 behind.
  REQUIRE(entry.exposed_transfer + entry.exposed_wait == nanoseconds(20));
  // 2 + 5 before the first kernel, 10 between, 2 and 6 around the loss's copy
  REQUIRE(entry.unattributed == nanoseconds(25));
}

TEST_CASE("the order of records does not matter", "[gpu training]") {
  auto shuffled = two_steps();
  std::reverse(shuffled.begin(), shuffled.end());
  const auto expected = gpu::kernel_spans(two_steps(), {2, 1}, Rank{0});
  const auto found = gpu::kernel_spans(shuffled, {2, 1}, Rank{0});
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].start == expected[i].start);
    REQUIRE(found[i].name == expected[i].name);
  }
}

TEST_CASE("only the last steps of a recording are told", "[gpu training]") {
  const auto spans = gpu::kernel_spans(two_steps(), {1, 1}, Rank{3});
  REQUIRE(spans.front().start == nanoseconds(1100));
  REQUIRE(spans.front().step == 0);
  REQUIRE(spans.front().rank == Rank{3});
}

TEST_CASE("a recording that lost steps or sums tells nothing", "[gpu training]") {
  REQUIRE(gpu::kernel_spans(two_steps(), {3, 1}, Rank{0}).empty());
  REQUIRE(gpu::kernel_spans(two_steps(), {2, 2}, Rank{0}).empty());
  REQUIRE(gpu::kernel_spans({}, {1, 0}, Rank{0}).empty());
}

TEST_CASE("a rank arrives at a sum when its kernel starts", "[gpu training]") {
  auto late = two_steps();
  for (DeviceActivity& activity : late) {
    if (activity.name == sum) activity.start_ns += 30;  // 65 in its step
  }
  gpu::RankShare first{Rank{0}, {}, 0.0, 0, {}, gpu::kernel_spans(two_steps(), {2, 1}, Rank{0}), 0};
  gpu::RankShare second{Rank{1}, {}, 0.0, 0, {}, gpu::kernel_spans(late, {2, 1}, Rank{1}), 0};
  const auto read = gpu::shares_of(gpu::shares_text({first, second}));
  auto timeline = gpu::kernel_timeline_of(read);
  REQUIRE(timeline);
  timeline->clock_error = nanoseconds::zero();
  const trace::Ledger ledger = trace::build_ledger(*timeline);
  // Rank 0 is blocked from 60 to 80 and rank 1 arrives at 65.
  REQUIRE(ledger.entries[0].waited_for[1] == nanoseconds(5));
  REQUIRE(ledger.entries[0].exposed_transfer == nanoseconds(15));
  second.kernels.clear();
  REQUIRE_FALSE(gpu::kernel_timeline_of({first, second}));
}
