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

/// The one kind of event that is asked for: a collective is being enqueued.
inline constexpr std::uint64_t nccl_event_collective = 2;

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

struct NcclEvent {
  std::uint64_t kind;
  void* parent;
  int rank;
  NcclCollectiveEvent
      collective;  // a union in NCCL: valid for this kind only, and its largest part
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
static_assert(offsetof(NcclEvent, collective) == 24);
static_assert(sizeof(NcclEvent) == 112);
static_assert(sizeof(NcclProfilerV5) == 6 * sizeof(void*));

}  // namespace scaleworth::gpu
