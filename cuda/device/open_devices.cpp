// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/open_devices.h"

#include "cuda/device/cuda_device.h"
#include "cuda/facts/describe.h"
#include "cuda/gemm/session/gemm_library.h"
#include "cuda/libraries/ladder.h"
#include "cuda/libraries/nvml.h"
#include "cuda/runtime/error.h"
#include "cuda/telemetry/nvml_source.h"
#include "probes/gpu/open.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

std::string visible_devices() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible);
}

}  // namespace

std::variant<Skipped, Failed> explain_no_gpus(cudaError_t status, int driver, int runtime) {
  switch (status) {
    case cudaErrorNoDevice:
      return Skipped{"the CUDA driver sees no GPU" + visible_devices()};
    case cudaErrorInsufficientDriver:
      if (driver == 0) {
        return Skipped{
            "no CUDA driver (libcuda.so.1) is installed here: install the NVIDIA driver, or start "
            "the container with --gpus all"};
      }
      return Skipped{fmt::format(
          "the NVIDIA driver supports CUDA {} and this program needs {}: install a newer driver",
          cuda_version_text(driver),
          cuda_version_text(runtime))};
    case cudaErrorStubLibrary:
      return Skipped{
          "libcuda.so.1 is the toolkit's stub, not a driver: take its folder out of "
          "LD_LIBRARY_PATH"};
    case cudaErrorOperatingSystem:
    case cudaErrorNotPermitted:
      return Failed{
          "this user may not open the GPUs: check the permissions of /dev/nvidia*, and in a "
          "container its device list"};
    case cudaErrorSystemNotReady:
      return Failed{"the GPUs' switches are not ready: start nvidia-fabricmanager and see its log"};
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return Failed{
          "the CUDA libraries do not fit the kernel's driver: reload the driver or reboot after "
          "its "
          "update"};
    default:
      return Failed{
          fmt::format("CUDA cannot start ({}, code {}): see dmesg for Xid, and whether "
                      "nvidia-smi works",
                      cudaGetErrorString(status),
                      static_cast<int>(status))};
  }
}

namespace {

/// Why the GPU cannot be used; absent when it can, as far as is known without a context on it.
std::optional<std::string> refusal(int ordinal) {
  int mode = cudaComputeModeDefault;
  check(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal));
  if (mode == cudaComputeModeProhibited) {
    return fmt::format(
        "GPU {} is in compute mode 'prohibited': set the default mode (nvidia-smi -c 0), or leave "
        "it out by CUDA_VISIBLE_DEVICES",
        ordinal);
  }
  if (mode != cudaComputeModeExclusiveProcess) return std::nullopt;
  // Only a context tells whether another program holds it.
  const cudaError_t status = cudaSetDevice(ordinal);
  if (status == cudaSuccess) return std::nullopt;
  cudaGetLastError();
  return fmt::format(
      "GPU {} is in exclusive compute mode and another program holds it ({}): end that program, "
      "set "
      "the default mode (nvidia-smi -c 0), or leave it out by CUDA_VISIBLE_DEVICES",
      ordinal,
      cudaGetErrorString(status));
}

}  // namespace

Outcome<int> count_gpus() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    return std::visit([](auto&& reason) -> Outcome<int> { return reason; },
                      explain_no_gpus(status, driver, CUDART_VERSION));
  }
  if (count == 0) return Skipped{"the CUDA driver sees no GPU"};
  return count;
}

}  // namespace scaleworth::gpu

namespace scaleworth::probes {

Outcome<Devices> open_devices(const VendorPaths& paths) {
  const Outcome<int> counted = gpu::count_gpus();
  if (const auto* skipped = std::get_if<Skipped>(&counted)) return *skipped;
  if (const auto* failed = std::get_if<Failed>(&counted)) return *failed;
  const int count = std::get<int>(counted);
  try {
    const auto nvml = gpu::open_nvml(paths.nvml);
    const auto products = std::make_shared<gpu::GemmLibrary>(paths.cublas_lt);
    Devices devices;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      if (const auto reason = gpu::refusal(ordinal)) return Failed{*reason};
      DeviceDescription description = gpu::describe_device(ordinal);
      auto telemetry = gpu::open_telemetry_source(nvml, description);
      devices.push_back(std::make_unique<gpu::CudaDevice>(
          std::move(description), std::move(telemetry), products));
    }
    return devices;
  } catch (const gpu::Error& error) {
    return Failed{std::string("CUDA: ") + error.what() +
                  "; see dmesg for Xid, and whether nvidia-smi works"};
  }
}

}  // namespace scaleworth::probes
