// SPDX-License-Identifier: Apache-2.0
/// One rank's training step: data, forward, backward with overlapped all-reduce, optimizer; every
/// part recorded as a span.
#pragma once

#include "probes/host/blas/blas.h"
#include "probes/host/training/exchange.h"
#include "probes/host/training/model.h"
#include "probes/host/training/optimizer.h"
#include "probes/host/training/span_recorder.h"
#include "probes/ranks.h"

#include <array>
#include <cstdint>
#include <vector>

namespace scaleworth::probes::host {

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

}  // namespace scaleworth::probes::host
