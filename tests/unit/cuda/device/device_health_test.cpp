// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/device_health.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <string>

using namespace scaleworth;
using namespace scaleworth::gpu;

TEST_CASE("a GPU whose context broke fails every later question with the first reason",
          "[gpu][health]") {
  DeviceHealth health(3);
  CHECK_NOTHROW(health.require());
  const std::string said =
      explain_failure(health, "copying", cudaErrorIllegalAddress, "illegal address (code 700)");
  CHECK(said.find("GPU 3 is lost or its context broke (code 700) while copying") == 0);
  CHECK(said.find("dmesg for Xid") != std::string::npos);
  explain_failure(health, "reading", cudaErrorECCUncorrectable, "another");
  CHECK(health.reason() == said);
  CHECK_THROWS_AS(health.require(), ProbeFailure);
}

TEST_CASE("a failed call that leaves the context whole does not lose the GPU", "[gpu][health]") {
  DeviceHealth health(0);
  const std::string said = explain_failure(health, "copying", cudaErrorInvalidValue, "bad");
  CHECK(said == "GPU 0: copying failed: bad");
  CHECK_FALSE(health.lost());
}

TEST_CASE("a GPU held by another program is said with the remedy", "[gpu][health]") {
  DeviceHealth health(1);
  const std::string said = explain_failure(health, "reading", cudaErrorDevicesUnavailable, "46");
  CHECK(said.find("nvidia-smi -c 0") != std::string::npos);
  CHECK_FALSE(health.lost());
}
