// SPDX-License-Identifier: Apache-2.0
/// Stands for a CUDA program without a GPU: opens the capture library as the driver and NCCL would,
/// and makes the fake CUPTI tell of its work. Usage: traced_program WORD...
/// Each word is done in order; see the table at the end.
#include "cuda/device/nvtx_range.h"
#include "cuda/nccl/plugin_interfaces.h"
#include "tests/unit/cuda/inject/fake_cupti.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const char* path_of_program = nullptr;

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

void* open_named(const char* variable) {
  const char* path = std::getenv(variable);
  void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW);
  if (library == nullptr) std::fprintf(stderr, "%s cannot be opened\n", variable);
  return library;
}

void* fake() {
  static void* const library = open_named(
      std::getenv("TRACED_CUPTI") != nullptr ? "TRACED_CUPTI" : "SCALEWORTH_TRACE_CUPTI");
  return library;
}

void launch(const char* kernel) {
  symbol<decltype(fake_launch)>(fake(), "fake_launch")(kernel);
}

/// As the driver at cuInit.
void initialize() {
  void* library = open_named("CUDA_INJECTION64_PATH");
  if (library == nullptr) return;
  symbol<int()>(library, "InitializeInjection")();
}

void launch_on_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) launch("_Z4gemmPf");
    });
  for (std::thread& thread : threads) thread.join();
}

/// Returns when what was launched is in the file: a flush that began later has been written when
/// the one after it begins.
void wait_for_writer() {
  const auto flushes = symbol<decltype(fake_flushes)>(fake(), "fake_flushes");
  const std::uint64_t before = flushes();
  while (flushes() < before + 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void steps() {
  for (int step = 0; step < 5; ++step) {
    nvtxRangePushA(("step " + std::to_string(step)).c_str());
    for (int i = 0; i < 10; ++i) launch("_Z4gemmPf");
    nvtxRangePop();
  }
}

/// Steps that one thread begins and another may end.
void started_steps() {
  for (int step = 0; step < 5; ++step) {
    const nvtxRangeId_t id = nvtxRangeStartA(("step " + std::to_string(step)).c_str());
    for (int i = 0; i < 10; ++i) launch("_Z4gemmPf");
    std::thread([id] { nvtxRangeEnd(id); }).join();
  }
}

/// Steps of a domain whose names were registered, around ranges of no domain.
void registered_steps() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("trainer");
  for (int step = 0; step < 5; ++step) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered =
        nvtxDomainRegisterStringA(domain, ("step " + std::to_string(step)).c_str());
    nvtxDomainRangePushEx(domain, &attributes);
    {
      const scaleworth::gpu::NvtxRange inner("forward");
      for (int i = 0; i < 10; ++i) launch("_Z4gemmPf");
    }
    nvtxDomainRangePop(domain);
  }
}

/// A thread's last range ends when its variables are gone.
void late_range() {
  struct Late {
    ~Late() { nvtxRangePop(); }
  };
  std::thread([] {
    static thread_local Late late;
    static_cast<void>(&late);
    nvtxRangePushA("step 9");
  }).join();
}

void profiled() {
  const auto profiler = symbol<decltype(fake_profiler)>(fake(), "fake_profiler");
  launch("_Z6beforev");
  profiler(1);
  launch("_Z6duringv");
  profiler(0);
  launch("_Z5afterv");
}

/// A child that goes on as if nothing had happened, while other threads of the parent record.
void fork_child() {
  std::thread busy([] {
    for (int i = 0; i < 2000; ++i) launch("_Z4gemmPf");
  });
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  busy.join();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::_Exit(9);
}

