// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <csignal>
#include <cstring>

namespace scaleworth::probes::host {
namespace {
/// The all-reduces of one step: handed over as gradients become ready, driven between kernels,
/// awaited at the end; numbered in the order of posting, from 0 in each step. Every call throws
/// ProbeFailure when MPI reports an error.
class Exchange {
 public:
  /// Room for `capacity` collectives a step, so that posting does not allocate.
  Exchange(const MpiModule& mpi, MpiGroup group, std::size_t capacity) : mpi_(mpi), group_(group) {
    requests_.reserve(capacity);
    completed_.reserve(capacity);
  }

  /// A new step: numbering restarts. All collectives must be complete.
  void restart() {
    requests_.clear();
    first_pending_ = 0;
  }
  /// Starts the sum over ranks of `count` elements; buffers stay untouched until it is complete.
  void post(const float* send, float* receive, std::size_t count) {
    MpiRequest request = nullptr;
    check(mpi_, mpi_.start_all_reduce_f32(group_, send, receive, count, &request));
    requests_.push_back(request);
  }
  std::size_t posted() const { return requests_.size(); }
  bool pending() const { return first_pending_ < requests_.size(); }
  bool complete(std::size_t sequence) const { return requests_[sequence] == nullptr; }

  /// Gives the library a chance to move data: tests every collective that is not complete. Returns
  /// those that it found complete; valid until the next call.
  const std::vector<std::size_t>& progress() {
    completed_.clear();
    for (std::size_t i = first_pending_; i < requests_.size(); ++i) {
      if (complete(i)) continue;
      test(i);
      if (complete(i)) completed_.push_back(i);
    }
    return completed_;
  }

  /// Blocks until the collective is complete. Throws ProbeFailure after a minute: another rank is
  /// stuck or gone.
  void wait(std::size_t sequence) {
    constexpr std::chrono::seconds timeout{60};
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!complete(sequence)) {
      test(sequence);
      if (std::chrono::steady_clock::now() < deadline) continue;
      throw ProbeFailure(
          "an all-reduce of the training step did not complete within {} s: a rank is "
          "stuck or gone",
          timeout.count());
    }
  }

 private:
  void test(std::size_t sequence) {
    MpiRequest& request = requests_[sequence];
    if (request == nullptr) return;
    int done = 0;
    check(mpi_, mpi_.test(&request, &done));
    if (done != 0) request = nullptr;
    while (pending() && complete(first_pending_)) ++first_pending_;
  }

  const MpiModule& mpi_;
  MpiGroup group_;
  std::vector<MpiRequest> requests_;    // null once complete
  std::vector<std::size_t> completed_;  // by the latest progress
  std::size_t first_pending_ = 0;
};

struct StepResult {
  double loss = 0.0;  // mean over the global batch, equal on all ranks
  bool stop = false;  // some rank asked to stop; all ranks hear it in the same step
};

/// One rank's training step: data, forward, backward with overlapped all-reduce, optimizer; every
/// part recorded as a span.
class Trainer {
 public:
  /// All memory of the training is allocated here (std::bad_alloc if it cannot be). `mpi` null: one
  /// rank alone, no communication.
  Trainer(const Blas& blas,
          const TrainingWork& work,
          Rank rank,
          const MpiModule* mpi = nullptr,
          MpiGroup group = nullptr)
      : work_(work),
        rank_(rank),
        sequences_(work.global_batch / work.ranks),
        model_(blas, work.shape, sequences_, work.global_batch * work.shape.sequence),
        buckets_(make_buckets(model_.layout(), work.bucket)),
        adam_(model_.layout().total),
        slowdown_(work.straggler && work.straggler->rank == rank ? work.straggler->factor : 1.0) {
    const std::size_t collectives = 1 + buckets_.size();  // of a step: the loss and each bucket
    if (mpi != nullptr) {
      exchange_ = std::make_unique<Exchange>(*mpi, group, collectives);
      reduced_.resize(model_.layout().total);
    }
    initialise(model_.layout(), work_.seed, model_.parameters());
    intern_names();
    const std::size_t stages = model_.forward().size() + model_.backward().size();
    // A step: itself, data, optimizer; each stage and the progress after it; posts and waits.
    const std::size_t spans = 3 + 2 * stages + 2 * collectives;
    recorder_.reserve(spans * static_cast<std::size_t>(work_.steps));
  }

