// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/inject/fake_cupti.h"

#include "cuda/device/nvtx_range.h"
#include "cuda/libraries/cupti.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace {

// As CUPTI does, calls of the client are made under a lock of the library's own: a client that
// holds a lock of its own across calls into CUPTI would stop here for good.
struct State {
  std::recursive_mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<CUpti_ActivityKind> kinds;
  int subscribers = 0;
  pid_t subscribed_in = 0;
  bool profiler_callbacks = false;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::uint32_t correlation = 0;
  std::uint32_t marker = 0;
  std::size_t dropped = 0;
};

State& state() {
  static State* const one = new State;
  return *one;
}
std::atomic<std::uint64_t> flushes{0};

std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::size_t bytes_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return sizeof(CUpti_ActivityMarker2);
    default:
      return 0;
  }
}

void hand_out() {
  State& s = state();
  if (s.buffer == nullptr) return;
  s.complete(nullptr, 0, s.buffer, s.size, s.used);
  s.buffer = nullptr;
}

template <class Record>
void put(const Record& record) {
  State& s = state();
  if (record.kind != CUPTI_ACTIVITY_KIND_INVALID && s.kinds.count(record.kind) == 0) return;
  if (s.buffer != nullptr && s.size - s.used < sizeof(record)) hand_out();
  if (s.buffer == nullptr) {
    std::size_t most = 0;
    s.request(&s.buffer, &s.size, &most);
    s.used = 0;
    if (s.buffer == nullptr || s.buffer[0] != 0) std::abort();  // refused, or not zeroed
  }
  std::memcpy(s.buffer + s.used, &record, sizeof(record));
  s.used += sizeof(record);
}

void put_marker(const char* name, std::uint32_t id, CUpti_ActivityFlag flag) {
  CUpti_ActivityMarker2 marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
  marker.flags = flag;
  marker.timestamp = now_ns();
  marker.id = id;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker.objectId.pt.threadId = static_cast<std::uint32_t>(::gettid());
  // As CUPTI, whose names outlive the program's.
  static std::set<std::string>* const names = new std::set<std::string>;
  if (name != nullptr) marker.name = names->insert(name).first->c_str();
  put(marker);
}

// Without a destructor: a thread may end ranges when its variables are gone.
struct OpenMarkers {
  std::uint32_t ids[64];
  int depth;
};
thread_local OpenMarkers open_markers;

// Deep inside of CUPTI's function for a range: a kind that is switched here may wait for itself.
thread_local bool in_range = false;
struct InRange {
  InRange() {
    if (state().subscribers > 0 && state().subscribed_in != ::getpid()) std::abort();  // a child
    in_range = true;
  }
  ~InRange() { in_range = false; }
  const std::scoped_lock<std::recursive_mutex> lock{state().mutex};
};

// CUPTI's functions for NVTX, which it puts into the table of each library that has an NVTX.
std::uint32_t open_marker(const char* name) {
  const InRange here;
  put_marker(name, ++state().marker, CUPTI_ACTIVITY_FLAG_MARKER_START);
  return state().marker;
}
void close_marker(std::uint32_t id) {
  const InRange here;
  put_marker(nullptr, id, CUPTI_ACTIVITY_FLAG_MARKER_END);
}
int NVTX_API range_push(const char* name) {
  open_markers.ids[open_markers.depth] = open_marker(name);
  return open_markers.depth++;
}
int NVTX_API range_pop() {
  if (open_markers.depth == 0) return -2;
  close_marker(open_markers.ids[--open_markers.depth]);
  return open_markers.depth;
}
constexpr nvtxRangeId_t first_range = 1000;
nvtxRangeId_t NVTX_API range_start(const char* name) {
  return first_range + open_marker(name);
}
void NVTX_API range_end(nvtxRangeId_t id) {
  close_marker(static_cast<std::uint32_t>(id - first_range));
}
std::set<std::string>& registered() {
  static std::set<std::string>* const texts = new std::set<std::string>;
  return *texts;
}
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(
      const_cast<char*>(registered().insert(text).first->c_str()));
}
int NVTX_API range_push_in_domain(nvtxDomainHandle_t /*domain*/,
                                  const nvtxEventAttributes_t* text) {
  return range_push(reinterpret_cast<const char*>(text->message.registered));
}
int NVTX_API range_pop_in_domain(nvtxDomainHandle_t /*domain*/) {
  return range_pop();
}

std::size_t number(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
}

}  // namespace

extern "C" {

void fake_launch(const char* kernel_name) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
  call.correlationId = ++s.correlation;
  call.threadId = static_cast<std::uint32_t>(::gettid());
  call.start = now_ns();
  call.end = call.start + 2000;
  put(call);
  CUpti_ActivityKernel9 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.correlationId = s.correlation;
  kernel.start = call.end + 1000;
  kernel.end = kernel.start + 5000;
  kernel.streamId = 7;
  kernel.name = kernel_name;
  put(kernel);
}

void fake_unfinished() {
  const std::scoped_lock lock(state().mutex);
  const CUpti_ActivityKernel9 kernel{};  // of no kind yet
  put(kernel);
}

