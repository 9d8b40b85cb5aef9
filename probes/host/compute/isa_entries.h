// SPDX-License-Identifier: Apache-2.0
/// The entries of the compute table; each is defined in the file compiled for its instruction set
/// and may be called only on CPUs that have it.
#pragma once

#include "probes/host/compute/kernels.h"

namespace scaleworth::probes::host {

ComputeIsa compute_sse2();
ComputeIsa compute_avx2();
ComputeIsa compute_avx512();
ComputeIsa compute_neon();

}  // namespace scaleworth::probes::host
