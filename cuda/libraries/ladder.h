// SPDX-License-Identifier: Apache-2.0
/// The rungs of the degradation ladder that follow from numbers alone.
#pragma once

#include "probes/gpu/open.h"

#include <string>

namespace scaleworth::gpu {

/// "13.0" for 13000, as the CUDA runtime numbers versions: 1000 major + 10 minor.
std::string cuda_version_text(int version);

/// The driver's rung. `driver` and `runtime` are as cudaDriverGetVersion and cudaRuntimeGetVersion
/// tell them (driver 0: none); `path` is the libcuda that was loaded, empty for none.
/// A runtime works with every driver of its major version or a later one (CUDA compatibility guide,
/// "minor version compatibility").
probes::VendorLibrary driver_rung(int driver, int runtime, const std::string& path);

}  // namespace scaleworth::gpu