int fake_subscribers() {
  return state().subscribers;
}

// cuptiActivityRegisterCallbacks replaces the functions that were registered before.
void fake_take_buffers() {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  hand_out();
  s.request = [](std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *size = 4096;
    *buffer = static_cast<std::uint8_t*>(std::calloc(1, *size));
    *most = 0;
  };
  s.complete = [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
    std::free(buffer);
  };
}

// As libcupti 13.0.1: this entry initialises what the other one needs and does not make itself, and
// writes functions that are the same for all tables, once.
int InitializeInjectionNvtx2(void* export_table) {
  if (state().subscribers > 0 && state().subscribed_in != ::getpid()) std::abort();
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(
      reinterpret_cast<NvtxGetExportTableFunc_t>(export_table)(NVTX_ETID_CALLBACKS));
  const auto set = [&](NvtxCallbackModule module, unsigned int index, auto function) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks->GetModuleFunctionTable(module, &table, &size) == 0 || index >= size)
      std::abort();
    *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA, &range_push);
  set(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop, &range_pop);
  set(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartA, &range_start);
  set(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeEnd, &range_end);
  set(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
  set(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePushEx, &range_push_in_domain);
  set(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePop, &range_pop_in_domain);
  return 1;
}
int InitializeInjectionNvtx(void* export_table) {
  auto* const functions = reinterpret_cast<FakeNvtx1* (*)()>(export_table)();
  *functions = {&range_push, &range_pop};
  return 1;
}
int cuptiNvtxInitialize2(void* /*export_table*/) {
  std::abort();
}

void fake_profiler(int start) {
  State& s = state();
  if (!s.profiler_callbacks) return;
  CUpti_CallbackData data{};
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    data.callbackSite = site;
    s.callback(s.user,
               CUPTI_CB_DOMAIN_DRIVER_API,
               start != 0 ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart
                          : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop,
               &data);
  }
}

std::uint64_t fake_flushes() {
  return flushes;
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  const std::size_t wanted = number("FAKE_CUPTI_VERSION");
  constexpr std::uint32_t cuda_13_0_update_1 = 130001;
  Dl_info own{};
  const std::string file =
      ::dladdr(reinterpret_cast<void*>(&cuptiGetVersion), &own) != 0 ? own.dli_fname : "";
  *version = wanted != 0 ? static_cast<std::uint32_t>(wanted) : cuda_13_0_update_1;
  if (file.ends_with(".12")) *version = scaleworth::gpu::cupti_of_cuda_12_8;
  if (file.ends_with("/cuda_cupti/lib/libcupti.so.13")) *version += 100;  // the next minor version
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "a result of the fake";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = now_ns();
  return CUPTI_SUCCESS;
}
// By another name here, because headers of CUDA 13 declare it with their own parameters.
CUptiResult subscribe_v2(
    CUpti_SubscriberHandle* subscriber,
    CUpti_CallbackFunc callback,
    void* user,
    scaleworth::gpu::cupti::SubscriberParams* parameters) __asm__("cuptiSubscribe_v2");
CUptiResult subscribe_v2(CUpti_SubscriberHandle* subscriber,
                         CUpti_CallbackFunc callback,
                         void* user,
                         scaleworth::gpu::cupti::SubscriberParams* parameters) {
  const char* other = std::getenv("FAKE_CUPTI_TAKEN_BY");
  if (other != nullptr) {
    std::strncpy(parameters->oldSubscriberName, other, parameters->oldSubscriberSize);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  ++state().subscribers;
  state().subscribed_in = ::getpid();
  state().callback = callback;
  state().user = user;
  state().dropped = number("FAKE_CUPTI_DROPPED");
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* /*subscriber*/,
                           CUpti_CallbackFunc /*callback*/,
                           void* /*user*/) {
  return CUPTI_ERROR_UNKNOWN;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle /*subscriber*/) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable,
                                CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain /*domain*/,
                                CUpti_CallbackId /*id*/) {
  state().profiler_callbacks = enable != 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain /*domain*/,
                                 std::uint32_t /*id*/,
                                 const char** name) {
  *name = "cuLaunchKernelEx_v11060";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (in_range) std::abort();
  if (number("FAKE_CUPTI_REFUSES") == static_cast<std::size_t>(kind))
    return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const std::scoped_lock lock(state().mutex);
  state().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (in_range) std::abort();
  const std::scoped_lock lock(state().mutex);
  state().kinds.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute /*attribute*/,
                                      std::size_t* /*size*/,
                                      void* /*value*/) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  const std::scoped_lock lock(state().mutex);
  hand_out();
  ++flushes;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t /*time_ms*/) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer,
                                       std::size_t bytes,
                                       CUpti_Activity** record) {
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  std::uint8_t* next = at == nullptr ? buffer : at + bytes_of((*record)->kind);
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (bytes_of(reinterpret_cast<CUpti_Activity*>(next)->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/,
                                              std::uint32_t /*stream*/,
                                              std::size_t* dropped) {
  *dropped = state().dropped;
  state().dropped = 0;
  return CUPTI_SUCCESS;
}
}
