// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/pattern.h"

#include "tests/catch.h"

#include <limits>
#include <utility>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;

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
