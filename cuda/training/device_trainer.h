// SPDX-License-Identifier: Apache-2.0
/// One rank's training on one GPU: steps queued ahead of the GPU, sums over ranks on a stream of
/// their own, events around every stage.
#pragma once

#include "cuda/kernels/training/bfloat16.h"
#include "cuda/libraries/cublas_lt.h"
#include "cuda/nccl/communicator.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "cuda/training/step_spans.h"
#include "cuda/training/training_gemms.h"
#include "cuda/training/transformer.h"
#include "probes/ranks.h"
#include "src/core/non_copyable.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace scaleworth::gpu {
/// One rank's end of the sums over ranks of a training step, by NCCL. Every rank queues the same
/// sums in the same order. `communicator` is the caller's, of the ranks of the training in their
/// order, and outlives it.
class NcclExchange {
 public:
  explicit NcclExchange(const Communicator& communicator) : communicator_(communicator) {}
  /// `values` [count] of `type` become their sums over ranks, in place.
  void sum(void* values, std::size_t count, ncclDataType_t type, cudaStream_t stream);
  /// Throws ProbeFailure naming the rank and `doing` when an operation failed after it was queued.
  void require_healthy(const std::string& doing) const { communicator_.require_healthy(doing); }

 private:
  const Communicator& communicator_;
};

/// A rank of the training whose GPU is this process's. `exchange` sums over all ranks of the
/// training; null for one rank.
struct TrainingRank {
  int ordinal = 0;
  Rank rank;
  NcclExchange* exchange = nullptr;
};

struct FinishedStep {
  double loss = 0.0;  // mean over the global batch
  StepTimes times;
};

/// Called by one thread at a time, with the GPU current. After an exception the GPU's memory stays
/// taken, because a sum that lacks a rank may still use it.
class DeviceTrainer : NonCopyable {
 public:
  /// Takes all memory and queues the starting weights. Throws OutOfMemory, gpu::Error,
  /// LibraryError, UserError for a shape that GPUs do not take. `stop`, which outlives it: another
  /// rank of this process gave up.
  DeviceTrainer(const TrainingRank& rank,
                std::shared_ptr<const CublasLt> library,
                const std::atomic<bool>& stop,
                const TrainingWork& work);
  ~DeviceTrainer();

  /// Runs steps [first, first + count) of the training, at most two queued at a time. Throws
  /// ProbeFailure naming rank, GPU and step when one does not end in time or another rank gave up,
  /// or the loss is no longer finite; Interrupted when some rank asked for it.
  std::vector<FinishedStep> run(int first, int count);

  /// The GPU's times count from the first anchor. Nothing may be queued.
  void begin_clock();
  /// The map for all steps since begin_clock, and its error.
  ClockMap end_clock();
  double clock_error_s() const { return clock_error_s_; }

  /// Equal on ranks that hold equal weights, by samples of each bucket (FNV-1a).
  std::uint64_t weight_fingerprint();
  const StepSchedule& schedule() const { return schedule_; }

 private:
  /// A step that is queued has its own input and events.
  struct Slot {
    PinnedBuffer input;
    PinnedBuffer loss;
    Event start;
    std::vector<Event> stage_end;
    std::vector<Event> sum_end;
    Event end;
    Event done;
  };

  static Slot make_slot(const DeviceHealth& health,
                        const TrainingBuffers& buffers,
                        const StepSchedule& schedule);
  Slot& slot_of(int step) { return slots_[static_cast<std::size_t>(step) % slots_.size()]; }
  void queue(int step);
  void queue_stages(Slot& slot);
  void queue_stage(const TrainingStage& stage);
  void queue_sums(Slot& slot, std::size_t stage, std::size_t& next);
  FinishedStep finish(int step);
  void wait_for(cudaEvent_t event, int step);
  void require_others(int step);
  StepTimes times_of(Slot& slot);

  TrainingRank rank_;
  const std::atomic<bool>& stop_;
  TrainingWork work_;
  std::int64_t sequences_;  // of this rank
  DeviceHealth health_;
  Stream compute_;
  Stream exchange_stream_;
  DeviceArena arena_;
  DeviceTransformer model_;
  StepSchedule schedule_;
  GemmPlans plans_;
  CudaOperations operations_;
  std::uint64_t* straggler_mark_ = nullptr;  // null unless this rank is to be slow
  std::vector<Event> ready_;                 // by sum: its values are there
  Event sums_done_;
  std::array<Slot, 2> slots_;
  ClockAnchor anchor_;
  double clock_error_s_ = 0.0;
  double previous_end_ = 0.0;
  bool failed_ = false;
  bool kernels_loaded_ = false;  // those of cuBLASLt, by a step that has launched each of them
};
}  // namespace scaleworth::gpu
