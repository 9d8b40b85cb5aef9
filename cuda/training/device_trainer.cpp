// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/device_trainer.h"

#include "cuda/device/nvtx_range.h"
#include "cuda/kernels/training/elementwise.h"
#include "src/core/error.h"
#include "src/core/process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <span>
#include <thread>

namespace scaleworth::gpu {
namespace {
bool is_straggler(const TrainingWork& work, Rank rank) {
  return work.straggler && work.straggler->rank == rank && work.straggler->factor > 1.0;
}

// The buffers, and a line of memory for a straggler's clock.
std::size_t arena_bytes(const TransformerShape& shape, std::int64_t sequences) {
  return static_cast<std::size_t>(training_bytes(shape, sequences).value()) + device_alignment;
}
}  // namespace

DeviceTrainer::DeviceTrainer(const TrainingRank& rank,
                             std::shared_ptr<const CublasLt> library,
                             const std::atomic<bool>& stop,
                             const TrainingWork& work)
    : rank_(rank),
      stop_(stop),
      work_((check_device_shape(work.shape), work)),
      sequences_(work.global_batch / work.ranks),
      health_(rank.ordinal),
      compute_(make_stream()),
      exchange_stream_(make_stream()),
      arena_(health_, arena_bytes(work.shape, sequences_), compute_.get()),
      model_(work.shape, sequences_, work.global_batch * work.shape.sequence, arena_),
      schedule_(make_schedule(model_, work.bucket, rank.exchange != nullptr ? work.ranks : 1)),
      plans_(std::move(library), health_),
      operations_(plans_, compute_.get()),
      straggler_mark_(is_straggler(work, rank.rank) ? arena_.make<std::uint64_t>(1) : nullptr),
      sums_done_(make_event(cudaEventDisableTiming)),
      slots_{make_slot(health_, model_.buffers(), schedule_),
             make_slot(health_, model_.buffers(), schedule_)} {
  for (std::size_t i = 0; i < schedule_.posted_after.size(); ++i) {
    ready_.push_back(make_event(cudaEventDisableTiming));
  }
  model_.initialise(operations_, work_.seed);
}

DeviceTrainer::~DeviceTrainer() {
  if (failed_) {
    // Freeing waits for the GPU, and a sum without one of its ranks never ends.
    health_.lose("this rank's training was given up");
    return;
  }
  static_cast<void>(cudaStreamSynchronize(exchange_stream_.get()));
  static_cast<void>(cudaStreamSynchronize(compute_.get()));
}

DeviceTrainer::Slot DeviceTrainer::make_slot(const DeviceHealth& health,
                                             const TrainingBuffers& buffers,
                                             const StepSchedule& schedule) {
  Slot slot;
  slot.input = allocate_pinned(health, buffers.input_layout.bytes);
  slot.loss = allocate_pinned(health, 2 * sizeof(float));
  slot.start = make_event();
  slot.end = make_event();
  slot.done = make_event(cudaEventDisableTiming);
  for (std::size_t i = 0; i < schedule.stages.size(); ++i) slot.stage_end.push_back(make_event());
  for (std::size_t i = 0; i < schedule.posted_after.size(); ++i) {
    slot.sum_end.push_back(make_event());
  }
  return slot;
}

std::vector<FinishedStep> DeviceTrainer::run(int first, int count) {
  std::vector<FinishedStep> finished;
  try {
    const int depth = static_cast<int>(slots_.size());
    for (int step = first; step < first + count; ++step) {
      if (step - first >= depth) finished.push_back(finish(step - depth));
      queue(step);
    }
    for (int step = std::max(first, first + count - depth); step < first + count; ++step) {
      finished.push_back(finish(step));
    }
  } catch (...) {
    failed_ = true;
    throw;
  }
  return finished;
}

void DeviceTrainer::queue(int step) {
  // Only measured steps are steps of a recording, which averages them.
  const char* kind = work_.calibration           ? "calibration"
                     : step < work_.warmup_steps ? "warm-up"
                                                 : "step";
  const NvtxRange range(fmt::format("{} {}", kind, step).c_str());
  Slot& slot = slot_of(step);
  const TrainingBuffers& buffers = model_.buffers();
  const std::int64_t first_sample =
      static_cast<std::int64_t>(step) * work_.global_batch + rank_.rank.index * sequences_;
  const std::size_t bytes = buffers.input_layout.bytes;
  fill_step_input(work_.shape,
                  buffers.input_layout,
                  {.seed = work_.seed,
                   .first_sample = static_cast<std::uint64_t>(first_sample),
                   .step = step,
                   .stop = interrupt_signal() != 0},
                  {static_cast<std::byte*>(slot.input.get()), bytes});
  check(cudaMemcpyAsync(
      buffers.input, slot.input.get(), bytes, cudaMemcpyHostToDevice, compute_.get()));
  queue_stages(slot);
  kernels_loaded_ = true;
  check(cudaEventRecord(slot.done.get(), compute_.get()));
}

void DeviceTrainer::queue_stages(Slot& slot) {
  const auto mark = [&](const Event& event) {
    check(cudaEventRecord(event.get(), compute_.get()));
  };
  mark(slot.start);
  std::size_t next_sum = 0;
  std::size_t number = 0;
  for (const auto* stages : {&model_.forward(), &model_.backward()}) {
    for (const TrainingStage& stage : *stages) {
      queue_stage(stage);
      mark(slot.stage_end[number]);
      queue_sums(slot, number++, next_sum);
    }
  }
  if (next_sum > 0) {
    check(cudaEventRecord(sums_done_.get(), exchange_stream_.get()));
    check(cudaStreamWaitEvent(compute_.get(), sums_done_.get(), cudaEventWaitDefault));
  }
  check(cudaMemcpyAsync(slot.loss.get(),
                        model_.buffers().loss,
                        2 * sizeof(float),
                        cudaMemcpyDeviceToHost,
                        compute_.get()));
  const NvtxRange range("optimizer");
  model_.update(operations_);
  mark(slot.end);
}

void DeviceTrainer::queue_stage(const TrainingStage& stage) {
  const NvtxRange range(stage.name.c_str());
  if (straggler_mark_ != nullptr) check(launch_mark(straggler_mark_, compute_.get()));
  stage.run(operations_);
  if (straggler_mark_ == nullptr) return;
  check(launch_draw_out(straggler_mark_, work_.straggler->factor, compute_.get()));
}

void DeviceTrainer::queue_sums(Slot& slot, std::size_t stage, std::size_t& next) {
  cudaStream_t stream = exchange_stream_.get();
  const TrainingBuffers& buffers = model_.buffers();
  for (; next < schedule_.posted_after.size() && schedule_.posted_after[next] == stage; ++next) {
    check(cudaEventRecord(ready_[next].get(), compute_.get()));
    check(cudaStreamWaitEvent(stream, ready_[next].get(), cudaEventWaitDefault));
    if (next == 0) {
      rank_.exchange->sum(buffers.loss, 2, ncclFloat32, stream);
    } else {
      const Bucket& bucket = schedule_.buckets[next - 1];
      rank_.exchange->sum(buffers.gradients + bucket.offset, bucket.size, ncclBfloat16, stream);
    }
    check(cudaEventRecord(slot.sum_end[next].get(), stream));
    // The library's kernels are loaded by their first launch, which may wait for a running sum.
    if (!kernels_loaded_) wait_for(slot.sum_end[next].get(), 0);
  }
}

FinishedStep DeviceTrainer::finish(int step) {
  Slot& slot = slot_of(step);
  wait_for(slot.done.get(), step);
  const auto* loss = static_cast<const float*>(slot.loss.get());
  FinishedStep finished{loss[0], {}};
  if (anchor_.event) finished.times = times_of(slot);
  if (!std::isfinite(finished.loss)) {
    throw ProbeFailure(
        "the loss became {} at step {}", std::isnan(finished.loss) ? "NaN" : "infinite", step);
  }
  // Some rank asked to stop; it may be another one that received the signal.
  if (loss[1] > 0.0F) throw Interrupted(interrupt_signal() != 0 ? interrupt_signal() : SIGINT);
  return finished;
}

void DeviceTrainer::require_others(int step) {
  const std::string doing = fmt::format("step {} of the training", step);
  if (rank_.exchange != nullptr) rank_.exchange->require_healthy(doing);
  if (stop_) throw ProbeFailure(doing + ": another rank of this process gave up");
}

void DeviceTrainer::wait_for(cudaEvent_t event, int step) {
  constexpr std::chrono::seconds step_limit{60};
  const auto deadline = std::chrono::steady_clock::now() + step_limit;
  while (!has_happened(event)) {
    require_others(step);
    if (std::chrono::steady_clock::now() > deadline) {
      throw ProbeFailure(
          "rank {} (GPU {}): step {} of the training did not end within {} s: {}",
          rank_.rank.index,
          rank_.ordinal,
          step,
          step_limit.count(),
          rank_.exchange != nullptr
              ? "a rank is stuck or gone and the all-reduce waits for it; see the other ranks' "
                "messages, and NCCL_DEBUG=INFO"
              : "the GPU hangs or another program keeps it busy; see nvidia-smi and dmesg for "
                "Xid");
    }
    // Far below a step, and leaves the core.
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

StepTimes DeviceTrainer::times_of(Slot& slot) {
  const auto at = [this](const Event& event) { return elapsed_s(anchor_.event, event); };
  StepTimes times;
  times.previous_end = previous_end_;
  times.start = at(slot.start);
  for (const Event& event : slot.stage_end) times.stage_end.push_back(at(event));
  for (const Event& event : slot.sum_end) times.sum_end.push_back(at(event));
  times.end = at(slot.end);
  previous_end_ = times.end;
  return times;
}

void DeviceTrainer::begin_clock() {
  check(cudaStreamSynchronize(compute_.get()));
  anchor_ = set_anchor(compute_.get());
  previous_end_ = 0.0;
}

ClockMap DeviceTrainer::end_clock() {
  const ClockAnchor last = set_anchor(compute_.get());
  clock_error_s_ = std::max(anchor_.error_s, last.error_s);
  return clock_between(anchor_.host_s, last.host_s, elapsed_s(anchor_.event, last.event));
}

std::uint64_t DeviceTrainer::weight_fingerprint() {
  // Of each bucket, as each is summed by itself, and all over it: in a ring of up to 256 ranks each
  // sums a piece. Below a millisecond to copy.
  constexpr std::size_t most_stretches = 256;
  constexpr std::size_t longest = 64;  // numbers of each
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const Bucket& bucket : schedule_.buckets) {
    const std::size_t length = std::min(longest, bucket.size);
    const std::size_t stretches = std::min(most_stretches, bucket.size / length);
    std::vector<float> sample(stretches * length);
    check(cudaMemcpy2DAsync(sample.data(),
                            length * sizeof(float),
                            model_.buffers().master + bucket.offset,
                            bucket.size / stretches * sizeof(float),
                            length * sizeof(float),
                            stretches,
                            cudaMemcpyDeviceToHost,
                            compute_.get()));
    check(cudaStreamSynchronize(compute_.get()));
    for (const std::byte byte : std::as_bytes(std::span(sample))) {
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
  }
  return hash;
}

void NcclExchange::sum(void* values, std::size_t count, ncclDataType_t type, cudaStream_t stream) {
  const Nccl& nccl = communicator_.nccl();
  nccl.check(nccl.all_reduce(values, values, count, type, ncclSum, communicator_.handle(), stream));
}

StepSchedule make_schedule(const DeviceTransformer& model, Bytes bucket, int ranks) {
  StepSchedule schedule;
  for (const TrainingStage& stage : model.forward()) schedule.stages.push_back(stage.name);
  const std::size_t forward = schedule.stages.size();
  for (const TrainingStage& stage : model.backward()) schedule.stages.push_back(stage.name);
  schedule.buckets =
      make_buckets(model.layout(), bucket, Bytes(static_cast<double>(sizeof(Bfloat16))));
  if (ranks < 2) return schedule;
  schedule.posted_after.push_back(forward - 1);
  std::size_t stage = 0;
  for (const Bucket& one : schedule.buckets) {
    while (model.backward()[stage].ready < one.end()) ++stage;
    schedule.posted_after.push_back(forward + stage);
  }
  return schedule;
}
}  // namespace scaleworth::gpu
