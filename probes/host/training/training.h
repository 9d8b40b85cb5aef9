// SPDX-License-Identifier: Apache-2.0
/// The reference step on CPU ranks: one rank, all ranks of a group, and the spans that they record.
#pragma once

#include "probes/host/blas.h"
#include "probes/host/ranks/mpi_module.h"
#include "probes/host/training/model.h"
#include "probes/ranks.h"
#include "src/core/span.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::probes::host {
// The all-reduces of one step: handed over as gradients become ready, driven between kernels,
// awaited at the end.

/// Collectives are numbered in the order of posting, from 0 in each step. Every call throws
/// ProbeFailure when MPI reports an error.
class Exchange {
 public:
  /// Room for `capacity` collectives a step, so that posting does not allocate.
  Exchange(const MpiModule& mpi, MpiGroup group, std::size_t capacity);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// A new step: numbering restarts. All collectives must be complete.
  void restart();
  /// Starts the sum over ranks of `count` elements; buffers stay untouched until it is complete.
  void post(const float* send, float* receive, std::size_t count);
  std::size_t posted() const { return requests_.size(); }
  bool pending() const { return first_pending_ < requests_.size(); }
  /// Gives the library a chance to move data: tests every collective that is not complete. Returns
  /// those that it found complete; valid until the next call.
  const std::vector<std::size_t>& progress();
  bool complete(std::size_t sequence) const { return requests_[sequence] == nullptr; }
  /// Blocks until the collective is complete. Throws ProbeFailure after `timeout`: another rank is
  /// stuck or gone.
  void wait(std::size_t sequence);

  static constexpr std::chrono::seconds timeout{60};

 private:
  void test(std::size_t sequence);

  const MpiModule& mpi_;
  MpiGroup group_;
  std::vector<MpiRequest> requests_;    // null once complete
  std::vector<std::size_t> completed_;  // by the latest progress
  std::size_t first_pending_ = 0;
};

// Spans of one rank, kept without allocating while they are recorded.

using TrainingClock = std::chrono::steady_clock;

/// A span as ranks exchange it: plain memory, the name as a number of the recorder's table.
struct RecordedSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t step = 0;
  std::int32_t sequence = -1;
  std::int32_t name = 0;
  Activity activity = Activity::compute;
};

class SpanRecorder {
 public:
  /// Before recording: a number for `name`. Ranks that name the same things in the same order have
  /// the same table.
  std::int32_t intern(std::string name);
  /// Makes room for `spans`; what goes beyond is dropped and counted.
  void reserve(std::size_t spans) { spans_.reserve(spans); }
  /// Spans belong to `step` from now on; those of a negative one (warm-up) are not kept.
  void begin_step(std::int32_t step) { step_ = step; }

  void add(Activity activity,
           std::int32_t name,
           std::int32_t sequence,
           TrainingClock::time_point start,
           TrainingClock::time_point end) noexcept;

  const std::vector<RecordedSpan>& spans() const { return spans_; }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t dropped() const { return dropped_; }

 private:
  std::vector<RecordedSpan> spans_;
  std::vector<std::string> names_;
  std::int32_t step_ = -1;
  std::size_t dropped_ = 0;
};

/// Appends a rank's spans, shifted by `offset`, to `timeline`.
void append_spans(const std::vector<RecordedSpan>& spans,
                  const std::vector<std::string>& names,
                  Rank rank,
                  std::chrono::nanoseconds offset,
                  Timeline& timeline);

// One rank's training step: data, forward, backward with overlapped all-reduce, optimizer; every
// part recorded as a span.

struct StepResult {
  double loss = 0.0;  // mean over the global batch, equal on all ranks
  bool stop = false;  // some rank asked to stop; all ranks hear it in the same step
};

class Trainer {
 public:
  /// All memory of the training is allocated here (std::bad_alloc if it cannot be). `exchange`
  /// null: one rank alone, no communication.
  Trainer(const Blas& blas, const TrainingWork& work, Rank rank, Exchange* exchange);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// One step on the samples of global step `number` (warm-up steps count). Its spans are recorded
  /// as step `recorded`, or not at all when that is negative. `stop` asks all ranks to stop.
  StepResult step(int number, std::int32_t recorded, bool stop);

