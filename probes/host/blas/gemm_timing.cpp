// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/gemm_timing.h"

#include "probes/host/blas/gemm_check.h"
#include "probes/host/blas/gemm_operands.h"
#include "probes/host/facts/limits.h"
#include "probes/host/facts/proc/address_space.h"
#include "probes/host/workers/sampling.h"
#include "probes/host/workers/team.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <time.h>

namespace scaleworth::probes::host {
namespace {

using Clock = std::chrono::steady_clock;

/// OpenBLAS maps a buffer of 128 MiB for each thread that calls it and never returns without it.
constexpr double mebibyte = 1024.0 * 1024.0;
constexpr double buffer_per_caller = 144.0 * mebibyte;
/// Of a dimension: the library's 32-bit int. Of k in fp32: half of where the rounding bound of
/// gemm_check.h ends.
constexpr std::int64_t largest_dimension = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t deepest_fp32 = std::int64_t{1} << 23;
/// Below this share of `workers` CPUs the library did not use the threads that it was given.
constexpr double used_share = 0.6;

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string name_of(const GemmWork& work) {
  return fmt::format("{} GEMM m={} n={} k={} batch={}",
                     precision_name(work.precision),
                     work.m,
                     work.n,
                     work.k,
                     work.batch);
}

/// The operands of a batch, product i made by worker i modulo the team's size.
template <class T>
class Batch {
 public:
  Batch(const GemmWork& work, WorkerTeam& team)
      : workers_(team.size()), operands_(static_cast<std::size_t>(work.batch)) {
    team.run([&](int worker) {
      each(worker, [&](std::size_t i) {
        operands_[i] = std::make_unique<GemmOperands<T>>(work.m, work.n, work.k, i + 1);
      });
    });
  }

  void multiply(const Blas& blas, int worker) {
    each(worker, [&](std::size_t i) { blas.gemm(operands_[i]->product()); });
  }

  /// Throws ProbeFailure for a wrong element.
  void verify(const GemmWork& work) {
    for (const std::size_t i : {std::size_t{0}, operands_.size() / 2, operands_.size() - 1}) {
      const auto mismatch = find_mismatch(operands_[i]->product(), i + 1);
      if (mismatch) {
        throw ProbeFailure(
            fmt::format("{}, product {}: {}", name_of(work), i, describe(*mismatch)));
      }
      if (operands_.size() == 1) return;
    }
  }

 private:
  template <class Action>
  void each(int worker, Action action) {
    for (std::size_t i = static_cast<std::size_t>(worker); i < operands_.size();
         i += static_cast<std::size_t>(workers_)) {
      action(i);
    }
  }

