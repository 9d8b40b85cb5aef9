// SPDX-License-Identifier: Apache-2.0
/// What CUDA and the kernel tell of a GPU, without NVML and without a context on it.
#pragma once

#include "probes/gpu/description.h"

namespace scaleworth::gpu {

/// `ordinal` counts as CUDA does, CUDA_VISIBLE_DEVICES applied. Throws gpu::Error.
probes::DeviceDescription describe_device(int ordinal);

}  // namespace scaleworth::gpu
