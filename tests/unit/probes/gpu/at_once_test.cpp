// SPDX-License-Identifier: Apache-2.0
#include "probes/ranks.h"
#include "tests/catch.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

using namespace scaleworth::probes;

namespace {

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("actions that run at once can wait for each other", "[at-once]") {
  std::atomic<int> arrived{0};
  const AtOnce result = run_at_once(3, [&](std::size_t) {
    ++arrived;
    while (arrived < 3) {
    }
  });
  REQUIRE(arrived == 3);
  REQUIRE_FALSE(result.first);
}

TEST_CASE("of several failures the earliest is told apart, and each has its index", "[at-once]") {
  std::atomic<bool> failed{false};
  const AtOnce result = run_at_once(3, [&](std::size_t i) {
    if (i == 1) return;
    if (i == 2) {
      failed = true;
      throw std::runtime_error("the cause");
    }
    while (!failed) {
    }
    // Later than the throw above by far more than it takes to be caught.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    throw std::runtime_error("the consequence");
  });
  REQUIRE(text_of(result.first) == "the cause");
  REQUIRE(text_of(result.failures[0]) == "the consequence");
  REQUIRE_FALSE(result.failures[1]);
}

TEST_CASE("nothing to run at once is no failure", "[at-once]") {
  REQUIRE_FALSE(run_at_once(0, [](std::size_t) { throw std::runtime_error("asked"); }).first);
}