  Transformer& model() { return model_; }
  const std::vector<Bucket>& buckets() const { return buckets_; }
  const SpanRecorder& recorder() const { return recorder_; }
  /// Equal on ranks whose parameters are equal bit by bit (FNV-1a).
  std::uint64_t parameter_fingerprint();

  /// Collectives of one step: the loss and each bucket.
  static std::size_t collectives(const std::vector<Bucket>& buckets) { return 1 + buckets.size(); }

 private:
  using TimePoint = TrainingClock::time_point;

  void intern_names();
  void make_data(int number);
  void run_stage(const Stage& stage, std::int32_t name);
  void post_loss(bool stop);
  void post_ready(std::size_t ready);
  void progress();
  void wait_for_all();
  void optimize();
  void record(Activity activity, std::int32_t name, std::int32_t sequence, TimePoint start);

  TrainingWork work_;
  Rank rank_;
  Exchange* exchange_;
  std::int64_t sequences_;  // of this rank
  Transformer model_;
  std::vector<Bucket> buckets_;
  std::vector<float> reduced_;           // sums over ranks of the gradients, empty for one rank
  std::array<float, 2> own_loss_{};      // loss, stop
  std::array<float, 2> reduced_loss_{};  // sums over ranks
  Adam adam_;
  double slowdown_ = 1.0;
  std::size_t next_bucket_ = 0;
  SpanRecorder recorder_;
  std::int32_t first_stage_name_ = 0, first_post_name_ = 0, first_wait_name_ = 0;
  std::int32_t step_name_ = 0, data_name_ = 0, progress_name_ = 0, optimizer_name_ = 0;
};

/// The training of one rank without MPI: `work.ranks` must be 1.
/// Throws UserError for impossible work, ProbeFailure when the memory cannot be had or the loss is
/// no longer finite, Interrupted between steps.
TrainingMeasured train_alone(const Blas& blas, const TrainingWork& work);

/// Called by each of the `work.ranks` ranks of `group`, one core each; all other ranks of the job
/// should sleep. Steps are measured after a common barrier. The result is complete on rank 0;
/// elsewhere the timeline is empty.
/// What train_alone throws, all ranks throw alike. A rank whose MPI reports an error throws
/// ProbeFailure alone; the others do when its all-reduce has not come after Exchange::timeout.
TrainingMeasured train_on_ranks(const MpiModule& mpi,
                                MpiGroup group,
                                const Blas& blas,
                                const TrainingWork& work);

// The offset between two ranks' clocks, bounded by messages that cannot arrive before they left.

/// What to add to a rank's clock to read rank 0's, known to +- `error`.
struct ClockOffset {
  std::chrono::nanoseconds offset{};
  std::chrono::nanoseconds error{};
};

using ClockReading = std::function<std::chrono::nanoseconds()>;

/// Each rank's offset to rank 0, from 200 round trips one rank after another. With theta = clock of
/// rank r minus clock of rank 0: a message that left rank 0 at s and reached r at a bounds
/// theta <= a - s; one that left r at s and reached 0 at a bounds theta >= s - a. The offset is
/// minus the middle of the tightest bounds, the error half their distance. Assumes that the clocks
/// do not drift apart meanwhile. Collective over the group. Zero on rank 0.
/// Throws ProbeFailure when the bounds contradict each other (a clock was set).
ClockOffset measure_clock_offset(const MpiModule& mpi, MpiGroup group, const ClockReading& now);

/// How this group's clocks were made one.
struct CommonClock {
  ClockOffset own;
  std::string method;
};

/// One host has one monotonic clock: no offset, no error. On several, offsets are measured.
CommonClock measure_common_clock(const MpiModule& mpi, MpiGroup group);
/// Before and after a measurement: the mean offset; the error covers both and the drift between.
CommonClock combine(const CommonClock& before, const CommonClock& after);

/// All ranks' spans on rank 0, an empty timeline elsewhere. Ranks must have interned the same
/// names.
Timeline gather_timeline(const MpiModule& mpi,
                         MpiGroup group,
                         const SpanRecorder& recorder,
                         const CommonClock& clock);

/// `warnings` gains a line on rank 0 if ranks hold different `fingerprint`s or dropped spans.
void compare_ranks(const MpiModule& mpi,
                   MpiGroup group,
                   std::uint64_t fingerprint,
                   std::size_t dropped,
                   std::vector<std::string>& warnings);
}  // namespace scaleworth::probes::host
