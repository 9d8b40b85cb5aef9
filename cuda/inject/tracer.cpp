// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/tracer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

namespace scaleworth::gpu {
namespace {
constexpr std::array kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                           CUPTI_ACTIVITY_KIND_MEMCPY,
                           CUPTI_ACTIVITY_KIND_MEMCPY2,
                           CUPTI_ACTIVITY_KIND_MEMSET,
                           CUPTI_ACTIVITY_KIND_RUNTIME,
                           CUPTI_ACTIVITY_KIND_DRIVER,
                           CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                           CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                           CUPTI_ACTIVITY_KIND_OVERHEAD,
                           CUPTI_ACTIVITY_KIND_MARKER,
                           CUPTI_ACTIVITY_KIND_MARKER_DATA};

// Called so often, and so short, that records of them would only hide the rest.
constexpr std::array noisy_runtime_calls{CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
                                         CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
                                         CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
                                         CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020};
constexpr std::array noisy_driver_calls{CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
                                        CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
                                        CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
                                        CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice};

// CUPTI's buffer callbacks carry no user pointer.
std::atomic<RecordBuffers*> process_buffers{nullptr};
constexpr std::size_t orphan_bytes = std::size_t{1} << 20U;  // as the session's buffers

/// Null when memory is short.
std::uint8_t* map_memory(std::size_t bytes, int flags) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  RecordBuffers* buffers = process_buffers;
  *buffer = buffers != nullptr ? buffers->give() : map_memory(orphan_bytes, 0);
  *size = buffers != nullptr ? buffers->buffer_bytes() : orphan_bytes;
  if (*buffer == nullptr) *size = 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext /*context*/,
                          std::uint32_t /*stream*/,
                          std::uint8_t* buffer,
                          std::size_t size,
                          std::size_t valid_bytes) {
  RecordBuffers* buffers = process_buffers;
  if (buffers != nullptr) {
    buffers->take({buffer, valid_bytes});
  } else if (buffer != nullptr) {
    ::munmap(buffer, size);
  }
}

std::string words_of(const Cupti& cupti, CUptiResult status) {
  return fmt::format("{} (code {})", cupti.words(status), static_cast<int>(status));
}

}  // namespace

void Tracer::called(void* self,
                    CUpti_CallbackDomain domain,
                    CUpti_CallbackId id,
                    const void* data) {
  if (self == nullptr || data == nullptr || process_buffers == nullptr) return;
  const auto& events = static_cast<Tracer*>(self)->events_;
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || !events.profiler) return;
  const auto site = static_cast<const CUpti_CallbackData*>(data)->callbackSite;
  // The calls themselves are outside of what they mark.
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart && site == CUPTI_API_EXIT)
    events.profiler(true);
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop && site == CUPTI_API_ENTER)
    events.profiler(false);
}

std::string Tracer::subscribe() {
  std::array<char, 128> other{};
  CUptiResult status = CUPTI_ERROR_UNKNOWN;
  // From 13.2 on calls of version 2 are of one subscriber, also those of activities, and do not mix
  // with version 1, of which all others here are.
  constexpr std::uint32_t first_apart = 130200;
  if (cupti_->subscribe_v2 != nullptr && cupti_->version_number < first_apart) {
    cupti::SubscriberParams parameters{};
    parameters.structSize = sizeof(parameters);
    parameters.subscriberName = "scaleworth";
    parameters.oldSubscriberName = other.data();
    parameters.oldSubscriberSize = other.size() - 1;
    status = cupti_->subscribe_v2(&subscriber_, &Tracer::called, this, &parameters);
  } else {
    status = cupti_->subscribe(&subscriber_, &Tracer::called, this);
  }
  if (status == CUPTI_SUCCESS) return {};
  if (status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    const std::string name = other.front() == '\0' ? "another tool" : other.data();
    return fmt::format(
        "{} listens to CUPTI in this process already, and only one can: kernels, copies and calls "
        "are not recorded; run without it to get them",
        name);
  }
  return fmt::format(
      "CUPTI {} refuses to be listened to: {}", cupti_->version, words_of(*cupti_, status));
}

void Tracer::prepare() {
  if (cupti_->version_number == defective_cupti)
    events_.remark(fmt::format(
        "CUPTI {} has defects that stop programs when kernels are switched off (--steps, "
        "--duration) or records are fetched: use that of CUDA 13.0 Update 1 or later",
        cupti_->version));
  const auto note = [&](CUptiResult status, const char* what) {
    if (status != CUPTI_SUCCESS)
      events_.remark(
          fmt::format("CUPTI {}: {}: {}", cupti_->version, what, words_of(*cupti_, status)));
  };
  if (cupti_->version_number < cupti_of_cuda_12_8)
    events_.remark(fmt::format(
        "CUPTI {} does not say for which event a wait waited: that of CUDA 12.8 or later does",
        cupti_->version));
  std::uint8_t zeroed = 1;  // by the writer, else CUPTI does it on the program's threads
  std::size_t bytes = sizeof(zeroed);
  note(cupti_->set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed),
       "buffers are zeroed twice");
  if (cupti_->set_thread_id_type != nullptr)
    note(cupti_->set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM),
         "threads have no system ids");
  // Else a query that finds its work unfinished would be recorded as a wait.
  if (cupti_->enable_all_waits != nullptr)
    note(cupti_->enable_all_waits(0), "polling is recorded as waiting");
  note(cupti_->register_callbacks(&give_buffer, &take_buffer), "no buffers can be registered");
  if (cupti_->enable_callback == nullptr) return;
  if (events_.profiler) {
    for (const auto id :
         {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop})
      note(cupti_->enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id),
           "cudaProfilerStart and Stop are not seen");
  }
}

