// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

namespace scaleworth::probes::host {
struct Neon : Simd<double, 16, 24> {
  /// A pair of stores with the non-temporal hint, for which there is no intrinsic.
  static void stream(double* to, Register x) {
    asm volatile("stnp %d0, %d1, [%2]" : : "w"(x[0]), "w"(x[1]), "r"(to) : "memory");
  }
  static void fence() { asm volatile("dmb ishst" ::: "memory"); }
};

StreamIsa stream_neon() {
  return StreamTemplates<Neon>::table("neon");
}
}  // namespace scaleworth::probes::host
