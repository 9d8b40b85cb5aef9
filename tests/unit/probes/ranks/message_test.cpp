// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/message.h"

#include "src/core/error.h"
#include "tests/catch.h"

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
