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

std::string reason_for(cudaError_t status,
                       int driver,
                       const probes::DriverSigns& signs,
                       bool gpus) {
  const auto reason = explain_no_gpus(status, driver, 13000, signs);
  REQUIRE(std::holds_alternative<Failed>(reason) == gpus);
  return gpus ? std::get<Failed>(reason).reason : std::get<Skipped>(reason).reason;
}

probes::DriverSigns node_with_gpus(const std::string& driver) {
  probes::DriverSigns signs;
  signs.kernel_driver = signs.library_version = driver;
  signs.device_files = {"/dev/nvidia0"};
  signs.library = "/usr/lib64/libcuda.so.1";
  return signs;
}

}  // namespace

TEST_CASE("without a driver the way to one is named, and it is no failure", "[gpu][open]") {
  const std::string reason = reason_for(cudaErrorInsufficientDriver, 0, {}, false);
  CHECK(contains(reason, "no CUDA driver"));
  CHECK(contains(reason, "install the NVIDIA driver"));
}

TEST_CASE("a driver that is too old is named with the one that is needed", "[gpu][open]") {
  const std::string seen =
      reason_for(cudaErrorInsufficientDriver, 11060, node_with_gpus("510.47.03"), true);
  CHECK(contains(seen, "driver 510.47.03 is too old: 580.65.06 or later"));
  const std::string unseen = reason_for(cudaErrorInsufficientDriver, 12020, {}, true);
  CHECK(contains(unseen, "supports CUDA 12.2 and this program needs 13.0"));
  CHECK(contains(unseen, "580.65.06"));
}

TEST_CASE("a driver that sees no GPU is a failure where something of a GPU is there",
          "[gpu][open]") {
  CHECK(contains(reason_for(cudaErrorNoDevice, 13000, {}, false), "sees no GPU"));
  CHECK(contains(reason_for(cudaErrorNoDevice, 13000, node_with_gpus("580.65.06"), true),
                 "here is 1 NVIDIA GPU, NVIDIA's driver 580.65.06"));
  const std::string unusable =
      reason_for(cudaErrorInsufficientDriver, 0, node_with_gpus("580.65.06"), true);
  CHECK(contains(unusable, "/usr/lib64/libcuda.so.1 cannot be used"));
}

TEST_CASE("a GPU that is there and cannot be used is a failure with a remedy", "[gpu][open]") {
  for (const cudaError_t status : {cudaErrorOperatingSystem,
                                   cudaErrorSystemNotReady,
                                   cudaErrorSystemDriverMismatch,
                                   cudaErrorStubLibrary,
                                   cudaErrorInitializationError}) {
    CHECK(contains(reason_for(status, 13000, node_with_gpus("580.65.06"), true), ": "));
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
