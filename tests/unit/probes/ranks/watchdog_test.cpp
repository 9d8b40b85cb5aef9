// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/watchdog.h"

#include "tests/catch.h"

#include <future>
#include <string>

using namespace scaleworth::probes::host;
using namespace std::chrono_literals;

TEST_CASE("a watchdog reports work without progress by name", "[watchdog]") {
  std::promise<std::string> stalled;
  Watchdog dog(1h, [&](const std::string& what) { stalled.set_value(what); });
  const auto watch = dog.watch("all_reduce", 1ms);
  REQUIRE(stalled.get_future().get() == "all_reduce made no progress for 0.001 s");
}

TEST_CASE("a watchdog keeps quiet once the work has ended", "[watchdog]") {
  bool stalled = false;
  {
    Watchdog dog(1h, [&](const std::string&) { stalled = true; });
    for (int i = 0; i < 100; ++i) {
      const auto watch = dog.watch("work", 10s);
      dog.progress();
    }
  }
  REQUIRE_FALSE(stalled);
}
