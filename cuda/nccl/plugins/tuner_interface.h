// SPDX-License-Identifier: Apache-2.0
/// NCCL's tuner plugin interface, version 5, which no installed header declares: our own
/// declarations of its binary layout. Source: NVIDIA/nccl v2.28.9-1,
/// src/include/plugin/tuner/tuner_v5.h, nccl_tuner.h, nccl_common.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nccl.h>

namespace scaleworth::gpu {

/// ncclFunc_t, as far as a tuner is asked.
enum class NcclFunction : int {
  broadcast = 0,
  reduce = 1,
  all_gather = 2,
  reduce_scatter = 3,
  all_reduce = 4
};

inline constexpr int nccl_algorithms = 7;
inline constexpr int nccl_protocols = 3;

/// A C function with variable arguments: level, subsystems, file, line, format.
using NcclLogger =
    void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

/// Ranks by NVLink domain.
struct NcclNvlinkDomains {
  int domains;
  int least_ranks;
  int most_ranks;
};

/// The constants of NCCL's cost model; ours are left as they come.
struct NcclTunerConstants {
  double base_latencies[nccl_algorithms][nccl_protocols];
  double hardware_latencies[3][nccl_algorithms][nccl_protocols];
  double bandwidths[5][4][3];
};

/// The table of costs arrives as float**, but is a contiguous float[7][3] in microseconds; -1 marks
/// a way that cannot be taken.
struct NcclTunerV5 {
  const char* name;
  ncclResult_t (*init)(void** context,
                       std::uint64_t communicator,
                       std::size_t ranks,
                       std::size_t nodes,
                       NcclLogger logger,
                       NcclNvlinkDomains* domains,
                       NcclTunerConstants* constants);
  ncclResult_t (*get_collective_info)(void* context,
                                      NcclFunction function,
                                      std::size_t bytes,
                                      int operations,
                                      float** costs,
                                      int algorithms,
                                      int protocols,
                                      int registered,
                                      int* channels);
  ncclResult_t (*finalize)(void* context);
};

static_assert(sizeof(NcclFunction) == 4);
static_assert(sizeof(NcclNvlinkDomains) == 12);
static_assert(sizeof(NcclTunerConstants) == (7 * 3 + 3 * 7 * 3 + 5 * 4 * 3) * sizeof(double));
static_assert(sizeof(NcclTunerV5) == 4 * sizeof(void*));
static_assert(offsetof(NcclTunerV5, get_collective_info) == 2 * sizeof(void*));

}  // namespace scaleworth::gpu
