// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl/nccl_profiler.h"

#include "cuda/inject/nccl/nccl_events.h"
#include "cuda/inject/process/exit_paths.h"
#include "cuda/inject/process/process_facts.h"
#include "cuda/inject/session/session.h"

#include <exception>
#include <memory>
#include <utility>

#include <unistd.h>

namespace scaleworth::gpu {
namespace {

std::uint32_t this_thread() {
  return static_cast<std::uint32_t>(::gettid());
}

ncclResult_t begin_communicator(void** context,
                                std::uint64_t communicator,
                                int* wanted_events,
                                const char* /*communicator_name*/,
                                int /*nodes*/,
                                int ranks,
                                int rank,
                                NcclLogger /*logger*/) try {
  *context = nullptr;
  *wanted_events = 0;
  Session* session = Session::of_process();
  if (session == nullptr) return ncclSuccess;
  watch_exit_paths();
  auto made = std::make_unique<NcclContext>();
  made->communicator = communicator;
  made->rank = static_cast<std::uint32_t>(rank);
  made->ranks = static_cast<std::uint32_t>(ranks);
  session->inbox().add(said_of_creation(*made, realtime_ns(), this_thread()));
  *wanted_events = static_cast<int>(nccl_event_collective | nccl_event_point_to_point);
  *context = made.release();
  return ncclSuccess;
} catch (const std::exception& error) {
  complain(error.what());
  return ncclSuccess;  // another result would cost the program its communicator
}

ncclResult_t start_event(void* context, void** handle, NcclEvent* event) try {
  *handle = nullptr;  // no stop, no states
  Session* session = Session::existing();
  if (context == nullptr || session == nullptr) return ncclSuccess;
  auto said =
      said_of_event(*static_cast<NcclContext*>(context), *event, realtime_ns(), this_thread());
  if (said && session->recording()) session->inbox().add(std::move(*said));
  return ncclSuccess;
} catch (const std::exception& error) {
  complain(error.what());
  return ncclSuccess;
}

ncclResult_t stop_event(void* /*handle*/) {
  return ncclSuccess;
}

ncclResult_t record_event_state(void* /*handle*/, int /*state*/, void* /*arguments*/) {
  return ncclSuccess;
}

ncclResult_t end_communicator(void* context) {
  delete static_cast<NcclContext*>(context);
  return ncclSuccess;
}

}  // namespace

NcclProfilerV5 nccl_profiler() {
  return {"scaleworth",
          &begin_communicator,
          &start_event,
          &stop_event,
          &record_event_state,
          &end_communicator};
}

}  // namespace scaleworth::gpu
