// SPDX-License-Identifier: Apache-2.0
#include "probes/machine.h"

#include <cmath>

namespace scaleworth::probes {
Flops gemm_flops(const GemmWork& work) {
  const double c_elements =
      static_cast<double>(work.m) * static_cast<double>(work.n) * static_cast<double>(work.batch);
  return Flops(2.0 * c_elements * static_cast<double>(work.k));
}

Bytes gemm_footprint(const GemmWork& work) {
  const double m = static_cast<double>(work.m);
  const double n = static_cast<double>(work.n);
  const double k = static_cast<double>(work.k);
  return Bytes((m * k + k * n + m * n) * element_bytes(work.precision) *
               static_cast<double>(work.batch));
}

std::int64_t whole_bytes(Bytes bytes) {
  return std::llround(bytes.value());
}
}  // namespace scaleworth::probes
