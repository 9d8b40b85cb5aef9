// SPDX-License-Identifier: Apache-2.0
/// NCCL's profiler plugin interface, version 5, which no installed header declares: our own
/// declarations of its binary layout. Source: NVIDIA/nccl v2.28.9-1,
/// src/include/plugin/profiler/profiler_v5.h, nccl_profiler.h.
#pragma once

#include "cuda/nccl/plugins/tuner_interface.h"

#include <cstddef>
#include <cstdint>

#include <nccl.h>

namespace scaleworth::gpu {

/// The kinds of events that are asked for: a collective, or a send or receive, is being enqueued.
inline constexpr std::uint64_t nccl_event_collective = 2;
inline constexpr std::uint64_t nccl_event_point_to_point = 4;

/// Of a collective.
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

struct NcclEvent {
  std::uint64_t kind;
  void* parent;
  int rank;
  union {
    NcclCollectiveEvent collective;  // the largest of NCCL's union
    NcclPointToPointEvent point_to_point;
  };
};

/// States and their arguments are not asked for.
struct NcclProfilerV5 {
  const char* name;
  ncclResult_t (*init)(void** context,
                       std::uint64_t communicator,
                       int* wanted_events,
                       const char* communicator_name,
                       int nodes,
                       int ranks,
                       int rank,
                       NcclLogger logger);
  ncclResult_t (*start_event)(void* context, void** handle, NcclEvent* event);
  ncclResult_t (*stop_event)(void* handle);
  ncclResult_t (*record_event_state)(void* handle, int state, void* arguments);
  ncclResult_t (*finalize)(void* context);
};

static_assert(offsetof(NcclCollectiveEvent, count) == 32);
static_assert(offsetof(NcclCollectiveEvent, type) == 48);
static_assert(offsetof(NcclCollectiveEvent, channels) == 56);
static_assert(offsetof(NcclCollectiveEvent, warps) == 57);
static_assert(offsetof(NcclCollectiveEvent, algorithm) == 64);
static_assert(offsetof(NcclPointToPointEvent, count) == 24);
static_assert(offsetof(NcclPointToPointEvent, peer) == 32);
static_assert(offsetof(NcclPointToPointEvent, channels) == 36);
static_assert(offsetof(NcclEvent, collective) == 24);
static_assert(offsetof(NcclEvent, point_to_point) == 24);
static_assert(sizeof(NcclEvent) == 112);
static_assert(sizeof(NcclProfilerV5) == 6 * sizeof(void*));

}  // namespace scaleworth::gpu
