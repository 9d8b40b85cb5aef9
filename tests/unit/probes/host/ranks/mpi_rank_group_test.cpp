// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"

#include "src/core/files/atomic_file.h"
#include "tests/catch.h"

#include <future>
#include <string>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {
std::string failure_of(const std::string& path) {
  return std::get<Failed>(open_mpi(path)).reason;
}

}  // namespace

TEST_CASE("a file of ours is looked for beside the program and in lib/scaleworth above it",
          "[loader]") {
  const auto candidates = installed_candidates("/opt/scaleworth/bin/scaleworth", "libour.so");
  REQUIRE(candidates.at(0) == "/opt/scaleworth/bin/libour.so");
  REQUIRE(candidates.at(1) == "/opt/scaleworth/lib/scaleworth/libour.so");
  REQUIRE(candidates.at(2) == "/opt/lib/scaleworth/libour.so");
}

TEST_CASE("a module of another version is refused with both versions", "[loader]") {
  const std::string reason = failure_of(SCALEWORTH_WRONG_ABI_MODULE);
  REQUIRE(contains(reason, "version 999"));
  REQUIRE(contains(reason, "needs 1"));
}

TEST_CASE("a shared object that is no module is refused by name", "[loader]") {
  REQUIRE(contains(failure_of(SCALEWORTH_NO_SYMBOL_MODULE), "no symbol scaleworth_mpi_module"));
}

TEST_CASE("a named module that does not exist is a failure with a remedy", "[loader]") {
  const std::string reason = failure_of("/nonexistent/module.so");
  REQUIRE(contains(reason, "/nonexistent/module.so"));
  REQUIRE(contains(reason, "--mpi-module"));
}

TEST_CASE("a missing MPI library is a skip that names the Debian packages", "[loader]") {
  const auto outcome = open_mpi(SCALEWORTH_NO_MPI_MODULE);
  REQUIRE(contains(std::get<Skipped>(outcome).reason, "apt install openmpi-bin libopenmpi3"));
}

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
