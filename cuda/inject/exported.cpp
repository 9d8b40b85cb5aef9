// SPDX-License-Identifier: Apache-2.0
/// What the driver, NVTX and NCCL call in the capture library. Nothing of it may fail the program
/// that it runs in.
#include "cuda/inject/nccl_profiler.h"

#include <exception>

namespace scaleworth::gpu {
namespace {
constexpr int injected = 1;  // what the driver takes for success

void start_injection() {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  Session* session = Session::of_process();
  if (session == nullptr) return;
  watch_exit_paths();
  session->trace_device();
}

/// What `body` returns; 0 where it throws, with one line about it.
template <class Body>
int shielded(Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    print_problem(error.what());
  } catch (...) {
    print_problem("an unknown error in the capture library");
  }
  return 0;
}
}  // namespace
}  // namespace scaleworth::gpu

extern "C" {

__attribute__((visibility("default"))) int InitializeInjection() {
  using namespace scaleworth::gpu;
  shielded([] {
    start_injection();
    return injected;
  });
  return injected;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* export_table) {
  using namespace scaleworth::gpu;
  return shielded([&] { return start_ranges(export_table); });
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx(void* export_table) {
  using namespace scaleworth::gpu;
  return shielded([&] { return start_ranges_of_version_1(export_table); });
}

__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(void* module) {
  using namespace scaleworth::gpu;
  return shielded([&] { return start_range_payloads(module); });
}

[[gnu::visibility("default"),
  gnu::used]] constinit scaleworth::gpu::NcclProfilerV4 ncclProfiler_v4 =
    scaleworth::gpu::as_version_4<&scaleworth::gpu::NcclCalls::begin_communicator<4>,
                                  &scaleworth::gpu::NcclCalls::start_event>(
        scaleworth::gpu::nccl_profiler<4>());

[[gnu::visibility("default"),
  gnu::used]] constinit scaleworth::gpu::NcclProfilerV5 ncclProfiler_v5 =
    scaleworth::gpu::nccl_profiler<5>();

[[gnu::visibility("default"),
  gnu::used]] constinit scaleworth::gpu::NcclProfilerV5 ncclProfiler_v6 =
    scaleworth::gpu::nccl_profiler<6>();
}
