// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/batch_timer.h"

#include "cuda/kernels/timing.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "src/core/error.h"
#include "src/core/non_copyable.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace scaleworth::gpu {
namespace {
static_assert(sizeof(ClockStamp) == clock_stamp_words * sizeof(std::uint64_t));

/// The clock of a GPU's multiprocessors over a batch, from stamps at both its ends. On the current
/// device.
class ClockCounter {
 public:
  explicit ClockCounter(const DeviceHealth& health) {
    // %smid may exceed the number of multiprocessors where some are switched off.
    constexpr int spare_slots = 256;
    check(cudaDeviceGetAttribute(
        &multiprocessors_, cudaDevAttrMultiProcessorCount, health.ordinal()));
    slots_ = multiprocessors_ + spare_slots;
    stamps_ = allocate_device(health, bytes());
    fetched_ = allocate_pinned(health, bytes());
  }

  /// Queue `begin` before the batch, `end` and `fetch` after it, read `clock_hz` when all is done.
  void begin(cudaStream_t stream) {
    ++batch_;
    stamp(0, stream);
  }
  void end(cudaStream_t stream) { stamp(1, stream); }
  void fetch(cudaStream_t stream) {
    check(cudaMemcpyAsync(fetched_.get(), stamps_.get(), bytes(), cudaMemcpyDeviceToHost, stream));
  }
  std::optional<double> clock_hz() const {
    const auto* stamps = static_cast<const ClockStamp*>(fetched_.get());
    const auto slots = static_cast<std::size_t>(slots_);
    return clock_between({stamps, slots}, {stamps + slots, slots}, batch_);
  }

 private:
  std::size_t bytes() const { return 2 * static_cast<std::size_t>(slots_) * sizeof(ClockStamp); }
  void stamp(int which, cudaStream_t stream) {
    auto* stamps = static_cast<std::uint64_t*>(stamps_.get());
    check(launch_clock_stamp(
        stamps + which * slots_ * clock_stamp_words, slots_, batch_, multiprocessors_, stream));
  }

  int multiprocessors_ = 0;
  int slots_ = 0;
  std::uint64_t batch_ = 0;
  DeviceBuffer stamps_;
  PinnedBuffer fetched_;
};

/// Holds a stream back while a batch is queued; holds are numbered.
class StreamHold {
 public:
  explicit StreamHold(const DeviceHealth& health)
      : memory_(allocate_pinned(health, sizeof(StreamBlockWords))) {}

  /// Everything queued on `stream` from now on waits for `release`, at most a second: should
  /// queueing itself wait for the GPU, or the flag be lost, it goes on then, and `gave_up` is set.
  void hold(cudaStream_t stream) {
    // Below the shortest watchdog of a GPU that also drives a display (2 s).
    constexpr std::uint64_t timeout_ns = 1'000'000'000;
    check(launch_stream_block(words(), ++number_, timeout_ns, stream));
  }
  /// No hold: nothing. Never fails, so that it may stand in a destructor.
  void release() noexcept {
    std::atomic_ref(words()->released).store(number_, std::memory_order_release);
  }
  /// Whether the last hold ended by itself; known when the work behind it is done.
  bool gave_up() const {
    return number_ > 0 &&
           std::atomic_ref(words()->gave_up).load(std::memory_order_acquire) == number_;
  }

 private:
  StreamBlockWords* words() const { return static_cast<StreamBlockWords*>(memory_.get()); }

  PinnedBuffer memory_;
  std::uint64_t number_ = 0;
};

// A batch lasts milliseconds, the longest product some seconds: a GPU that is silent for a minute
// hangs.
constexpr double timeout_s = 60.0;

Event event_on(int device, unsigned flags) {
  const DeviceGuard guard(device);
  return make_event(flags);
}
}  // namespace

/// What a timer needs for each batch, made once.
class BatchTimer::Machinery {
 public:
  Machinery(DeviceHealth& health, cudaStream_t stream)
      : health_(health), stream_(stream), hold_(health), clock_(health) {
    load_own_kernels();
  }

  BatchTiming run(const BatchWork& work, int repetitions) {
    const Unholding unholding(hold_);
    if (work.blocked) hold_.hold(stream_);
    clock_.begin(stream_);
    enqueue(work, repetitions);
    clock_.end(stream_);
    clock_.fetch(stream_);
    check(cudaEventRecord(done_.get(), stream_));
    hold_.release();
    finish(work.doing);
    BatchTiming timing;
    timing.time = Seconds{elapsed_s(begin_, end_)};
    timing.clock_hz = clock_.clock_hz();
    timing.gaps = work.blocked && hold_.gave_up();
    expected_s_ = timing.time.value() / repetitions;
    return timing;
  }