  int workers_;
  std::vector<std::unique_ptr<GemmOperands<T>>> operands_;
};

/// Wall and process-CPU time of `repetitions` products on the library's threads.
template <class T>
TeamTiming time_repetitions(const Blas& blas,
                            const GemmArguments<T>& product,
                            std::int64_t repetitions) {
  const double cpu_start = process_cpu_seconds();
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < repetitions; ++i) blas.gemm(product);
  const std::chrono::duration<double> wall = Clock::now() - start;
  return {Seconds(wall.count()), Seconds(process_cpu_seconds() - cpu_start)};
}

void note_unused_threads(Samples& samples, int workers) {
  std::vector<double> used;
  for (std::size_t i = 0; i < samples.wall_s.size(); ++i) {
    used.push_back(samples.cpu_s[i] / samples.wall_s[i]);
  }
  const double cpus = median(used).value_or(workers);
  if (cpus >= used_share * workers) return;
  samples.warnings.push_back(
      fmt::format("the library computed on {:.1f} of {} CPUs: it splits this shape badly or the "
                  "host is busy",
                  cpus,
                  workers));
}

/// One product on several threads of the library. They are started here, on a thread that is not
/// pinned: a thread inherits the CPUs of its maker.
template <class T>
Samples sample_on_library_threads(const Blas& blas,
                                  const GemmArguments<T>& product,
                                  const GemmWork& work,
                                  const Target& target) {
  const int threads = blas.set_threads(work.workers);
  Samples samples;
  if (threads < work.workers) {
    samples.warnings.push_back(
        fmt::format("this BLAS uses at most {} of {} threads", threads, work.workers));
  }
  time_repetitions(blas, product, 1);  // maps buffers, wakes threads
  const double once = time_repetitions(blas, product, 1).wall.value();
  const auto repetitions =
      std::max<std::int64_t>(1, std::llround(sample_duration(target).value() / once));
  StoppingRule rule(target);
  while (!rule.finished()) {
    check_interrupt();
    const TeamTiming timing = time_repetitions(blas, product, repetitions);
    rule.add(timing.wall / static_cast<double>(repetitions), timing.wall);
    samples.cpu_s.push_back(timing.cpu.value() / static_cast<double>(repetitions));
  }
  samples.wall_s = rule.samples();
  samples.stop_reason = rule.explanation();
  note_unused_threads(samples, work.workers);
  return samples;
}

/// Throws for what cannot be counted, verified or held in memory, before anything is allocated:
/// the kernel would end a process that touches more than it has rather than refuse.
void require_possible(const GemmWork& work) {
  if (work.m < 1 || work.n < 1 || work.k < 1 || work.batch < 1 || work.workers < 1) {
    throw UserError(fmt::format(
        "{} on {} workers is no work: give positive numbers", name_of(work), work.workers));
  }
  const std::int64_t deepest = work.precision == Precision::fp32 ? deepest_fp32 : largest_dimension;
  if (std::max({work.m, work.n, work.batch}) > largest_dimension || work.k > deepest) {
    throw UserError(
        fmt::format("{} is too large to count or verify: m, n and batch go to {}, k to {}",
                    name_of(work),
                    largest_dimension,
                    deepest));
  }
  const double operands = gemm_footprint(work).value();
  const Limit<Bytes> memory = current_memory_left();
  if (memory.value && memory.value->value() < operands) {
    throw ProbeFailure(fmt::format("{} needs {:.0f} MiB and {:.0f} MiB are left ({})",
                                   name_of(work),
                                   operands / mebibyte,
                                   memory.value->value() / mebibyte,
                                   memory.source));
  }
  const auto left = limited_address_space();
  const double needed = work.workers * buffer_per_caller + operands;
  if (left && left->value() < needed) {
    throw ProbeFailure(
        fmt::format("{} needs {:.0f} MiB of address space and the resource limits leave {:.0f} "
                    "MiB: raise them (ulimit -v, ulimit -d)",
                    name_of(work),
                    needed / mebibyte,
                    left->value() / mebibyte));
  }
}

template <class T>
Samples sample(const Blas& blas, const GemmWork& work, const Target& target) {
  blas.set_threads(1);
  const bool on_library_threads = work.batch == 1 && work.workers > 1;
  if (on_library_threads) {
    GemmOperands<T> operands(work.m, work.n, work.k, 1);
    Samples samples = sample_on_library_threads(blas, operands.product(), work, target);
    blas.set_threads(1);
    const auto mismatch = find_mismatch(operands.product());
    if (mismatch) throw ProbeFailure(fmt::format("{}: {}", name_of(work), describe(*mismatch)));
    return samples;
  }
  WorkerTeam team(work.workers);
  Batch<T> batch(work, team);
  const UnitWork unit{.units_per_operation = 1.0, .run = [&](int worker, std::int64_t units) {
                        for (std::int64_t i = 0; i < units; ++i) batch.multiply(blas, worker);
                      }};
  Samples samples = take_samples(team, unit, target);
  batch.verify(work);
  return samples;
}

double element_bytes(Precision precision) {
  return precision == Precision::fp32 ? sizeof(float) : sizeof(double);
}

}  // namespace

Bytes gemm_footprint(const GemmWork& work) {
  const double m = static_cast<double>(work.m);
  const double n = static_cast<double>(work.n);
  const double k = static_cast<double>(work.k);
  return Bytes((m * k + k * n + m * n) * element_bytes(work.precision) *
               static_cast<double>(work.batch));
}

Measured time_gemm(const Blas& blas, const GemmWork& work, const Target& target) {
  require_possible(work);
  Measured measured;
  try {
    measured.samples = work.precision == Precision::fp32 ? sample<float>(blas, work, target)
                                                         : sample<double>(blas, work, target);
  } catch (const std::bad_alloc&) {
    throw ProbeFailure(fmt::format("{} needs {:.0f} MiB and the system refused them",
                                   name_of(work),
                                   gemm_footprint(work).value() / mebibyte));
  }
  const double c_elements =
      static_cast<double>(work.m) * static_cast<double>(work.n) * static_cast<double>(work.batch);
  measured.flops = Flops(2.0 * c_elements * static_cast<double>(work.k));
  measured.bytes = gemm_footprint(work);
  measured.bytes_real = measured.bytes + Bytes(c_elements * element_bytes(work.precision));
  return measured;
}

}  // namespace scaleworth::probes::host
