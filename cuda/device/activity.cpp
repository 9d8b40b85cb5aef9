// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/activity.h"

#include "src/core/error.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace scaleworth::gpu {
namespace {
constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;
constexpr std::size_t buffer_alignment = 8;  // of CUPTI's records
constexpr std::array kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY};

struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
};

/// Where CUPTI's callbacks leave their buffers. They carry no user pointer, and may still come
/// when a recorder is gone, so there is one of it for the life of the process.
class RecordBuffers {
 public:
  void keep(FilledBuffer buffer) {
    const std::scoped_lock lock(mutex_);
    filled_.push_back(buffer);
  }
  std::vector<FilledBuffer> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(filled_, {});
  }
  std::atomic<std::int64_t> dropped{0};
  std::atomic<const Cupti*> cupti{nullptr};

 private:
  std::mutex mutex_;
  std::vector<FilledBuffer> filled_;
};

RecordBuffers& record_buffers() {
  static RecordBuffers* const one =
      new RecordBuffers;  // never destroyed: CUPTI's thread outlives main
  return *one;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer != nullptr ? buffer_bytes : 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext context,
                          std::uint32_t stream,
                          std::uint8_t* buffer,
                          std::size_t /*size*/,
                          std::size_t valid_bytes) {
  std::size_t dropped = 0;
  const Cupti* cupti = record_buffers().cupti;
  if (cupti != nullptr && cupti->dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) {
    record_buffers().dropped += static_cast<std::int64_t>(dropped);
  }
  record_buffers().keep({buffer, valid_bytes});
}

void CUPTIAPI ignore_callback(void* /*user*/,
                              CUpti_CallbackDomain /*domain*/,
                              CUpti_CallbackId /*id*/,
                              const void* /*data*/) {}

void discard(const std::vector<FilledBuffer>& buffers) {
  for (const FilledBuffer& buffer : buffers) std::free(buffer.data);
}

void read(const Cupti& cupti, const FilledBuffer& buffer, RecordedActivities& recorded) {
  CUpti_Activity* record = nullptr;
  CUptiResult status = cupti.next_record(buffer.data, buffer.bytes, &record);
  while (status == CUPTI_SUCCESS) {
    add_record(*record, recorded);
    status = cupti.next_record(buffer.data, buffer.bytes, &record);
  }
  // An unfinished record hides those behind it.
  if (status != CUPTI_ERROR_MAX_LIMIT_REACHED) ++recorded.dropped;
}
}  // namespace

ActivityRecorder::ActivityRecorder(std::shared_ptr<const Cupti> cupti) : cupti_(std::move(cupti)) {
  const auto need = [this](CUptiResult status, const char* what) {
    if (status == CUPTI_SUCCESS) return;
    const char* words = nullptr;
    static_cast<void>(cupti_->result_words(status, &words));
    end();
    throw NothingToMeasure("CUPTI {}: {} (code {}) in {}{}",
                           cupti_->version,
                           words != nullptr ? words : "unknown error",
                           static_cast<int>(status),
                           what,
                           status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                               ? "; another tool (nsys, a profiler, CUDA_INJECTION64_PATH) listens "
                                 "already: run without it"
                               : "");
  };
  need(cupti_->subscribe(&subscriber_, &ignore_callback, nullptr), "cuptiSubscribe");
  record_buffers().cupti = cupti_.get();
  record_buffers().dropped = 0;
  discard(record_buffers().take());
  need(cupti_->register_callbacks(&give_buffer, &take_buffer), "cuptiActivityRegisterCallbacks");
  recording_ = true;
  for (const CUpti_ActivityKind kind : kinds) need(cupti_->enable(kind), "cuptiActivityEnable");
}

ActivityRecorder::~ActivityRecorder() {
  end();
}

void ActivityRecorder::end() noexcept {
  if (recording_) {
    for (const CUpti_ActivityKind kind : kinds) static_cast<void>(cupti_->disable(kind));
    static_cast<void>(cupti_->flush_all(0));
  }
  recording_ = false;
  record_buffers().cupti = nullptr;
  if (subscriber_ != nullptr) static_cast<void>(cupti_->unsubscribe(subscriber_));
  subscriber_ = nullptr;
}

RecordedActivities ActivityRecorder::stop() {
  cupti_->check(cupti_->flush_all(0));
  for (const CUpti_ActivityKind kind : kinds) cupti_->check(cupti_->disable(kind));
  cupti_->check(cupti_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  recording_ = false;
  RecordedActivities recorded;
  const std::vector<FilledBuffer> buffers = record_buffers().take();
  for (const FilledBuffer& buffer : buffers) read(*cupti_, buffer, recorded);
  discard(buffers);
  recorded.dropped += record_buffers().dropped;
  end();
  return recorded;
}

void add_record(const CUpti_Activity& record, RecordedActivities& recorded) {
  // The fields that kernels and copies share by name. Newer records only add to those read here.
  const auto add = [&](const auto& timed, DeviceActivity::Kind kind, const char* name) {
    const auto start = static_cast<std::int64_t>(timed.start);
    const auto end = static_cast<std::int64_t>(timed.end);
    if (start <= 0 || end < start) {
      ++recorded.dropped;
      return;
    }
    recorded.activities.push_back({.kind = kind,
                                   .device = static_cast<int>(timed.deviceId),
                                   .stream = timed.streamId,
                                   .start_ns = start,
                                   .end_ns = end,
                                   .name = name != nullptr ? name : ""});
  };
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
      record.kind == CUPTI_ACTIVITY_KIND_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    add(kernel, DeviceActivity::Kind::kernel, kernel.name);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    add(copy, DeviceActivity::Kind::copy, nullptr);
  }
}
}  // namespace scaleworth::gpu
