// SPDX-License-Identifier: Apache-2.0
/// What a person reads when there is no GPU to use.
#include "cuda/device/cuda_device.h"
#include "probes/gpu/registry.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <cstdlib>
#include <string>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

std::string skipped(cudaError_t status, int driver) {
  const auto reason = explain_no_gpus(status, driver, 13000);
  REQUIRE(std::holds_alternative<Skipped>(reason));
  return std::get<Skipped>(reason).reason;
}

}  // namespace

TEST_CASE("without a driver the way to one is named", "[gpu][open]") {
  const std::string reason = skipped(cudaErrorInsufficientDriver, 0);
  CHECK(contains(reason, "no CUDA driver"));
  CHECK(contains(reason, "install the NVIDIA driver"));
}

TEST_CASE("a driver that is too old is named with both versions", "[gpu][open]") {
  const std::string reason = skipped(cudaErrorInsufficientDriver, 12020);
  CHECK(contains(reason, "supports CUDA 12.2"));
  CHECK(contains(reason, "needs 13.0"));
}

TEST_CASE("a driver without GPUs is no failure", "[gpu][open]") {
  CHECK(contains(skipped(cudaErrorNoDevice, 13000), "sees no GPU"));
}

TEST_CASE("a GPU that is there and cannot be used is a failure with a remedy", "[gpu][open]") {
  for (const cudaError_t status : {cudaErrorOperatingSystem,
                                   cudaErrorSystemNotReady,
                                   cudaErrorSystemDriverMismatch,
                                   cudaErrorInitializationError}) {
    const auto reason = explain_no_gpus(status, 13000, 13000);
    REQUIRE(std::holds_alternative<Failed>(reason));
    CHECK(contains(std::get<Failed>(reason).reason, ": "));
  }
}

TEST_CASE("launches that wait for their kernels are refused before anything is launched",
          "[gpu][open]") {
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  CHECK(contains(launches_block().value_or(""), "CUDA_LAUNCH_BLOCKING=1"));
  CHECK_THROWS_AS(probes::open_device_group({}, {}), UserError);
  ::setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
  CHECK_FALSE(launches_block());
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  CHECK_FALSE(launches_block());
}
