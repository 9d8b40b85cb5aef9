// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/rehearsal.h"

#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::sim;

TEST_CASE("the rehearsal has one H100 by default, and as many of a kind as asked for", "[gpu]") {
  REQUIRE(rehearsal_truths({}).size() == 1);
  REQUIRE(rehearsal_truths({}).front().description.multiprocessors == 132);
  const auto truths = rehearsal_truths({"3", "t4", ""});
  REQUIRE(truths.size() == 3);
  REQUIRE(truths[2].description.ordinal == 2);
  REQUIRE(truths[2].description.compute_capability == 75);
}

TEST_CASE("faults of the rehearsal hit the GPU that they name", "[gpu]") {
  const auto truths = rehearsal_truths({"4", "", "slow:3,lost:1,memory:0,no-peers"});
  REQUIRE(truths[3].fault.slow_factor < 1.0);
  REQUIRE(truths[2].fault.slow_factor == 1.0);
  REQUIRE(truths[1].fault.lost_after);
  REQUIRE(truths[0].fault.out_of_memory_above < truths[0].description.memory);
  REQUIRE_FALSE(truths[2].link.peer_access);
}

TEST_CASE("wishes that the rehearsal cannot meet are the user's error", "[gpu]") {
  REQUIRE_THROWS_AS(rehearsal_truths({"0", "", ""}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"two", "", ""}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"1", "abacus", ""}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"2", "", "slow:2"}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"2", "", "slow"}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"2", "", "tired:1"}), UserError);
}

TEST_CASE("every GPU of the catalogue can be rehearsed", "[gpu]") {
  for (const GpuDatasheet& datasheet : gpu_catalogue()) {
    CAPTURE(datasheet.id);
    const GpuTruth truth = rehearsal_truths({"1", datasheet.id, ""}).front();
    REQUIRE(truth.clock_hz > 5e8);
    REQUIRE(truth.memory_bytes_per_s > 1e11);
    REQUIRE(truth.cuda_cores.at(probes::NumberFormat::fp32) >= 64.0);
  }
}
