// SPDX-License-Identifier: Apache-2.0
/// The two interfaces as NCCL declares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nccl.h>

namespace scaleworth::gpu {
// NCCL's tuner plugin interface, version 5, which no installed header declares:
// declarations of its binary layout. Source: NVIDIA/nccl v2.28.9-1,
// src/include/plugin/tuner/tuner_v5.h, nccl_tuner.h, nccl_common.h.

/// ncclFunc_t, as far as a tuner is asked.
enum class NcclFunction : int {
  broadcast = 0,
  reduce = 1,
  all_gather = 2,
  reduce_scatter = 3,
  all_reduce = 4
};

inline constexpr int nccl_algorithms = 7;  // NCCL_NUM_ALGORITHMS of that version
inline constexpr int nccl_protocols = 3;   // NCCL_NUM_PROTOCOLS: LL, LL128, Simple

/// A C function with variable arguments: level, subsystems, file, line, format.
using NcclLogger =
    void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

struct NcclNvlinkDomains;   // ranks by NVLink domain; not read here
struct NcclTunerConstants;  // of NCCL's cost model; not changed here

/// The table of costs arrives as float**, but is a contiguous float[7][3] in microseconds; -1 marks
/// a way that cannot be taken.
template <class... Init>
struct NcclTuner {
  const char* name;
  ncclResult_t (*init)(Init...);
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
/// NCCL 2.28: the context is to be set; number of the communicator, ranks, nodes.
using NcclTunerV5 = NcclTuner<void**,
                              std::uint64_t,
                              std::size_t,
                              std::size_t,
                              NcclLogger,
                              NcclNvlinkDomains*,
                              NcclTunerConstants*>;
/// NCCL 2.30: as version 5, and a function that may be absent. Source: v2.30.7-1,
/// src/include/plugin/tuner/tuner_v6.h:79, src/enqueue.cc:2308.
struct NcclTunerV6 : NcclTunerV5 {
  void* get_chunk_size = nullptr;
};
/// NCCL 2.27: ranks, nodes. Source: v2.27.7-1, src/include/plugin/tuner/tuner_v4.h.
using NcclTunerV4 = NcclTuner<std::size_t, std::size_t, NcclLogger, void**>;

// NCCL's profiler plugin interface, versions 4 (NCCL 2.27), 5 (2.28) and 6 (2.29), which differs
// from 5 by further events only, and which no installed header declares: our own declarations of
// its binary layout. Source: NVIDIA/nccl v2.28.9-1 and v2.27.7-1,
// src/include/plugin/profiler/profiler_v5.h, profiler_v4.h, nccl_profiler.h.

/// The kinds of events that are asked for: a collective, or a send or receive, is being enqueued.
inline constexpr std::uint64_t nccl_event_collective = 2;
inline constexpr std::uint64_t nccl_event_point_to_point = 4;
/// The program's own call, version 5: parent of the collective, or send or receive, that it brings.
inline constexpr std::uint64_t nccl_event_collective_api = 512;
inline constexpr std::uint64_t nccl_event_point_to_point_api = 1024;
/// A collective of copies without a kernel, version 6 (NCCL 2.29): its event is as that of a
/// collective up to the type. Source: v2.30.7-1, src/include/plugin/profiler/profiler_v6.h.
inline constexpr std::uint64_t nccl_event_copy_engine = 4096;

struct NcclCollectiveEvent {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* group;
};

/// Of a send or receive.
struct NcclPointToPointEvent {
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* group;
};

struct NcclCollectiveApiEvent {
  const char* function;
  std::size_t count;
  const char* type;
  int root;
  void* stream;
  bool captured;  // by a CUDA graph
};

struct NcclPointToPointApiEvent {
  const char* function;
  std::size_t count;
  const char* type;
  void* stream;
  bool captured;
};

struct NcclEvent {
  std::uint64_t kind;
  void* parent;
  int rank;
  union {
    NcclCollectiveEvent collective;  // the largest of NCCL's union before version 6
    NcclPointToPointEvent point_to_point;
    NcclCollectiveApiEvent collective_api;
    NcclPointToPointApiEvent point_to_point_api;
  };
};

/// Version 4: as above, but that the kind has one byte and what is behind it is padding, and that
/// collectives and messages lack their group.
struct NcclEventV4 {
  alignas(8) std::uint8_t kind;
  std::byte rest[103];
};

template <class Event, class... Init>
struct NcclProfiler {
  const char* name;
  ncclResult_t (*init)(void** context, Init...);
  ncclResult_t (*start_event)(void* context, void** handle, Event* event);
  ncclResult_t (*stop_event)(void* handle);
  ncclResult_t (*record_event_state)(void* handle, int state, void* arguments);
  ncclResult_t (*finalize)(void* context);
};
// Both: wanted events, name and number of the communicator; nodes, ranks, rank; logger.
using NcclProfilerV4 =
    NcclProfiler<NcclEventV4, int*, const char*, std::uint64_t, int, int, int, NcclLogger>;
using NcclProfilerV5 =  // and version 6
    NcclProfiler<NcclEvent, std::uint64_t, int*, const char*, int, int, int, NcclLogger>;

/// Version 4 by functions of version 5.
template <auto init, auto start_event>
constexpr NcclProfilerV4 as_version_4(const NcclProfilerV5& newer) {
  return {newer.name,
          [](void** context,
             int* wanted_events,
             const char* name,
             std::uint64_t communicator,
             int nodes,
             int ranks,
             int rank,
             NcclLogger logger) {
            return init(context, communicator, wanted_events, name, nodes, ranks, rank, logger);
          },
          [](void* context, void** handle, NcclEventV4* event) {
            NcclEvent same{};
            std::memcpy(static_cast<void*>(&same), event, sizeof(*event));
            same.kind = event->kind;
            return start_event(context, handle, &same);
          },
          newer.stop_event,
          newer.record_event_state,
          newer.finalize};
}
}  // namespace scaleworth::gpu