Outcome<Tracer*> Tracer::start(std::shared_ptr<const Cupti> cupti,
                               RecordBuffers& buffers,
                               TracerEvents events) {
  auto tracer = std::unique_ptr<Tracer>(new Tracer(std::move(cupti), std::move(events)));
  const std::string refusal = tracer->subscribe();
  if (!refusal.empty()) return Skipped{refusal};
  process_buffers = &buffers;
  tracer->prepare();
  return tracer.release();
}

void Tracer::release_buffers() {
  process_buffers = nullptr;
}

void Tracer::enable_kinds(bool on) {
  for (const CUpti_ActivityKind kind : kinds) {
    if (std::find(refused_.begin(), refused_.end(), kind) != refused_.end()) continue;
    // Shorter before CUDA 13: it has no domain, without which a payload cannot be read.
    if (kind == CUPTI_ACTIVITY_KIND_MARKER_DATA && cupti_->version_number < cupti_of_cuda_13)
      continue;
    const CUptiResult status = on ? cupti_->enable(kind) : cupti_->disable(kind);
    // Fewer kinds are better than none: virtual machines and MIG refuse some.
    if (!on || status == CUPTI_SUCCESS) continue;
    refused_.push_back(kind);
    events_.remark(fmt::format("CUPTI {} refuses records of kind {}: {}",
                               cupti_->version,
                               static_cast<int>(kind),
                               words_of(*cupti_, status)));
  }
  if (!on) return;
  // A call that this CUPTI does not know is not made either.
  if (cupti_->enable_runtime_api != nullptr) {
    for (const auto id : noisy_runtime_calls) static_cast<void>(cupti_->enable_runtime_api(id, 0));
  }
  if (cupti_->enable_driver_api != nullptr) {
    for (const auto id : noisy_driver_calls) static_cast<void>(cupti_->enable_driver_api(id, 0));
  }
}

void Tracer::record(bool on) {
  wanted_ = on;
  while (!switching_.exchange(true)) {
    const bool on_now = wanted_;
    if (recording_ != on_now) enable_kinds(on_now);
    recording_ = on_now;
    switching_ = false;
    if (wanted_ == on_now) return;  // else it changed before switching_ was cleared
  }
}

void Tracer::flush(bool forced) const {
  static_cast<void>(
      cupti_->flush_all(forced ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0));
}

std::uint64_t Tracer::take_dropped() const {
  std::size_t dropped = 0;
  return cupti_->dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS ? dropped : 0;
}

DecoderQuestions Tracer::questions() const {
  const Cupti* cupti = cupti_.get();
  DecoderQuestions questions;
  questions.version = cupti->version_number;
  if (cupti->callback_name != nullptr) {
    questions.call_name = [cupti](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
      const char* name = nullptr;
      const CUptiResult status = cupti->callback_name(domain, id, &name);
      return std::string(status == CUPTI_SUCCESS && name != nullptr ? name : "");
    };
  }
  if (cupti->payload_schema != nullptr) {
    questions.schema = [cupti](std::uint32_t domain,
                               std::uint64_t schema) -> const cupti::PayloadSchema* {
      cupti::PayloadAttributes attributes{};
      attributes.structSize = sizeof(attributes);
      if (cupti->payload_schema(domain, schema, &attributes) != CUPTI_SUCCESS) return nullptr;
      if (attributes.type != cupti::payload_is_schema) return nullptr;
      return static_cast<const cupti::PayloadSchema*>(attributes.attributes);
    };
  }
  return questions;
}

void RecordBuffers::prepare(std::size_t buffers) {
  for (std::size_t i = 0; i < buffers; ++i) {
    std::uint8_t* buffer = map_memory(buffer_bytes_, MAP_POPULATE);
    if (buffer == nullptr) return;
    const std::scoped_lock lock(mutex_);
    free_.push_back(buffer);
  }
}

std::uint8_t* RecordBuffers::give() {
  FilledBuffer taken;
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      std::uint8_t* buffer = free_.back();
      free_.pop_back();
      return buffer;
    }
    if (filled_.size() >= most_waiting_) {
      taken = filled_.front();
      filled_.pop_front();
      discarded_bytes_ += taken.bytes;
    }
  }
  if (taken.data == nullptr) return map_memory(buffer_bytes_, 0);
  std::memset(taken.data, 0, taken.bytes);
  return taken.data;
}

void RecordBuffers::take(FilledBuffer buffer) {
  if (buffer.data == nullptr) return;
  const std::scoped_lock lock(mutex_);
  if (buffer.bytes == 0) {
    free_.push_back(buffer.data);
  } else {
    filled_.push_back(buffer);
    ++handed_over_;
  }
}

std::optional<FilledBuffer> RecordBuffers::next() {
  const std::scoped_lock lock(mutex_);
  if (filled_.empty()) return std::nullopt;
  const FilledBuffer buffer = filled_.front();
  filled_.pop_front();
  return buffer;
}

void RecordBuffers::put_back(FilledBuffer buffer) {
  std::memset(buffer.data, 0, buffer.bytes);
  const std::scoped_lock lock(mutex_);
  free_.push_back(buffer.data);
}

std::uint64_t RecordBuffers::take_discarded_bytes() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(discarded_bytes_, 0);
}
}  // namespace scaleworth::gpu
