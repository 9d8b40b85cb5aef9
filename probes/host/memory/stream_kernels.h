// SPDX-License-Identifier: Apache-2.0
/// The table of stream kernels: read, write, copy and triad, each with regular and with
/// non-temporal stores, filled by files that are compiled for one instruction set.
#pragma once

#include <cstdint>

namespace scaleworth::probes::host {

/// What write stores, and triad multiplies c by.
inline constexpr double stream_scalar = 3.0;

/// Streams `passes` times over `elements` doubles (a multiple of 8) of each array it uses, all
/// 64-byte aligned. Returns the sum over all passes for read, 0 for the others. Kernels with
/// non-temporal stores end with the fence that makes them visible.
using StreamKernel = double (*)(
    double* a, const double* b, const double* c, std::int64_t elements, std::int64_t passes);

struct StoreKernels {
  StreamKernel write = nullptr;  // a[i] = stream_scalar
  StreamKernel copy = nullptr;   // a[i] = b[i]
  StreamKernel triad = nullptr;  // a[i] = b[i] + stream_scalar c[i]
};

struct StreamIsa {
  const char* name = nullptr;
  StreamKernel read = nullptr;  // sum of b[i]
  StoreKernels regular;
  StoreKernels nontemporal;
};

/// The widest set that this CPU and its operating system can run.
const StreamIsa& stream_isa();

StreamIsa stream_sse2();
StreamIsa stream_avx2();
StreamIsa stream_avx512();
StreamIsa stream_neon();

}  // namespace scaleworth::probes::host
