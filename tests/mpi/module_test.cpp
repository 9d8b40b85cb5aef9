// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/mpi/ranks.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace scaleworth::probes::host;

namespace {
int own() {
  return mpi().rank(mpi().world());
}
int ranks() {
  return mpi().size(mpi().world());
}
}  // namespace

TEST_CASE("all ranks of one host share one node", "[module]") {
  REQUIRE(mpi().node_size(mpi().world()) == ranks());
}

TEST_CASE("the all-reduce adds what each rank gave", "[module]") {
  const std::vector<float> send{1.0F, static_cast<float>(own())};
  std::vector<float> receive(2);
  REQUIRE(mpi().all_reduce_f32(mpi().world(), send.data(), receive.data(), 2) == 0);
  REQUIRE(receive[0] == static_cast<float>(ranks()));
  REQUIRE(receive[1] == static_cast<float>(ranks() * (ranks() - 1) / 2));
}

TEST_CASE("a started all-reduce completes under test and frees its request", "[module]") {
  const std::vector<float> send(1000, static_cast<float>(own() + 1));
  std::vector<float> receive(1000);
  MpiRequest request = nullptr;
  REQUIRE(mpi().start_all_reduce_f32(
              mpi().world(), send.data(), receive.data(), send.size(), &request) == 0);
  int done = 0;
  while (done == 0) REQUIRE(mpi().test(&request, &done) == 0);
  REQUIRE(request == nullptr);
  REQUIRE(receive[999] == static_cast<float>(ranks() * (ranks() + 1) / 2));
}

TEST_CASE("a message goes round the ring, and one way when the other half is left out",
          "[module]") {
  const int next = (own() + 1) % ranks();
  const int previous = (own() + ranks() - 1) % ranks();
  const std::int32_t send = own();
  std::int32_t receive = -1;
  REQUIRE(mpi().send_receive_bytes(mpi().world(), &send, next, &receive, previous, 4) == 0);
  REQUIRE(receive == previous);

  std::int32_t token = own() == 0 ? 42 : -1;
  if (own() == 0) {
    REQUIRE(mpi().send_receive_bytes(mpi().world(), &token, 1, nullptr, -1, 4) == 0);
  } else if (own() == 1) {
    REQUIRE(mpi().send_receive_bytes(mpi().world(), nullptr, -1, &token, 0, 4) == 0);
    REQUIRE(token == 42);
  }
}

TEST_CASE("blocks of differing size are concatenated on rank 0", "[module]") {
  const std::string send(own() + 1, static_cast<char>('a' + own()));  // a, bb, ccc, ...
  std::vector<std::size_t> sizes;
  std::string expected;
  for (int r = 0; r < ranks(); ++r) {
    sizes.push_back(r + 1);
    expected += std::string(r + 1, static_cast<char>('a' + r));
  }
  std::string receive(expected.size(), '?');
  REQUIRE(mpi().gather_bytes(
              mpi().world(), send.data(), send.size(), receive.data(), sizes.data()) == 0);
  if (own() == 0) REQUIRE(receive == expected);
}

TEST_CASE("a prefix group holds the first ranks only and works without the others", "[module]") {
  MpiGroup first_two = mpi().prefix(mpi().world(), 2);
  REQUIRE((first_two != nullptr) == (own() < 2));
  if (first_two != nullptr) {
    REQUIRE(mpi().size(first_two) == 2);
    REQUIRE(mpi().barrier(first_two) == 0);
    mpi().release(first_two);
  }
}

TEST_CASE("a count beyond MPI 3 is refused with a reason", "[module]") {
  float value = 0.0F;
  const std::size_t too_many = std::size_t{1} << 31;
  REQUIRE(mpi().all_reduce_f32(mpi().world(), &value, &value, too_many) != 0);
  REQUIRE(std::string(mpi().last_error()).find("2147483648") != std::string::npos);
}