void ranks() {
  std::vector<pid_t> children;
  for (int rank = 0; rank < 3; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("RANK", std::to_string(rank).c_str(), 1);
      ::setenv("WORLD_SIZE", "3", 1);
      ::execl(path_of_program, path_of_program, "init", "all_reduce", "threads", nullptr);
      std::_Exit(127);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

using namespace scaleworth::gpu;

constexpr const char* nccl_kernel =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

NcclEvent all_reduce_event() {
  NcclEvent event{};
  event.kind = nccl_event_collective;
  event.collective = {};
  event.collective.function = "AllReduce";
  event.collective.count = 1000;
  event.collective.type = "ncclBfloat16";
  event.collective.channels = 2;
  event.collective.algorithm = "RING";
  event.collective.protocol = "LL";
  return event;
}

/// As NCCL: a communicator, then an all-reduce whose kernel is launched on the same thread before
/// its event (NVIDIA/nccl v2.28.9-1, src/group.cc:292-299, src/enqueue.cc:1306-1316 and 1666-1672).
void all_reduce() {
  void* library = open_named("NCCL_PROFILER_PLUGIN");
  if (library == nullptr) return;
  const auto* plugin = static_cast<NcclProfilerV5*>(::dlsym(library, "ncclProfiler_v5"));
  void* context = nullptr;
  int wanted = 0;
  plugin->init(&context, 0xc0ffee, &wanted, nullptr, 1, 3, 0, nullptr);
  NcclEvent event = all_reduce_event();
  void* handle = nullptr;
  launch(nccl_kernel);
  plugin->start_event(context, &handle, &event);
  plugin->finalize(context);
}

/// The functions of either version, as NCCL calls them.
struct Plugin {
  const NcclProfilerV5* plugin;
  void* context;

  void* start(NcclEvent event, void* parent) const {
    event.parent = parent;
    void* handle = &event;
    plugin->start_event(context, &handle, &event);
    return handle;
  }
};

/// An all-reduce that a graph captures, which is reported at each replay on a thread of CUDA's (
/// NVIDIA/nccl v2.28.9-1, src/enqueue.cc:1520-1540, 2464-2466; src/plugin/profiler.cc:
/// ncclProfilerStartCollApiEvent, StartTaskEvents), then one that is launched.
void captured_all_reduce() {
  void* library = open_named("NCCL_PROFILER_PLUGIN");
  if (library == nullptr) return;
  Plugin nccl{static_cast<NcclProfilerV5*>(::dlsym(library, "ncclProfiler_v5")), nullptr};
  int wanted = 0;
  nccl.plugin->init(&nccl.context, 0xc0ffee, &wanted, nullptr, 2, 2, 1, nullptr);
  NcclEvent api{};
  api.kind = nccl_event_collective_api;
  api.collective_api = {"AllReduce", 1000, "ncclBfloat16", 0, nullptr, true};
  void* captured = nccl.start(api, nullptr);
  nccl.plugin->stop_event(captured);
  for (int replay = 0; replay < 3; ++replay)
    std::thread([&] {
      void* call = nccl.start(all_reduce_event(), captured);
      nccl.plugin->stop_event(call);
    }).join();
  api.collective_api.captured = false;
  void* eager = nccl.start(api, nullptr);
  launch(nccl_kernel);
  nccl.plugin->stop_event(nccl.start(all_reduce_event(), eager));
  nccl.plugin->finalize(nccl.context);
}

/// The number of a communicator whose context cannot be made must not change the events of others.
void two_communicators() {
  void* library = open_named("NCCL_PROFILER_PLUGIN");
  if (library == nullptr) return;
  const auto* plugin = static_cast<NcclProfilerV5*>(::dlsym(library, "ncclProfiler_v5"));
  void* context = nullptr;
  int wanted = 0;  // NCCL has one for the process (v2.28.9-1, src/plugin/profiler.cc:204)
  plugin->init(&context, 1, &wanted, nullptr, 1, 3, 0, nullptr);
  const int before = wanted;
  const pid_t child = ::fork();
  if (child == 0) {  // where nothing is recorded
    plugin->init(&context, 2, &wanted, nullptr, 1, 3, 0, nullptr);
    std::_Exit(wanted == before ? 0 : 9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::_Exit(9);
}

/// The program has CUPTI's file open before CUDA starts, as Python with PyTorch has.
void own_copy() {
  const auto subscribers = symbol<decltype(fake_subscribers)>(fake(), "fake_subscribers");
  initialize();
  if (subscribers() != 0) std::_Exit(9);
}

/// A child, as a worker that loads data, whose first range is the first of all.
void fork_range() {
  const pid_t child = ::fork();
  if (child == 0) {
    const scaleworth::gpu::NvtxRange range("load");
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::_Exit(9);
}

/// Exits with 9 unless two files of CUPTI are loaded, of which one has its copy in memory.
void two_copies() {
  int copies = 0;
  const auto count = [](dl_phdr_info* object, std::size_t /*bytes*/, void* sum) {
    const std::string_view name(object->dlpi_name);
    if (name.find("/libcupti.so") != name.npos || name.starts_with("/proc/self/fd/"))
      ++*static_cast<int*>(sum);
    return 0;
  };
  ::dl_iterate_phdr(count, &copies);
  if (copies != 2) std::_Exit(9);
}

/// As NCCL 2.27, whose events have one byte for the kind and anything behind it.
void all_reduce_of_version_4() {
  void* library = open_named("NCCL_PROFILER_PLUGIN");
  if (library == nullptr) return;
  const auto* plugin = static_cast<NcclProfilerV4*>(::dlsym(library, "ncclProfiler_v4"));
  void* context = nullptr;
  int wanted = 0;
  plugin->init(&context, &wanted, nullptr, 0xc0ffee, 1, 3, 0, nullptr);
  NcclEvent event = all_reduce_event();
  event.kind |= 0xabcd00U;
  NcclEventV4 older{};
  std::memcpy(&older, &event, sizeof(older));
  void* handle = nullptr;
  launch(nccl_kernel);
  plugin->start_event(context, &handle, &older);
  plugin->stop_event(handle);
  plugin->finalize(context);
}

/// As NCCL 2.30, whose version 6 has collectives of copies too.
void all_reduce_of_version_6() {
  void* library = open_named("NCCL_PROFILER_PLUGIN");
  if (library == nullptr) return;
  Plugin nccl{static_cast<NcclProfilerV5*>(::dlsym(library, "ncclProfiler_v6")), nullptr};
  int wanted = 0;
  nccl.plugin->init(&nccl.context, 0xc0ffee, &wanted, nullptr, 1, 3, 0, nullptr);
  if ((wanted & static_cast<int>(nccl_event_copy_engine)) == 0) std::_Exit(8);
  NcclEvent copies = all_reduce_event();
  copies.kind = nccl_event_copy_engine;
  nccl.plugin->stop_event(nccl.start(copies, nullptr));
  launch(nccl_kernel);
  nccl.plugin->stop_event(nccl.start(all_reduce_event(), nullptr));
  nccl.plugin->finalize(nccl.context);
}

void own_handler(int /*signal*/) {
  std::exit(7);
}

/// As Python's: it only notes the signal, and counts on the call that it interrupts to return.
void noting_handler() {
  struct sigaction action {};
  action.sa_handler = [](int /*signal*/) {};
  ::sigaction(SIGTERM, &action, nullptr);
}

/// Exits with 8 when a signal ends a read that has nothing to read, with 9 when it does not.
void blocked_read() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) std::exit(10);
  const pthread_t reader = ::pthread_self();
  std::thread([reader, end = ends[1]] {
    for (int i = 0; i < 100; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ::pthread_kill(reader, SIGTERM);
    }
    static_cast<void>(!::write(end, "x", 1));
  }).detach();
  char byte = 0;
  std::_Exit(::read(ends[0], &byte, 1) < 0 && errno == EINTR ? 8 : 9);
}

void real_nvtx_range() {
  const scaleworth::gpu::NvtxRange range("step 4");
}

/// As a libnvToolsExt of NVTX 1, which knows no other entry.
void nvtx_1_range() {
  static FakeNvtx1 functions;
  const auto give_table = +[]() -> FakeNvtx1* { return &functions; };
  void* library = open_named("NVTX_INJECTION64_PATH");
  auto* start = symbol<int(void*)>(library, "InitializeInjectionNvtx");
  if (start == nullptr || start(reinterpret_cast<void*>(give_table)) == 0) return;
  functions.push("step 4");
  functions.pop();
}

struct Word {
  std::string_view name;
  void (*act)();
};
constexpr Word words[] = {
    {"init", &initialize},
    {"threads", &launch_on_threads},
    {"unfinished", [] { symbol<decltype(fake_unfinished)>(fake(), "fake_unfinished")(); }},
    {"wait", &wait_for_writer},
    {"steps", &steps},
    {"started_steps", &started_steps},
    {"registered_steps", &registered_steps},
    {"late_range", &late_range},
    {"own_copy", &own_copy},
    {"fork_range", &fork_range},
    {"open", [] { static_cast<void>(fake()); }},
    {"two_copies", &two_copies},
    {"take_buffers", [] { symbol<decltype(fake_take_buffers)>(fake(), "fake_take_buffers")(); }},
    {"captured_all_reduce", &captured_all_reduce},
    {"two_communicators", &two_communicators},
    {"profiled", &profiled},
    {"fork", &fork_child},
    {"ranks", &ranks},
    {"all_reduce", &all_reduce},
    {"all_reduce_of_version_4", &all_reduce_of_version_4},
    {"all_reduce_of_version_6", &all_reduce_of_version_6},
    {"nvtx", &real_nvtx_range},
    {"nvtx_1", &nvtx_1_range},
    {"own_handler", [] { std::signal(SIGTERM, &own_handler); }},
    {"noting_handler", &noting_handler},
    {"blocked_read", &blocked_read},
    {"ignore", [] { std::signal(SIGTERM, SIG_IGN); }},
    {"term",
     [] {
       ::raise(SIGTERM);
       std::this_thread::sleep_for(std::chrono::seconds(20));
     }},
    {"term_ignored", [] { ::raise(SIGTERM); }},
    {"kill", [] { ::raise(SIGKILL); }},
    {"_exit", [] { ::_exit(5); }},
    {"abort", [] { std::abort(); }},
    {"exec", [] { ::execl(path_of_program, path_of_program, "init", "threads", nullptr); }},
    {"idle", [] {}},
    {"sleep", [] { std::this_thread::sleep_for(std::chrono::seconds(20)); }},
    {"exit_3", [] { std::exit(3); }},
};

}  // namespace

int main(int argc, char** argv) {
  path_of_program = argv[0];
  for (int i = 1; i < argc; ++i) {
    for (const Word& word : words) {
      if (word.name == argv[i]) word.act();
    }
  }
  return 0;
}
