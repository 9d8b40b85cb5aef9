// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/mpi/training/training_group.h"
#include "trace/span_ledger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace scaleworth;
using namespace scaleworth::testing;
using scaleworth::probes::TrainingMeasured;
using scaleworth::probes::TrainingWork;
using scaleworth::trace::build_ledger;
using std::chrono::nanoseconds;

// The sums over 384 tokens are taken in another order when they are divided over ranks. Each step
// adds fp32 rounding of 6e-8 relative to gradients; Adam divides by their size, so 14 updates of
// 1e-3 turn it into at most some 1e-5 of the loss.
TEST_CASE("losses agree whatever the number of ranks, and they fall", "[training]") {
  const TrainingMeasured one = train(small_work(1));
  const TrainingMeasured all = train(small_work(ranks()));
  if (!root()) return;
  REQUIRE(one.loss.size() == 14);
  REQUIRE(all.loss.size() == 14);
  for (std::size_t i = 0; i < one.loss.size(); ++i) {
    REQUIRE_THAT(all.loss[i], WithinRel(one.loss[i], 1e-4));
  }
  REQUIRE(all.loss.back() < 0.99 * all.loss.front());
  REQUIRE(all.warnings.empty());
}

TEST_CASE("the counts of a step are those of the model", "[training]") {
  const TrainingWork work = small_work(ranks());
  const TrainingMeasured measured = train(work);
  if (!root()) return;
  REQUIRE(measured.parameters == probes::parameter_count(work.shape));
  REQUIRE(measured.tokens == 12 * 32);
  REQUIRE(measured.gradient.value() == 4.0 * static_cast<double>(measured.parameters));
  Bytes buckets;
  for (const Bytes bucket : measured.buckets) buckets += bucket;
  REQUIRE(buckets == measured.gradient);
  REQUIRE(measured.buckets.size() > 3);
}

TEST_CASE("the ledger of a real step sums, loses nothing and leaves little unattributed",
          "[training]") {
  const TrainingMeasured measured = train(small_work(ranks()));
  if (!root()) return;
  const auto ledger = build_ledger(measured.timeline);
  REQUIRE(ledger.entries.size() == 12 * static_cast<std::size_t>(ranks()));
  REQUIRE(ledger.losses.empty());
  for (const auto& entry : ledger.entries) {
    REQUIRE(entry.part(Part::compute) + entry.part(Part::optimizer) + entry.part(Part::host) +
                entry.part(Part::progress) + entry.part(Part::exposed_wait) +
                entry.part(Part::exposed_transfer) + entry.part(Part::unattributed) ==
            entry.end - entry.start);
    REQUIRE(entry.part(Part::compute) > nanoseconds{});
    REQUIRE(entry.part(Part::optimizer) > nanoseconds{});
  }
}

TEST_CASE("each rank posts each collective of each step exactly once", "[training]") {
  const TrainingMeasured measured = train(small_work(ranks()));
  if (!root()) return;
  std::set<std::tuple<int, int, int>> posts;
  std::size_t count = 0;
  for (const Span& span : measured.timeline.spans) {
    if (span.activity != Activity::post) continue;
    posts.emplace(span.rank.index, span.step, span.sequence);
    ++count;
  }
  REQUIRE(count == posts.size());
  REQUIRE(count == static_cast<std::size_t>(ranks()) * 12 * (1 + measured.buckets.size()));
}

TEST_CASE("each rank marks the completion of each collective exactly once, after all arrived",
          "[training]") {
  const TrainingMeasured measured = train(small_work(ranks()));
  if (!root()) return;
  REQUIRE(measured.timeline.progress_inside_calls_only);
  std::map<std::pair<int, int>, nanoseconds> arrived;  // by step, sequence
  for (const Span& span : measured.timeline.spans) {
    if (span.activity != Activity::post) continue;
    nanoseconds& last = arrived[{span.step, span.sequence}];
    last = std::max(last, span.start);
  }
  std::set<std::tuple<int, int, int>> completed;
  for (const Span& span : measured.timeline.spans) {
    if (span.activity != Activity::collective_wait) continue;
    REQUIRE(completed.emplace(span.rank.index, span.step, span.sequence).second);
    REQUIRE(span.end >= arrived.at({span.step, span.sequence}));
  }
  REQUIRE(completed.size() == arrived.size() * static_cast<std::size_t>(ranks()));
}

TEST_CASE("with one active rank nothing is communicated", "[training]") {
  const TrainingMeasured measured = train(small_work(1));
  if (!root()) return;
  REQUIRE(measured.timeline.ranks == 1);
  for (const Span& span : measured.timeline.spans) REQUIRE(span.sequence == -1);
}

TEST_CASE("the others wait for a straggler and it is charged with that", "[training]") {
  TrainingWork work = small_work(ranks());
  work.shape = {.layers = 2, .width = 128, .heads = 4, .sequence = 64, .vocabulary = 256};
  work.straggler = TrainingWork::Straggler{Rank{1}, 3.0};
  const TrainingMeasured measured = train(work);
  if (!root()) return;
  nanoseconds waited{};
  nanoseconds charged{};
  for (const auto& entry : build_ledger(measured.timeline).entries) {
    if (entry.rank == Rank{1}) continue;
    waited += entry.part(Part::exposed_wait);
    charged += entry.waited_for.at(Place{1});
  }
  REQUIRE(waited > nanoseconds{});
  REQUIRE(charged > waited / 2);
}

TEST_CASE("impossible work is refused on every rank", "[training]") {
  TrainingWork odd = small_work(ranks());
  odd.global_batch = ranks() + 1;
  REQUIRE_THROWS_AS(train(odd), ProbeFailure);
  REQUIRE_THROWS_AS(train(small_work(ranks() + 1)), ProbeFailure);
}
