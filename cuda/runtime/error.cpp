// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/error.h"

#include <algorithm>
#include <array>

namespace scaleworth::gpu {
Error::Error(cudaError_t status, std::source_location where)
    : std::runtime_error(fmt::format("{} ({}, code {}) at {}:{}",
                                     cudaGetErrorString(status),
                                     cudaGetErrorName(status),
                                     static_cast<int>(status),
                                     where.file_name(),
                                     where.line())),
      status_(status) {}

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(status, where);
}

bool breaks_context(cudaError_t status) {
  static constexpr std::array breaking{cudaErrorECCUncorrectable,
                                       cudaErrorNvlinkUncorrectable,
                                       cudaErrorIllegalAddress,
                                       cudaErrorLaunchTimeout,
                                       cudaErrorContextIsDestroyed,
                                       cudaErrorAssert,
                                       cudaErrorHardwareStackError,
                                       cudaErrorIllegalInstruction,
                                       cudaErrorMisalignedAddress,
                                       cudaErrorInvalidAddressSpace,
                                       cudaErrorInvalidPc,
                                       cudaErrorLaunchFailure,
                                       cudaErrorExternalDevice,
                                       cudaErrorMpsClientTerminated,
                                       cudaErrorUnknown};
  return std::ranges::find(breaking, status) != breaking.end();
}

void throw_failure(DeviceHealth& health,
                   const std::string& doing,
                   cudaError_t status,
                   const std::string& what) {
  const int gpu = health.ordinal();
  if (breaks_context(status)) {
    health.lose(fmt::format(
        "GPU {} is lost or its context broke (code {}) while {}: {}; see dmesg for Xid; later "
        "questions to it fail at once",
        gpu,
        static_cast<int>(status),
        doing,
        what));
    health.require();
  }
  if (status == cudaErrorMemoryAllocation) {
    throw OutOfMemory(
        "GPU {}: out of memory while {}: {}; end other programs on it (nvidia-smi "
        "lists them) or choose a smaller size",
        gpu,
        doing,
        what);
  }
  if (status == cudaErrorDevicesUnavailable) {
    throw ProbeFailure(
        "GPU {} is held by another program in exclusive compute mode, or is prohibited: end that "
        "program, or have it set to the default mode (nvidia-smi -c 0) [{}]",
        gpu,
        what);
  }
  throw ProbeFailure("GPU {}: {} failed: {}", gpu, doing, what);
}
}  // namespace scaleworth::gpu