  /// One step on the samples of global step `number` (warm-up steps count). Its spans are recorded
  /// as step `recorded`, or not at all when that is negative. `stop` asks all ranks to stop.
  StepResult step(int number, std::int32_t recorded, bool stop) {
    recorder_.begin_step(recorded);
    const TimePoint start = TrainingClock::now();
    make_data(number);
    std::int32_t name = first_stage_name_;
    for (const Stage& stage : model_.forward()) run_stage(stage, name++);
    if (exchange_ != nullptr) post_loss(stop);
    next_bucket_ = 0;
    for (const Stage& stage : model_.backward()) {
      run_stage(stage, name++);
      if (exchange_ == nullptr) continue;
      post_ready(stage.ready);
      progress();
    }
    if (exchange_ != nullptr) wait_for_all();
    optimize();
    record(Activity::step, step_name_, -1, start);
    if (exchange_ == nullptr) return {model_.loss(), stop};
    return {static_cast<double>(reduced_loss_[0]), reduced_loss_[1] > 0.0F};
  }

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const SpanRecorder& recorder() const { return recorder_; }
  /// An all-reduce is in flight: it still writes into this object.
  bool communicating() const { return exchange_ != nullptr && exchange_->pending(); }

  /// Equal on ranks whose parameters are equal bit by bit (FNV-1a).
  std::uint64_t parameter_fingerprint() {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const float parameter : model_.parameters()) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &parameter, sizeof(bits));
      hash = (hash ^ bits) * 0x100000001B3U;
    }
    return hash;
  }

 private:
  using TimePoint = TrainingClock::time_point;

  void intern_names() {
    step_name_ = recorder_.intern("step");
    data_name_ = recorder_.intern("data");
    progress_name_ = recorder_.intern("progress");
    optimizer_name_ = recorder_.intern("optimizer");
    first_stage_name_ = static_cast<std::int32_t>(recorder_.names().size());
    for (const auto* stages : {&model_.forward(), &model_.backward()}) {
      for (const Stage& stage : *stages) recorder_.intern(stage.name);
    }
    const auto intern_collectives = [this](const std::string& action) {
      const std::int32_t first = recorder_.intern(action + " loss");
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        recorder_.intern(action + " bucket " + std::to_string(i));
      }
      return first;
    };
    first_post_name_ = intern_collectives("post");
    first_wait_name_ = intern_collectives("all-reduce");
  }

  void record(Activity activity, std::int32_t name, std::int32_t sequence, TimePoint start) {
    recorder_.add(activity, name, sequence, start, TrainingClock::now());
  }

  void make_data(int number) {
    const TimePoint start = TrainingClock::now();
    const std::int64_t first =
        static_cast<std::int64_t>(number) * work_.global_batch + rank_.index * sequences_;
    fill_batch(work_.shape, work_.seed, static_cast<std::uint64_t>(first), model_.tokens());
    record(Activity::host, data_name_, -1, start);
  }

  void run_stage(const Stage& stage, std::int32_t name) {
    const TimePoint start = TrainingClock::now();
    stage.run();
    if (slowdown_ > 1.0) {
      const auto own = std::chrono::duration<double>(TrainingClock::now() - start);
      const auto until =
          start + std::chrono::duration_cast<TrainingClock::duration>(own * slowdown_);
      while (TrainingClock::now() < until) {
      }
    }
    record(Activity::compute, name, -1, start);
  }

  void post_loss(bool stop) {
    const TimePoint start = TrainingClock::now();
    exchange_->restart();
    own_loss_ = {static_cast<float>(model_.loss()), stop ? 1.0F : 0.0F};
    exchange_->post(own_loss_.data(), reduced_loss_.data(), own_loss_.size());
    record(Activity::post, first_post_name_, 0, start);
  }

  void post_ready(std::size_t ready) {
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].end() <= ready;
         ++next_bucket_) {
      const TimePoint start = TrainingClock::now();
      const Bucket& bucket = buckets_[next_bucket_];
      const auto sequence = static_cast<std::int32_t>(exchange_->posted());
      exchange_->post(
          model_.gradients().data() + bucket.offset, reduced_.data() + bucket.offset, bucket.size);
      record(Activity::post, first_post_name_ + sequence, sequence, start);
    }
  }

  void progress() {
    if (!exchange_->pending()) return;
    const TimePoint start = TrainingClock::now();
    const auto& completed = exchange_->progress();
    const TimePoint end = TrainingClock::now();
    recorder_.add(Activity::progress, progress_name_, -1, start, end);
    for (const std::size_t i : completed) {  // marks of completion, see Timeline
      const auto sequence = static_cast<std::int32_t>(i);
      recorder_.add(Activity::collective_wait, first_wait_name_ + sequence, sequence, end, end);
    }
  }

  void wait_for_all() {
    for (std::size_t i = 0; i < exchange_->posted(); ++i) {
      if (exchange_->complete(i)) continue;
      const TimePoint start = TrainingClock::now();
      exchange_->wait(i);
      const auto sequence = static_cast<std::int32_t>(i);
      record(Activity::collective_wait, first_wait_name_ + sequence, sequence, start);
    }
  }

  void optimize() {
    const TimePoint start = TrainingClock::now();
    adam_.update(exchange_ != nullptr ? reduced_ : model_.gradients(), model_.parameters());
    record(Activity::optimizer, optimizer_name_, -1, start);
  }

  TrainingWork work_;
  Rank rank_;
  std::int64_t sequences_;  // of this rank
  Transformer model_;
  std::vector<Bucket> buckets_;
  std::unique_ptr<Exchange> exchange_;   // null for one rank
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

