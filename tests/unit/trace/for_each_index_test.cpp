// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/for_each_index.h"

#include "tests/catch.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using scaleworth::trace::for_each_index;

TEST_CASE("every rank is worked on once", "[ranks]") {
  std::vector<int> calls(1000);
  for_each_index(calls.size(), [&](std::size_t rank) { ++calls[rank]; });
  CHECK(calls == std::vector<int>(1000, 1));
  for_each_index(0, [](std::size_t) { throw std::logic_error("nobody is there"); });
}

TEST_CASE("a rank's failure ends the work and is told", "[ranks]") {
  std::atomic<int> after = 0;
  const auto work = [&](std::size_t rank) {
    if (rank == 3) throw std::runtime_error("rank 3");
    if (rank > 900) ++after;
  };
  try {
    for_each_index(100000, work);
    FAIL("no exception");
  } catch (const std::runtime_error& error) {
    CHECK(error.what() == std::string("rank 3"));
  }
  CHECK(after < 99099);
}

TEST_CASE("no more run at a time than allowed", "[ranks]") {
  for (const int allowed : {1, 2}) {
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    for_each_index(
        200,
        [&](std::size_t) {
          const int now = ++running;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --running;
        },
        static_cast<std::size_t>(allowed));
    CHECK(most >= 1);
    CHECK(most <= allowed);
  }
}
