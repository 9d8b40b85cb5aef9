// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/pacer.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;

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
