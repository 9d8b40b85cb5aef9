// SPDX-License-Identifier: Apache-2.0
/// When recording is on.
#include "cuda/inject/session.h"
#include "tests/catch.h"

namespace scaleworth::gpu {
namespace {

using namespace std::chrono_literals;
const WindowControl::Time begin{};

TEST_CASE("where nothing was asked for recording is on", "[capture]") {
  WindowControl window({});
  REQUIRE(window.open(begin));
  REQUIRE(window.never_opened().empty());
}

TEST_CASE("a duration counts from the first moment that was recorded", "[capture]") {
  WindowControl window({.duration_s = 2.0, .profiler_api = true});
  REQUIRE_FALSE(window.open(begin));
  REQUIRE_FALSE(window.deadline());
  window.profiler(true);
  REQUIRE(window.open(begin + 10s));
  REQUIRE(window.deadline() == begin + 12s);
  REQUIRE(window.open(begin + 11s));
  REQUIRE_FALSE(window.open(begin + 12s));
}

TEST_CASE("a named range opens and closes, whatever nests inside", "[capture]") {
  WindowControl window({.range = "train"});
  window.range_opened("load", 1);
  REQUIRE_FALSE(window.open(begin));
  window.range_opened("train", 2);
  REQUIRE(window.open(begin));
  window.range_opened("train", 3);
  window.range_closed(3);
  REQUIRE(window.open(begin));
  window.range_closed(2);
  REQUIRE_FALSE(window.open(begin));
}

TEST_CASE("steps are recorded from the first to the end of the last, gaps included", "[capture]") {
  WindowControl window({.steps = std::pair(1, 2)});
  const auto step = [&](const char* name) { window.range_opened(name, 1); };
  const auto end = [&] { window.range_closed(1); };
  step("step 0");
  REQUIRE_FALSE(window.open(begin));
  end();
  step("step 1");
  REQUIRE(window.open(begin));
  end();
  REQUIRE(window.open(begin));  // until the next one begins
  step("step 2");
  REQUIRE(window.open(begin));
  end();
  REQUIRE_FALSE(window.open(begin));
  step("step 3");
  REQUIRE_FALSE(window.open(begin));
}

TEST_CASE("steps without a number are counted", "[capture]") {
  WindowControl window({.steps = std::pair(1, 1)});
  window.range_opened("train_step", 1);
  REQUIRE_FALSE(window.open(begin));
  window.range_opened("train_step", 1);
  REQUIRE(window.open(begin));
}

TEST_CASE("what was waited for in vain is said", "[capture]") {
  WindowControl window({.profiler_api = true, .range = "train"});
  REQUIRE_FALSE(window.open(begin));
  REQUIRE(window.never_opened() ==
          "cudaProfilerStart was not called; no NVTX range 'train' was seen");
}

}  // namespace
}  // namespace scaleworth::gpu
