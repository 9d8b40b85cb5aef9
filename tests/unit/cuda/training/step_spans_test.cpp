// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step_spans.h"

#include "cuda/nccl/rank_message.h"
#include "cuda/training/train.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/cuda/training/plain_operations.h"
#include "trace/span_ledger.h"

#include <algorithm>
#include <chrono>

using namespace scaleworth;
using std::chrono::nanoseconds;

namespace {
std::vector<gpu::RankShare> read_shares(std::string_view text) {
  return gpu::read_message<std::vector<gpu::RankShare>>(text);
}
}  // namespace

using testing::PlainMemory;

namespace {
constexpr probes::TransformerShape span_shape{
    .layers = 3, .width = 16, .heads = 2, .sequence = 8, .vocabulary = 32};
}  // namespace

TEST_CASE("a bucket is posted after the first stage that makes all of it final", "[gpu training]") {
  PlainMemory memory;
  const gpu::DeviceTransformer model(span_shape, 1, 8, memory);
  const gpu::StepSchedule schedule = make_schedule(model, Bytes(3000.0), 2);
  REQUIRE(schedule.posted_after.size() == 1 + schedule.buckets.size());
  REQUIRE(schedule.buckets.size() > 3);
  REQUIRE(schedule.posted_after[0] == model.forward().size() - 1);
  for (std::size_t i = 0; i < schedule.buckets.size(); ++i) {
    const std::size_t stage = schedule.posted_after[i + 1] - model.forward().size();
    REQUIRE(model.backward()[stage].ready >= schedule.buckets[i].end());
    if (stage > 0) REQUIRE(model.backward()[stage - 1].ready < schedule.buckets[i].end());
  }
  REQUIRE(schedule.posted_after.back() == schedule.stages.size() - 1);
}

TEST_CASE("buckets are cut by the bytes of bf16 gradients", "[gpu training]") {
  PlainMemory memory;
  const gpu::DeviceTransformer model(span_shape, 1, 8, memory);
  // The head has 512 elements: 1024 bytes.
  REQUIRE(make_schedule(model, Bytes(1024.0), 2).buckets.front().size == 512);
  REQUIRE(make_schedule(model, Bytes(1025.0), 2).buckets.front().size == 528);
}

TEST_CASE("one rank sums nothing", "[gpu training]") {
  PlainMemory memory;
  const gpu::DeviceTransformer model(span_shape, 1, 8, memory);
  REQUIRE(make_schedule(model, Bytes(3000.0), 1).posted_after.empty());
}

namespace {
/// Two stages forward, two backward; the loss after the second, a bucket after each of the others.
gpu::StepSchedule small_schedule() {
  gpu::StepSchedule schedule;
  schedule.stages = {"f0", "f1", "b0", "b1"};
  schedule.buckets = {{0, 10}, {10, 6}};
  schedule.posted_after = {1, 2, 3};
  return schedule;
}

/// Seconds; `sum_end` of the loss, bucket 0, bucket 1.
gpu::StepTimes step_times(double previous, double start, std::vector<double> sum_end, double end) {
  return {previous, start, {start + 1, start + 2, start + 4, start + 6}, std::move(sum_end), end};
}

const Span* find(const std::vector<Span>& spans, const std::string& name) {
  const auto found =
      std::find_if(spans.begin(), spans.end(), [&](const Span& s) { return s.name == name; });
  return found == spans.end() ? nullptr : &*found;
}

nanoseconds seconds(double value) {
  return nanoseconds(static_cast<std::int64_t>(value * 1e9));
}
}  // namespace

TEST_CASE("a stage lasts from the end of the one before to its own", "[gpu training]") {
  std::vector<Span> spans;
  append_step_spans(
      small_schedule(), step_times(0.5, 1, {3.5, 6.5, 9}, 10), {100.0, 1.0}, Rank{1}, 4, spans);
  const Span* stage = find(spans, "b0");
  REQUIRE(stage->start == seconds(103));
  REQUIRE(stage->end == seconds(105));
  REQUIRE(stage->activity == Activity::compute);
  REQUIRE(stage->rank == Rank{1});
  REQUIRE(stage->step == 4);
  const Span* whole = find(spans, "step");
  REQUIRE(whole->start == seconds(100.5));
  REQUIRE(whole->end == seconds(110));
  REQUIRE(find(spans, "data and launch")->end == seconds(101));
}

TEST_CASE("a sum is posted when its last stage ends", "[gpu training]") {
  std::vector<Span> spans;
  append_step_spans(small_schedule(), step_times(0, 1, {3.5, 6.5, 9}, 10), {}, Rank{0}, 0, spans);
  REQUIRE(find(spans, "post loss")->end == seconds(3));
  REQUIRE(find(spans, "post bucket 0")->end == seconds(5));
  REQUIRE(find(spans, "post bucket 1")->end == seconds(7));
  REQUIRE(find(spans, "post bucket 1")->sequence == 2);
}

