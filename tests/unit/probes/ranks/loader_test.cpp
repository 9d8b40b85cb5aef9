// SPDX-License-Identifier: Apache-2.0
#include "probes/host/mpi/loader.h"

#include "tests/catch.h"

#include <string>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {

std::string failure_of(const std::string& path) {
  return std::get<Failed>(open_mpi(path)).reason;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the module is looked for beside the program and in lib/scaleworth above it",
          "[loader]") {
  const auto candidates = mpi_module_candidates("/opt/scaleworth/bin/scaleworth");
  REQUIRE(candidates.at(0) == "/opt/scaleworth/bin/libscaleworth_mpi.so");
  REQUIRE(candidates.at(1) == "/opt/scaleworth/lib/scaleworth/libscaleworth_mpi.so");
  REQUIRE(candidates.at(2) == "/opt/lib/scaleworth/libscaleworth_mpi.so");
}

TEST_CASE("a module of another version is refused with both versions", "[loader]") {
  const std::string reason = failure_of(SCALEWORTH_WRONG_ABI_MODULE);
  REQUIRE(mentions(reason, "version 999"));
  REQUIRE(mentions(reason, "needs 1"));
}

TEST_CASE("a shared object that is no module is refused by name", "[loader]") {
  REQUIRE(mentions(failure_of(SCALEWORTH_NO_SYMBOL_MODULE), "no symbol scaleworth_mpi_module"));
}

TEST_CASE("a named module that does not exist is a failure with a remedy", "[loader]") {
  const std::string reason = failure_of("/nonexistent/module.so");
  REQUIRE(mentions(reason, "/nonexistent/module.so"));
  REQUIRE(mentions(reason, "--mpi-module"));
}

TEST_CASE("a missing MPI library is a skip that names the Debian packages", "[loader]") {
  const auto outcome = open_mpi(SCALEWORTH_NO_MPI_MODULE);
  REQUIRE(mentions(std::get<Skipped>(outcome).reason, "apt install openmpi-bin libopenmpi3"));
}