// Warm-up and measured steps; `before_measured` runs between them. Loss and stop request are equal
// on all ranks, and so is what is thrown.
std::vector<double> run_steps(Trainer& trainer,
                              const TrainingWork& work,
                              const std::function<void()>& before_measured) {
  std::vector<double> losses;
  for (int number = 0; number < work.warmup_steps + work.steps; ++number) {
    if (number == work.warmup_steps) before_measured();
    const StepResult result =
        trainer.step(number, number - work.warmup_steps, interrupt_signal() != 0);
    losses.push_back(result.loss);
    if (!std::isfinite(result.loss)) {
      throw AgreedFailure(
          "the loss became {} at step {}", std::isnan(result.loss) ? "NaN" : "infinite", number);
    }
    // Another rank may have received the signal.
    if (result.stop) throw Interrupted(interrupt_signal() != 0 ? interrupt_signal() : SIGINT);
  }
  return losses;
}

Seconds fastest_step(const Timeline& timeline) {
  return Seconds(quantile(slowest_steps(timeline), 0.0).value_or(0.0));
}

void add_counts(const TrainingWork& work, const Trainer& trainer, TrainingMeasured& measured) {
  measured.parameters = parameter_count(work.shape);
  measured.model_flops = model_flops(work.shape, work.global_batch);
  measured.tokens = work.global_batch * work.shape.sequence;
  measured.gradient = Bytes(static_cast<double>(measured.parameters) * sizeof(float));
  for (const Bucket& bucket : trainer.buckets()) {
    measured.buckets.emplace_back(static_cast<double>(bucket.size * sizeof(float)));
  }
}

TrainingMeasured measure(const MpiModule& mpi,
                         MpiGroup group,
                         Trainer& trainer,
                         const TrainingWork& work) {
  TrainingMeasured measured;
  CommonClock before;
  measured.loss = run_steps(trainer, work, [&] {
    before = measure_common_clock(mpi, group);
    check(mpi, mpi.barrier(group));
  });
  const CommonClock clock = combine(before, measure_common_clock(mpi, group));
  measured.timeline = gather_timeline(mpi, group, trainer.recorder(), clock);
  double fastest = fastest_step(measured.timeline).value();
  check(mpi, mpi.broadcast_bytes(group, &fastest, sizeof(fastest), 0));
  measured.fastest_step = Seconds(fastest);
  compare_ranks(
      mpi, group, trainer.parameter_fingerprint(), trainer.recorder().dropped(), measured.warnings);
  add_counts(work, trainer, measured);
  return measured;
}
}  // namespace

TrainingMeasured train_alone(const Blas& blas, const TrainingWork& work) {
  check_training_work(work);
  if (work.ranks != 1) throw UserError("training without MPI: use 1 rank");
  blas.set_threads(1);
  TrainingMeasured measured;
  try {
    Trainer trainer(blas, work, Rank{0});
    measured.loss = run_steps(trainer, work, [] {});
    measured.timeline.ranks = 1;
    measured.timeline.clock_method = "one monotonic clock of one host";
    append_spans(trainer.recorder().spans(),
                 trainer.recorder().names(),
                 Rank{0},
                 std::chrono::nanoseconds::zero(),
                 measured.timeline);
    add_counts(work, trainer, measured);
  } catch (const std::bad_alloc&) {
    throw ProbeFailure("out of memory for parameters and activations of the training step");
  }
  measured.fastest_step = fastest_step(measured.timeline);
  return measured;
}

TrainingMeasured train_on_ranks(const MpiModule& mpi,
                                MpiGroup group,
                                const Blas& blas,
                                const TrainingWork& work) {
  check_training_work(work);
  if (work.ranks != mpi.size(group)) {
    throw UserError(
        "training on {} ranks: the group has {}; use as many", work.ranks, mpi.size(group));
  }
  blas.set_threads(1);
  std::unique_ptr<Trainer> trainer;
  const Rank rank{mpi.rank(group)};
  agree(mpi, group, trouble_of(rank.index, [&] {
          trainer =
              std::make_unique<Trainer>(blas, work, rank, work.ranks > 1 ? &mpi : nullptr, group);
        }));
  try {
    return measure(mpi, group, *trainer, work);
  } catch (...) {
    if (trainer->communicating()) static_cast<void>(trainer.release());
    throw;
  }
}
}  // namespace scaleworth::probes::host
