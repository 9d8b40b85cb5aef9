// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/batch_timer.h"

#include "cuda/device/timing/clock_counter.h"
#include "cuda/device/timing/event_wait.h"
#include "cuda/device/timing/stream_hold.h"
#include "cuda/runtime/device_guard.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/unique.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace scaleworth::gpu {
namespace {

using probes::BatchOptions;
using probes::BatchTiming;

// With untimed work between, each repetition queues about six things instead of one.
constexpr int repetitions_with_pauses = 80;
constexpr double timeout_s = 60.0;

Event event_on(int device, unsigned flags) {
  const DeviceGuard guard(device);
  return make_event(flags);
}

double elapsed_s(const Event& begin, const Event& end) {
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return 1e-3 * static_cast<double>(milliseconds);
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
    const std::vector<Pair> pairs = enqueue(work, repetitions);
    clock_.end(stream_);
    clock_.fetch(stream_);
    check(cudaEventRecord(done_.get(), stream_));
    hold_.release();
    finish(work.doing);

    BatchTiming timing;
    double time_s = 0.0;
    for (const Pair& pair : pairs) time_s += elapsed_s(*pair.begin, *pair.end);
    timing.time = Seconds{time_s};
    timing.clock_hz = clock_.clock_hz();
    timing.gaps = work.blocked && hold_.gave_up();
    expected_s_ = time_s / repetitions;
    return timing;
  }

  void run_unblocked(const BatchWork& work) {
    health_.require();
    if (work.between) check(work.between(stream_, 0));
    fork(work);
    check(work.enqueue(stream_, 0));
    join(work);
    wait(work.doing);
  }

  void wait(const std::string& doing) {
    check(cudaEventRecord(done_.get(), stream_));
    finish(doing);
  }

  void expect(double repetition_s) { expected_s_ = repetition_s; }

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

  struct Pair {
    const Event* begin;
    const Event* end;
  };
  /// However queueing ends, the stream goes on.
  class Unholding {
   public:
    explicit Unholding(StreamHold& hold) : hold_(hold) {}
    Unholding(const Unholding&) = delete;
    Unholding& operator=(const Unholding&) = delete;
    ~Unholding() { hold_.release(); }

   private:
    StreamHold& hold_;
  };

  std::vector<Pair> enqueue(const BatchWork& work, int repetitions) {
    health_.require();
    const int pairs = work.between ? repetitions : 1;
    while (timed_.size() < 2 * static_cast<std::size_t>(pairs)) timed_.push_back(make_event());
    std::vector<Pair> used;
    for (int i = 0; i < repetitions; ++i) {
      if (work.between) check(work.between(stream_, repetition_));
      if (work.between || i == 0) {
        const auto index = 2 * used.size();
        used.push_back({&timed_[index], &timed_[index + 1]});
        check(cudaEventRecord(used.back().begin->get(), stream_));
        fork(work);
      }
      check(work.enqueue(stream_, repetition_++));
      if (work.between || i + 1 == repetitions) {
        join(work);
        check(cudaEventRecord(used.back().end->get(), stream_));
      }
    }
    return used;
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

  void finish(const std::string& doing) {
    wait_for_event(health_,
                   done_.get(),
                   std::chrono::duration<double>(timeout_s + 1000.0 * expected_s_),
                   doing);
  }

  DeviceHealth& health_;
  cudaStream_t stream_;
  StreamHold hold_;
  ClockCounter clock_;
  std::vector<Event> timed_;
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

probes::DeviceMeasured BatchTimer::time(const BatchWork& work,
                                        const probes::Target& target,
                                        const BatchOptions& options) {
  run_once(work);
  BatchOptions bounded = options;
  if (work.between) {
    bounded.maximum_repetitions = std::min(options.maximum_repetitions, repetitions_with_pauses);
  }
  probes::BatchFunction runner([&](int repetitions) { return machinery_->run(work, repetitions); });
  return probes::sample_batches(runner, target, bounded);
}

double BatchTimer::time_once(const BatchWork& work, int repetitions) {
  return machinery_->run(work, repetitions).time.value();
}

void BatchTimer::run_once(const BatchWork& work) {
  machinery_->expect(0.0);
  machinery_->run_unblocked(work);
}

void BatchTimer::wait(const std::string& doing) {
  machinery_->wait(doing);
}

}  // namespace scaleworth::gpu
