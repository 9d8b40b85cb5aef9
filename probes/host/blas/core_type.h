// SPDX-License-Identifier: Apache-2.0
/// Which of OpenBLAS's kernel sets fits a CPU, judged by the CPU's flags instead of its model
/// number.
#pragma once

#include "probes/host/facts/proc/cpuinfo.h"

#include <string>

namespace scaleworth::probes::host {

/// The value for OPENBLAS_CORETYPE, empty to leave the choice to the library.
///
/// OpenBLAS compares family and model numbers and takes a CPU that it does not know for an old one:
/// 0.3.21 runs AVX2 kernels on Zen 5 (OpenMathLib/OpenBLAS issue 6029). By flags: AVX-512 with bf16
/// -> Cooperlake, AVX-512 -> SkylakeX, AVX2 and FMA -> Zen (AMD) or Haswell; anything else, aarch64
/// too, is left alone. SapphireRapids is never chosen: it differs from Cooperlake in bf16 kernels
/// only, and a library built without it falls back to the model number.
///
/// Seen on a 2-vCPU machine with AVX-512, bf16 and AMX, 0.3.21 of Debian 12, 1024^3, one thread,
/// per second of CPU time: SkylakeX 159 (fp32) and 77 (fp64) GFLOP/s, Cooperlake 160 and 77,
/// SapphireRapids the same as Cooperlake (that build has no such kernels), Haswell 109 and 54, Zen
/// 107 and 53. Other CPUs can order them otherwise; the user's OPENBLAS_CORETYPE always wins.
std::string preferred_core_type(const CpuInfo& cpu);

/// Empty, or what the kernels of `core_name` (as openblas_get_corename() spells it) leave unused of
/// this CPU: "AVX2 kernels on an AVX-512 machine".
std::string core_type_doubt(const std::string& core_name, const CpuInfo& cpu);

}  // namespace scaleworth::probes::host
