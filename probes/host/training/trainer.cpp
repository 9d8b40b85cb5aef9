// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "probes/training/shape.h"
#include "src/core/error.h"

#include <cstring>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {
double slowdown_of(const TrainingWork& work, Rank rank) {
  return work.straggler && work.straggler->rank == rank ? work.straggler->factor : 1.0;
}
}  // namespace

Trainer::Trainer(const Blas& blas, const TrainingWork& work, Rank rank, Exchange* exchange)
    : work_(work),
      rank_(rank),
      exchange_(exchange),
      sequences_(work.global_batch / work.ranks),
      model_(blas, work.shape, sequences_, work.global_batch * work.shape.sequence),
      buckets_(make_buckets(model_.layout(), work.bucket)),
      adam_(model_.layout().total),
      slowdown_(slowdown_of(work, rank)) {
  if (exchange_ != nullptr) reduced_.resize(model_.layout().total);
  initialise(model_.layout(), work_.seed, model_.parameters());
  intern_names();
  const std::size_t stages = model_.forward().size() + model_.backward().size();
  // A step: itself, data, optimizer; each stage and the progress after it; posts and waits.
  const std::size_t spans = 3 + 2 * stages + 2 * collectives(buckets_);
  recorder_.reserve(spans * static_cast<std::size_t>(work_.steps));
}

void Trainer::intern_names() {
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

void Trainer::record(Activity activity, std::int32_t name, std::int32_t sequence, TimePoint start) {
  recorder_.add(activity, name, sequence, start, TrainingClock::now());
}

StepResult Trainer::step(int number, std::int32_t recorded, bool stop) {
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

void Trainer::make_data(int number) {
  const TimePoint start = TrainingClock::now();
  const std::int64_t first =
      static_cast<std::int64_t>(number) * work_.global_batch + rank_.index * sequences_;
  fill_batch(work_.shape, work_.seed, static_cast<std::uint64_t>(first), model_.tokens());
  record(Activity::host, data_name_, -1, start);
}

void Trainer::run_stage(const Stage& stage, std::int32_t name) {
  const TimePoint start = TrainingClock::now();
  stage.run();
  if (slowdown_ > 1.0) {
    const auto own = std::chrono::duration<double>(TrainingClock::now() - start);
    const auto until = start + std::chrono::duration_cast<TrainingClock::duration>(own * slowdown_);
    while (TrainingClock::now() < until) {
    }
  }
  record(Activity::compute, name, -1, start);
}

void Trainer::post_loss(bool stop) {
  const TimePoint start = TrainingClock::now();
  exchange_->restart();
  own_loss_ = {static_cast<float>(model_.loss()), stop ? 1.0F : 0.0F};
  exchange_->post(own_loss_.data(), reduced_loss_.data(), own_loss_.size());
  record(Activity::post, first_post_name_, 0, start);
}

void Trainer::post_ready(std::size_t ready) {
  for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].end() <= ready; ++next_bucket_) {
    const TimePoint start = TrainingClock::now();
    const Bucket& bucket = buckets_[next_bucket_];
    const auto sequence = static_cast<std::int32_t>(exchange_->posted());
    exchange_->post(
        model_.gradients().data() + bucket.offset, reduced_.data() + bucket.offset, bucket.size);
    record(Activity::post, first_post_name_ + sequence, sequence, start);
  }
}

void Trainer::progress() {
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

void Trainer::wait_for_all() {
  for (std::size_t i = 0; i < exchange_->posted(); ++i) {
    if (exchange_->complete(i)) continue;
    const TimePoint start = TrainingClock::now();
    exchange_->wait(i);
    const auto sequence = static_cast<std::int32_t>(i);
    record(Activity::collective_wait, first_wait_name_ + sequence, sequence, start);
  }
}

void Trainer::optimize() {
  const TimePoint start = TrainingClock::now();
  adam_.update(exchange_ != nullptr ? reduced_ : model_.gradients(), model_.parameters());
  record(Activity::optimizer, optimizer_name_, -1, start);
}

std::uint64_t Trainer::parameter_fingerprint() {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const float parameter : model_.parameters()) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &parameter, sizeof(bits));
    hash = (hash ^ bits) * 0x100000001B3U;
  }
  return hash;
}

Exchange::Exchange(const MpiModule& mpi, MpiGroup group, std::size_t capacity)
    : mpi_(mpi), group_(group) {
  requests_.reserve(capacity);
  completed_.reserve(capacity);
}

void Exchange::restart() {
  requests_.clear();
  first_pending_ = 0;
}

void Exchange::post(const float* send, float* receive, std::size_t count) {
  MpiRequest request = nullptr;
  check(mpi_, mpi_.start_all_reduce_f32(group_, send, receive, count, &request));
  requests_.push_back(request);
}

void Exchange::test(std::size_t sequence) {
  MpiRequest& request = requests_[sequence];
  if (request == nullptr) return;
  int done = 0;
  check(mpi_, mpi_.test(&request, &done));
  if (done != 0) request = nullptr;
  while (first_pending_ < requests_.size() && requests_[first_pending_] == nullptr) {
    ++first_pending_;
  }
}

const std::vector<std::size_t>& Exchange::progress() {
  completed_.clear();
  for (std::size_t i = first_pending_; i < requests_.size(); ++i) {
    if (complete(i)) continue;
    test(i);
    if (complete(i)) completed_.push_back(i);
  }
  return completed_;
}

void Exchange::wait(std::size_t sequence) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!complete(sequence)) {
    test(sequence);
    if (std::chrono::steady_clock::now() < deadline) continue;
    throw ProbeFailure(fmt::format(
        "an all-reduce of the training step did not complete within {} s: a rank is stuck or gone",
        timeout.count()));
  }
}
}  // namespace scaleworth::probes::host
