// SPDX-License-Identifier: Apache-2.0
/// NCCL's profiler plugin in the capture library: collectives as they are enqueued, with the way
/// that NCCL chose.
#pragma once

#include "cuda/inject/session.h"
#include "cuda/nccl/plugin_interfaces.h"
#include "trace/formats/swtrace/rows.h"

namespace scaleworth::gpu {
/// What NCCL calls. Each succeeds whatever happens.
struct NcclCalls {
  /// `version` of the interface: 4 is NCCL 2.27, 5 is 2.28, 6 is 2.29 and later.
  template <int version>
  static ncclResult_t begin_communicator(void** context,
                                         std::uint64_t communicator,
                                         int* wanted_events,
                                         const char* communicator_name,
                                         int nodes,
                                         int ranks,
                                         int rank,
                                         NcclLogger logger);
  static ncclResult_t start_event(void* context, void** handle, NcclEvent* event);
  static ncclResult_t stop_event(void* handle);
  static ncclResult_t record_event_state(void* handle, int state, void* arguments);
  static ncclResult_t end_communicator(void* context);
};

/// The table of functions that NCCL looks for. Constant, so that what is exported is whole before
/// any code of the library runs: an initialiser that runs writes to the symbol by its name, which
/// is the program's own one where the program exports the same name.
template <int version>
constexpr NcclProfilerV5 nccl_profiler() {
  return {"scaleworth",
          &NcclCalls::begin_communicator<version>,
          &NcclCalls::start_event,
          &NcclCalls::stop_event,
          &NcclCalls::record_event_state,
          &NcclCalls::end_communicator};
}

struct NcclContext {
  std::uint64_t communicator = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
};

/// A collective or a send or receive is enqueued; absent for other events.
std::optional<ReportedCollective> report_of_event(const NcclContext& context,
                                                  const NcclEvent& event,
                                                  std::uint64_t time_ns,
                                                  std::uint32_t thread);
}  // namespace scaleworth::gpu
