// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/error.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <string>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

template <class Failure>
std::string said(DeviceHealth& health, const char* doing, cudaError_t status, const char* what) {
  try {
    throw_failure(health, doing, status, what);
  } catch (const Failure& failure) {
    return failure.what();
  }
}

}  // namespace

TEST_CASE("a GPU whose context broke fails every later question with the first reason",
          "[gpu][health]") {
  DeviceHealth health(3);
  CHECK_NOTHROW(health.require());
  const std::string first =
      said<GpuLost>(health, "copying", cudaErrorIllegalAddress, "illegal address (code 700)");
  CHECK(first.find("GPU 3 is lost or its context broke (code 700) while copying") == 0);
  CHECK(first.find("dmesg for Xid") != std::string::npos);
  CHECK(said<GpuLost>(health, "reading", cudaErrorECCUncorrectable, "another") == first);
  CHECK_THROWS_AS(health.require(), GpuLost);
}

TEST_CASE("a failed call that leaves the context whole does not lose the GPU", "[gpu][health]") {
  DeviceHealth health(0);
  CHECK(said<ProbeFailure>(health, "copying", cudaErrorInvalidValue, "bad") ==
        "GPU 0: copying failed: bad");
  CHECK_FALSE(health.lost());
}

TEST_CASE("a GPU held by another program is said with the remedy", "[gpu][health]") {
  DeviceHealth health(1);
  CHECK(said<ProbeFailure>(health, "reading", cudaErrorDevicesUnavailable, "46")
            .find("nvidia-smi -c 0") != std::string::npos);
  CHECK_FALSE(health.lost());
}

TEST_CASE("memory that a GPU lacks is a kind of failure of its own", "[gpu][health]") {
  DeviceHealth health(2);
  CHECK(said<OutOfMemory>(health, "filling", cudaErrorMemoryAllocation, "none left")
            .find("GPU 2: out of memory while filling") == 0);
  CHECK_FALSE(health.lost());
}
