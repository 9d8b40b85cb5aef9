// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "probes/training/shape.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <csignal>
#include <functional>
#include <memory>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {
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
      throw AgreedFailure(fmt::format(
          "the loss became {} at step {}", std::isnan(result.loss) ? "NaN" : "infinite", number));
    }
    // Another rank may have received the signal.
    if (result.stop) throw Interrupted(interrupt_signal() != 0 ? interrupt_signal() : SIGINT);
  }
  return losses;
}

void check_host_work(const TrainingWork& work) {
  check_training_work(work);
  if (!work.graphs && !work.trace) return;
  throw UserError(
      "training on a CPU: there are neither CUDA graphs nor kernels to trace, leave them out");
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

// The memory of the training on one rank.
struct Participant {
  std::unique_ptr<Exchange> exchange;  // null for one rank
  std::unique_ptr<Trainer> trainer;
};

Participant make_participant(const MpiModule& mpi,
                             MpiGroup group,
                             const Blas& blas,
                             const TrainingWork& work) {
  Participant participant;
  const Rank rank{mpi.rank(group)};
  agree(mpi, group, trouble_of(rank.index, [&] {
          if (work.ranks > 1) {
            const auto buckets = make_buckets(ParameterLayout(work.shape), work.bucket);
            participant.exchange =
                std::make_unique<Exchange>(mpi, group, Trainer::collectives(buckets));
          }
          participant.trainer =
              std::make_unique<Trainer>(blas, work, rank, participant.exchange.get());
        }));
  return participant;
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
  check_host_work(work);
  if (work.ranks != 1) throw UserError("training without MPI: use 1 rank");
  blas.set_threads(1);
  TrainingMeasured measured;
  try {
    Trainer trainer(blas, work, Rank{0}, nullptr);
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
  check_host_work(work);
  if (work.ranks != mpi.size(group)) {
    throw UserError(fmt::format(
        "training on {} ranks: the group has {}; use as many", work.ranks, mpi.size(group)));
  }
  blas.set_threads(1);
  Participant participant = make_participant(mpi, group, blas, work);
  try {
    return measure(mpi, group, *participant.trainer, work);
  } catch (...) {
    // An all-reduce that is in flight still writes into these buffers.
    if (participant.exchange != nullptr && participant.exchange->pending()) {
      static_cast<void>(participant.trainer.release());
      static_cast<void>(participant.exchange.release());
    }
    throw;
  }
}
}  // namespace scaleworth::probes::host