  void run_unblocked(const BatchWork& work) {
    expected_s_ = 0.0;
    health_.require();
    fork(work);
    check(work.enqueue(stream_, 0));
    join(work);
    wait(work.doing);
  }

  void wait(const std::string& doing) {
    check(cudaEventRecord(done_.get(), stream_));
    finish(doing);
  }

 private:
  /// A kernel's first launch loads it, which may wait for the GPU: not behind a held stream.
  void load_own_kernels() {
    clock_.begin(stream_);
    clock_.end(stream_);
    clock_.fetch(stream_);
    const Unholding unholding(hold_);
    hold_.hold(stream_);
    hold_.release();
    wait("loading the timer's kernels");
  }

  /// However queueing ends, the stream goes on.
  class Unholding : NonCopyable {
   public:
    explicit Unholding(StreamHold& hold) : hold_(hold) {}
    ~Unholding() { hold_.release(); }

   private:
    StreamHold& hold_;
  };

  void enqueue(const BatchWork& work, int repetitions) {
    health_.require();
    check(cudaEventRecord(begin_.get(), stream_));
    fork(work);
    for (int i = 0; i < repetitions; ++i) check(work.enqueue(stream_, repetition_++));
    join(work);
    check(cudaEventRecord(end_.get(), stream_));
  }

  void fork(const BatchWork& work) {
    if (work.second == nullptr) return;
    check(cudaEventRecord(forked_.get(), stream_));
    check(cudaStreamWaitEvent(work.second, forked_.get()));
  }

  void join(const BatchWork& work) {
    if (work.second == nullptr) return;
    if (!joined_ || joined_device_ != work.second_device) {
      joined_ = event_on(work.second_device, cudaEventDisableTiming);
      joined_device_ = work.second_device;
    }
    check(cudaEventRecord(joined_.get(), work.second));
    check(cudaStreamWaitEvent(stream_, joined_.get()));
  }

  /// Polls until `done_` has happened. After the timeout the GPU counts as lost and ProbeFailure
  /// names it, `doing` and the remedy. Throws gpu::Error if the GPU reports a failure.
  void finish(const std::string& doing) {
    using Clock = std::chrono::steady_clock;
    const std::chrono::duration<double> timeout(timeout_s + 1000.0 * expected_s_);
    const auto start = Clock::now();
    while (!has_happened(done_.get())) {
      const auto waited = Clock::now() - start;
      if (waited > timeout) {
        health_.lose(fmt::format(
            "GPU {} did not finish within {:.0f} s while {}: it hangs or another program "
            "keeps it busy; see dmesg for Xid and nvidia-smi for other programs, then "
            "start again; later questions to it fail at once",
            health_.ordinal(),
            timeout.count(),
            doing));
        health_.require();
      }
      // A small part of what was waited so far: neither a busy loop nor a gap between batches.
      const auto pause =
          std::clamp(std::chrono::duration_cast<std::chrono::microseconds>(waited / 500),
                     std::chrono::microseconds{20},
                     std::chrono::microseconds{2000});
      std::this_thread::sleep_for(pause);
    }
  }

  DeviceHealth& health_;
  cudaStream_t stream_;
  StreamHold hold_;
  ClockCounter clock_;
  Event begin_ = make_event();
  Event end_ = make_event();
  Event done_ = make_event(cudaEventDisableTiming);
  Event forked_ = make_event(cudaEventDisableTiming);
  Event joined_;
  int joined_device_ = -1;
  int repetition_ = 0;
  double expected_s_ = 0.0;  // of one repetition; 0 before the first
};

BatchTimer::BatchTimer(DeviceHealth& health, cudaStream_t stream)
    : machinery_(std::make_unique<Machinery>(health, stream)) {}

BatchTimer::~BatchTimer() = default;

DeviceMeasured BatchTimer::time(const BatchWork& work,
                                const Target& target,
                                const BatchOptions& options) {
  run_once(work);
  BatchFunction runner([&](int repetitions) { return machinery_->run(work, repetitions); });
  return sample_batches(runner, target, options);
}

BatchTiming BatchTimer::time_once(const BatchWork& work, int repetitions) {
  return machinery_->run(work, repetitions);
}

void BatchTimer::run_once(const BatchWork& work) {
  machinery_->run_unblocked(work);
}

void BatchTimer::wait(const std::string& doing) {
  machinery_->wait(doing);
}
}  // namespace scaleworth::gpu
