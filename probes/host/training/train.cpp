// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/train.h"

#include "probes/host/training/gather.h"
#include "probes/host/training/trainer.h"
#include "probes/host/training/verdict.h"
#include "probes/training/shape_counts.h"
#include "probes/training/step_series.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <time.h>

namespace scaleworth::probes::host {
namespace {

const std::string no_memory = "out of memory for parameters and activations of the training step";

// Warm-up and measured steps; `before_measured` runs between them.
Verdict run_steps(Trainer& trainer,
                  const TrainingWork& work,
                  const std::function<void()>& before_measured,
                  std::vector<double>& losses) {
  for (int number = 0; number < work.warmup_steps + work.steps; ++number) {
    if (number == work.warmup_steps) before_measured();
    const StepResult result =
        trainer.step(number, number - work.warmup_steps, interrupt_signal() != 0);
    losses.push_back(result.loss);
    if (!std::isfinite(result.loss)) {
      return failed(fmt::format(
          "the loss became {} at step {}", std::isnan(result.loss) ? "NaN" : "infinite", number));
    }
    if (result.stop) return interrupted();
  }
  return {};
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

std::unique_ptr<Trainer> make_trainer(const Blas& blas,
                                      const TrainingWork& work,
                                      Rank rank,
                                      Exchange* exchange) {
  try {
    return std::make_unique<Trainer>(blas, work, rank, exchange);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool all_well(const MpiModule& mpi, MpiGroup group, bool well) {
  const double own = well ? 0.0 : 1.0;
  double worst = 1.0;
  check_mpi(mpi, mpi.all_reduce_max_f64(group, &own, &worst, 1));
  return worst == 0.0;
}

// The part of the ranks that train; `group` holds exactly these.
Verdict train_active(const MpiModule& mpi,
                     MpiGroup group,
                     const Blas& blas,
                     const TrainingWork& work,
                     TrainingMeasured& measured) {
  const Rank rank{mpi.rank(group)};
  std::unique_ptr<Exchange> exchange;
  if (work.ranks > 1) {
    const auto capacity =
        Trainer::collectives(make_buckets(ParameterLayout(work.shape), work.bucket));
    exchange = std::make_unique<Exchange>(mpi, group, capacity);
  }
  const std::unique_ptr<Trainer> trainer = make_trainer(blas, work, rank, exchange.get());
  if (!all_well(mpi, group, trainer != nullptr)) return failed(no_memory);
  CommonClock before;
  const auto synchronise = [&] {
    before = measure_common_clock(mpi, group);
    check_mpi(mpi, mpi.barrier(group));
  };
  Verdict verdict = run_steps(*trainer, work, synchronise, measured.loss);
  if (verdict.kind != Verdict::Kind::done) return verdict;
  const CommonClock clock = combine(before, measure_common_clock(mpi, group));
  measured.timeline = gather_timeline(mpi, group, trainer->recorder(), clock);
  double fastest = fastest_step(measured.timeline).value();
  check_mpi(mpi, mpi.broadcast_bytes(group, &fastest, sizeof(fastest), 0));
  measured.fastest_step = Seconds(fastest);
  compare_ranks(mpi,
                group,
                trainer->parameter_fingerprint(),
                trainer->recorder().dropped(),
                measured.warnings);
  add_counts(work, *trainer, measured);
  return verdict;
}

// Ranks that do not train must not take a core from those that do.
void sleep_until_all_arrive(const MpiModule& mpi, MpiGroup group) {
  MpiRequest request = nullptr;
  check_mpi(mpi, mpi.start_barrier(group, &request));
  int done = 0;
  while (done == 0) {
    check_mpi(mpi, mpi.test(&request, &done));
    const timespec pause{0, 1'000'000};
    if (done == 0) nanosleep(&pause, nullptr);
  }
}

Verdict train_part(const MpiModule& mpi,
                   MpiGroup group,
                   const Blas& blas,
                   const TrainingWork& work,
                   TrainingMeasured& measured) {
  Verdict verdict;
  const MpiGroup active = mpi.prefix(group, work.ranks);
  if (active != nullptr) {
    verdict = train_active(mpi, active, blas, work, measured);
    mpi.release(active);
  }
  sleep_until_all_arrive(mpi, group);
  check_mpi(mpi, mpi.broadcast_bytes(group, &verdict, sizeof(verdict), 0));
  return verdict;
}

}  // namespace

TrainingMeasured train_alone(const Blas& blas, const TrainingWork& work) {
  check_training_work(work);
  if (work.ranks != 1) throw UserError("training without MPI: use 1 rank");
  blas.set_threads(1);
  const std::unique_ptr<Trainer> trainer = make_trainer(blas, work, Rank{0}, nullptr);
  if (trainer == nullptr) throw ProbeFailure(no_memory);
  TrainingMeasured measured;
  raise(run_steps(
      *trainer, work, [] {}, measured.loss));
  measured.timeline.ranks = 1;
  measured.timeline.clock_method = "one monotonic clock of one host";
  append_spans(trainer->recorder().spans(),
               trainer->recorder().names(),
               Rank{0},
               std::chrono::nanoseconds::zero(),
               measured.timeline);
  measured.fastest_step = fastest_step(measured.timeline);
  add_counts(work, *trainer, measured);
  return measured;
}

TrainingMeasured train_on_ranks(const MpiModule& mpi,
                                MpiGroup group,
                                const Blas& blas,
                                const TrainingWork& work) {
  check_training_work(work);
  if (work.ranks > mpi.size(group)) {
    throw UserError(fmt::format(
        "training: {} ranks asked for, {} started: start more", work.ranks, mpi.size(group)));
  }
  blas.set_threads(1);
  TrainingMeasured measured;
  Verdict verdict;
  try {
    verdict = train_part(mpi, group, blas, work, measured);
  } catch (const std::exception& error) {
    // The other ranks wait for this one and cannot be told: all of them have to end.
    std::fprintf(
        stderr, "scaleworth: rank %d: %s; ending the job\n", mpi.rank(group), error.what());
    mpi.abort(1);
    throw;
  }
  raise(verdict);
  return measured;
}

}  // namespace scaleworth::probes::host
