// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/device_health.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace scaleworth::gpu {

void DeviceHealth::lose(const std::string& reason) {
  if (!lost()) reason_ = reason;
}

void DeviceHealth::require() const {
  if (lost()) throw ProbeFailure(reason_);
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

std::string explain_failure(DeviceHealth& health,
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
    return health.reason();
  }
  if (status == cudaErrorMemoryAllocation) {
    return fmt::format(
        "GPU {}: out of memory while {}: {}; end other programs on it (nvidia-smi "
        "lists them) or choose a smaller size",
        gpu,
        doing,
        what);
  }
  if (status == cudaErrorDevicesUnavailable) {
    return fmt::format(
        "GPU {} is held by another program in exclusive compute mode, or is "
        "prohibited: end that program, or have it set to the default mode "
        "(nvidia-smi -c 0) [{}]",
        gpu,
        what);
  }
  return fmt::format("GPU {}: {} failed: {}", gpu, doing, what);
}

}  // namespace scaleworth::gpu