TEST_CASE("only sums that outlast backward block the step", "[gpu training]") {
  std::vector<Span> spans;
  append_step_spans(small_schedule(), step_times(0, 1, {3.5, 6.5, 9}, 10), {}, Rank{0}, 0, spans);
  REQUIRE(find(spans, "all-reduce loss") == nullptr);
  REQUIRE(find(spans, "all-reduce bucket 0") == nullptr);  // 6.5 is before the end of b1 at 7
  const Span* wait = find(spans, "all-reduce bucket 1");
  REQUIRE(wait->start == seconds(7));
  REQUIRE(wait->end == seconds(9));
  REQUIRE(find(spans, "optimizer")->start == seconds(9));
}

TEST_CASE("spans of a step follow each other without gaps, even when events went back",
          "[gpu training]") {
  std::vector<Span> spans;
  gpu::StepTimes times = step_times(0, 1, {3.5, 6.5, 9}, 10);
  times.stage_end[2] = 2.9999996;  // an event clock of half a microsecond
  append_step_spans(small_schedule(), times, {}, Rank{0}, 0, spans);
  nanoseconds now{};
  for (const Span& span : spans) {
    if (span.activity == Activity::step) continue;
    REQUIRE(span.start == now);
    REQUIRE(span.end >= span.start);
    now = span.end;
  }
  REQUIRE(now == seconds(10));
}

TEST_CASE("the ledger of GPU steps charges the wait for the last rank to it", "[gpu training]") {
  // Rank 1 is two seconds behind from the first stage on; sums end together at 9.5 and 12.
  const gpu::RankShare early{
      Rank{0},
      {0, 1},
      1e-6,
      7,
      {step_times(0, 1, {5.5, 7.5, 9.5}, 12), step_times(12, 13, {16, 17, 19}, 20)}};
  gpu::RankShare late = early;
  late.rank = Rank{1};
  late.steps[0] = step_times(0, 3, {5.5, 7.5, 9.5}, 12);
  const Timeline timeline = timeline_of(small_schedule(), {early, late});
  REQUIRE(timeline.ranks == 2);
  REQUIRE(timeline.clock_error == nanoseconds(2000));
  REQUIRE_FALSE(timeline.progress_inside_calls_only);
  const trace::Ledger ledger = trace::build_ledger(timeline);
  REQUIRE(ledger.entries.size() == 4);
  // Rank 0's backward ends at 7; bucket 0 comes at 7.5 (all had arrived at 7: transfer), bucket 1
  // needs rank 1's b1, which ends at 9: wait from 7.5 to 9, then transfer to 9.5.
  REQUIRE(ledger.entries[0].part(Part::exposed_wait) == seconds(1.5));
  REQUIRE(ledger.entries[0].waited_for.at(Place{1}) == seconds(1.5));
  REQUIRE(ledger.entries[0].part(Part::exposed_transfer) == seconds(1.0));
  REQUIRE(ledger.entries[0].part(Part::unattributed) == nanoseconds::zero());
  REQUIRE(ledger.losses.empty());
}

TEST_CASE("shares of ranks arrive as they were sent", "[gpu training]") {
  const gpu::RankShare share{
      Rank{3}, {5.25, 1.0000001}, 2e-6, 99, {step_times(0, 1, {3, 4, 5}, 6)}};
  const auto read = read_shares(gpu::message_text(std::vector{share, share}));
  REQUIRE(read.size() == 2);
  REQUIRE(read[1].rank == Rank{3});
  REQUIRE(read[1].clock.factor == 1.0000001);
  REQUIRE(read[1].fingerprint == 99);
  REQUIRE(read[1].steps[0].stage_end == share.steps[0].stage_end);
  REQUIRE(read[1].steps[0].end == 6.0);
}

TEST_CASE("a share that is cut off is refused", "[gpu training]") {
  const gpu::RankShare share{Rank{3}, {5.25, 1.0}, 2e-6, 99, {step_times(0, 1, {3, 4, 5}, 6)}};
  const std::string text = gpu::message_text(std::vector{share});
  for (std::size_t length = 1; length < text.size(); ++length) {
    REQUIRE_THROWS_AS(read_shares(std::string_view(text).substr(0, length)), ProbeFailure);
  }
}

TEST_CASE("the clock's line goes through both anchors", "[gpu training]") {
  // 2 s on the GPU are 2.0002 s on the host: 100 ppm of drift
  const gpu::ClockMap map = gpu::clock_between(1000.0, 1002.0002, 2.0);
  REQUIRE_THAT(map.offset + map.factor * 2.0, WithinAbs(1002.0002, 1e-9));
  REQUIRE_THAT(map.offset + map.factor * 1.0, WithinAbs(1001.0001, 1e-9));
  REQUIRE(gpu::clock_between(5.0, 5.0, 0.0).factor == 1.0);
}
