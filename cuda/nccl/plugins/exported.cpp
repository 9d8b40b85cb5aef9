// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/plugins/exported.h"

#include "cuda/nccl/plugins/plugin_desk.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr const char* in_this_program = "STATIC_PLUGIN";

ncclResult_t start_tuning(void** context,
                          std::uint64_t /*communicator*/,
                          std::size_t /*ranks*/,
                          std::size_t /*nodes*/,
                          NcclLogger /*logger*/,
                          NcclNvlinkDomains* /*domains*/,
                          NcclTunerConstants* /*constants*/) {
  *context = &plugin_desk();
  return ncclSuccess;
}

// Always success: another return fails the collective instead of falling back (2.28.9).
ncclResult_t tune(void* /*context*/,
                  NcclFunction /*function*/,
                  std::size_t bytes,
                  int /*operations*/,
                  float** costs,
                  int algorithms,
                  int protocols,
                  int /*registered*/,
                  int* /*channels*/) {
  plugin_desk().tune(bytes, reinterpret_cast<float*>(costs), algorithms, protocols);
  return ncclSuccess;
}

ncclResult_t end_tuning(void* /*context*/) {
  return ncclSuccess;
}

ncclResult_t start_profiling(void** context,
                             std::uint64_t /*communicator*/,
                             int* wanted_events,
                             const char* /*communicator_name*/,
                             int /*nodes*/,
                             int /*ranks*/,
                             int /*rank*/,
                             NcclLogger /*logger*/) {
  *context = &plugin_desk();
  plugin_desk().offer_mask(wanted_events);
  return ncclSuccess;
}

ncclResult_t start_event(void* /*context*/, void** handle, NcclEvent* event) {
  *handle = nullptr;  // no stop, no states
  const NcclCollectiveEvent& collective = event->collective;
  if (event->kind == nccl_event_collective && collective.algorithm != nullptr &&
      collective.protocol != nullptr) {
    plugin_desk().started(collective.algorithm, collective.protocol, collective.channels);
  }
  return ncclSuccess;
}

ncclResult_t stop_event(void* /*handle*/) {
  return ncclSuccess;
}

ncclResult_t record_event_state(void* /*handle*/, int /*state*/, void* /*arguments*/) {
  return ncclSuccess;
}

ncclResult_t end_profiling(void* /*context*/) {
  return ncclSuccess;
}

std::string offer(const char* variable, const char* lost) {
  const char* value = std::getenv(variable);
  if (value == nullptr) {
    ::setenv(variable, in_this_program, 1);
    return {};
  }
  if (std::string_view(value) == in_this_program) return {};
  return fmt::format("{} is set to '{}': {}. ", variable, value, lost);
}

}  // namespace

std::string offer_plugins() {
  return offer("NCCL_TUNER_PLUGIN", "algorithms can be neither predicted nor forced") +
         offer("NCCL_PROFILER_PLUGIN", "it is not known which algorithm ran");
}

}  // namespace scaleworth::gpu

extern "C" {

__attribute__((visibility("default"), used))
scaleworth::gpu::NcclTunerV5 ncclTunerPlugin_v5{"scaleworth",
                                                &scaleworth::gpu::start_tuning,
                                                &scaleworth::gpu::tune,
                                                &scaleworth::gpu::end_tuning};

__attribute__((visibility("default"), used))
scaleworth::gpu::NcclProfilerV5 ncclProfiler_v5{"scaleworth",
                                                &scaleworth::gpu::start_profiling,
                                                &scaleworth::gpu::start_event,
                                                &scaleworth::gpu::stop_event,
                                                &scaleworth::gpu::record_event_state,
                                                &scaleworth::gpu::end_profiling};
}
