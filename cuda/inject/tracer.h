// SPDX-License-Identifier: Apache-2.0
/// CUPTI in the traced process: which of its records are asked for, on and off.
#pragma once

#include "cuda/inject/decoder.h"
#include "cuda/libraries/cupti.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

namespace scaleworth::gpu {
struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;  // that CUPTI wrote
};

/// The buffers that CUPTI fills: a pool of zeroed memory with a bounded backlog. Used by the
/// application's threads and CUPTI's (give, take) and the writer (next, put_back). Nothing but
/// memory is touched under its lock.
class RecordBuffers {
 public:
  /// At most `most_waiting` filled buffers wait for the writer. Those that CUPTI holds, one for
  /// each thread of the program that works with CUDA, come on top of them.
  RecordBuffers(std::size_t bytes_per_buffer, std::size_t most_waiting)
      : buffer_bytes_(bytes_per_buffer), most_waiting_(most_waiting) {}

  /// Makes `buffers` of them before a thread waits for their pages.
  void prepare(std::size_t buffers);
  /// A zeroed buffer. Never refuses while there is memory, because that crashes CUPTI before CUDA
  /// 12.9: while as many filled ones wait as may, it takes the oldest of them, whose records are
  /// lost and counted. Null when memory is short.
  std::uint8_t* give();
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  /// CUPTI's filled buffer; an empty one goes back at once.
  void take(FilledBuffer buffer);

  /// The oldest filled buffer, for the writer; absent when there is none.
  std::optional<FilledBuffer> next();
  /// Zeroes what was written and makes the buffer free.
  void put_back(FilledBuffer buffer);

  /// Bytes of records that were given up since the last call.
  std::uint64_t take_discarded_bytes();
  /// How many buffers with records CUPTI has handed over.
  std::uint64_t handed_over() const { return handed_over_; }

 private:
  const std::size_t buffer_bytes_;
  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::deque<FilledBuffer> filled_;
  std::uint64_t discarded_bytes_ = 0;
  std::atomic<std::uint64_t> handed_over_{0};
};

/// Callbacks of a tracer; may come from any thread.
struct TracerEvents {
  std::function<void(bool started)> profiler;           // cudaProfilerStart and cudaProfilerStop
  std::function<void(const std::string& line)> remark;  // what CUPTI refuses
};

/// The library to use, chosen by the first call of the process: `named` where it is not empty, else
/// the newest that is found, of CUDA 12.4 or later and no later major version than the driver's.
/// Of one that the program has loaded, a copy of its own: the program's profiler would replace the
/// buffers and switch the kinds of a shared one. Skipped or Failed with the reason.
Outcome<std::shared_ptr<const Cupti>> choose_cupti(const std::string& named);

/// Has defects that 13.0 Update 1 repairs: crashes at ranges that come first and at a flush, and a
/// deadlock when kernels are switched off (NVIDIA's release notes).
inline constexpr std::uint32_t defective_cupti = 130000;

/// One in a process and never destroyed: CUPTI's callbacks may come until the end.
class Tracer {
 public:
  /// Subscribes and registers the buffers of `buffers`, which has to outlive the process. Skipped
  /// when another tool is subscribed, which it names, or when CUPTI refuses.
  static Outcome<Tracer*> start(std::shared_ptr<const Cupti> cupti,
                                RecordBuffers& buffers,
                                TracerEvents events);

  /// Switches all kinds of records on or off; from any thread. The last call wins.
  void record(bool on);
  /// Makes CUPTI hand out its buffers with complete records; `forced`: with all.
  void flush(bool forced) const;
  /// Records that CUPTI lost since the last call.
  std::uint64_t take_dropped() const;
  /// For the decoder of this tracer's records; valid as long as the process.
  DecoderQuestions questions() const;
  const Cupti& cupti() const { return *cupti_; }

  /// In a forked child: buffers no longer go to the buffers, whose lock another thread may have
  /// held.
  static void release_buffers();

 private:
  Tracer(std::shared_ptr<const Cupti> cupti, TracerEvents events)
      : cupti_(std::move(cupti)), events_(std::move(events)) {}
  std::string subscribe();
  void prepare();
  void enable_kinds(bool on);
  static void CUPTIAPI called(void* self,
                              CUpti_CallbackDomain domain,
                              CUpti_CallbackId id,
                              const void* data);

  std::shared_ptr<const Cupti> cupti_;
  TracerEvents events_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<CUpti_ActivityKind> refused_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> switching_{false};
  bool recording_ = false;  // guarded by switching_
};
}  // namespace scaleworth::gpu
