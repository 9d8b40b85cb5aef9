// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"
#include "probes/host/host_facts.h"
#include "probes/host/workers.h"
#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <random>

#include <time.h>

namespace scaleworth::probes::host {
namespace {
using Clock = std::chrono::steady_clock;

/// Of a dimension: the library's 32-bit int. Of k in fp32: half of where the rounding bound of
/// gemm_check.h ends.
constexpr std::int64_t largest_dimension = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t deepest_fp32 = std::int64_t{1} << 23;  // that bound ends at k 2^-24 = 1
/// Below this share of `workers` CPUs the library did not use the threads that it was given.
constexpr double used_share = 0.6;

std::string name_of(const GemmWork& work) {
  return fmt::format("{} GEMM m={} n={} k={} batch={}",
                     key_of(work.precision),
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
        throw ProbeFailure("{}, product {}: {}", name_of(work), i, *mismatch);
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
  const double cpu_start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < repetitions; ++i) blas.gemm(product);
  const std::chrono::duration<double> wall = Clock::now() - start;
  return {Seconds(wall.count()), Seconds(clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start)};
}

void note_unused_threads(Samples& samples, int workers) {
  const double cpus = cpus_used(samples).value_or(workers);
  if (cpus >= used_share * workers) return;
  samples.warnings.emplace_back(FindingId::library_left_cpus_idle, cpus, workers);
}

/// One product on several threads of the library. They are started here, on a thread that is not
/// pinned: a thread inherits the CPUs of its maker.
template <class T>
Samples sample_on_library_threads(const Blas& blas,
                                  const GemmArguments<T>& product,
                                  const GemmWork& work,
                                  const Target& target) {
  const int threads = blas.set_threads(work.workers);
  time_repetitions(blas, product, 1);  // maps buffers, wakes threads
  const double once = time_repetitions(blas, product, 1).wall.value();
  const auto repetitions =
      std::max<std::int64_t>(1, std::llround(sample_duration(target).value() / once));
  Samples samples = collect_samples(target, static_cast<double>(repetitions), [&] {
    return time_repetitions(blas, product, repetitions);
  });
  if (threads < work.workers)
    samples.warnings.emplace_back(FindingId::blas_threads_limited, threads, work.workers);
  note_unused_threads(samples, work.workers);
  return samples;
}

/// Throws for what cannot be counted, verified or held in memory, before anything is allocated:
/// the kernel would end a process that touches more than it has rather than refuse.
void require_possible(const GemmWork& work) {
  if (work.m < 1 || work.n < 1 || work.k < 1 || work.batch < 1 || work.workers < 1) {
    throw UserError(
        "{} on {} workers is no work: give positive numbers", name_of(work), work.workers);
  }
  const std::int64_t deepest =
      work.precision == NumberFormat::fp32 ? deepest_fp32 : largest_dimension;
  if (std::max({work.m, work.n, work.batch}) > largest_dimension || work.k > deepest) {
    throw UserError("{} is too large to count or verify: m, n and batch go to {}, k to {}",
                    name_of(work),
                    largest_dimension,
                    deepest);
  }
  const double operands = gemm_footprint(work).value();
  const Limit<Bytes> memory = current_memory_left();
  if (memory.value && memory.value->value() < operands) {
    throw ProbeFailure("{} needs {:.0f} MiB and {:.0f} MiB are left ({})",
                       name_of(work),
                       operands / mebibyte,
                       memory.value->value() / mebibyte,
                       memory.source);
  }
  require_room(work.workers * room_per_blas_thread + operands, name_of(work));
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
    if (mismatch) throw ProbeFailure("{}: {}", name_of(work), *mismatch);
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

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): one addition and three mixing steps per number,
/// several times faster than the standard engines, which would rival the products in time.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <class T>
std::vector<T> uniform(std::int64_t count, std::uint64_t& state) {
  std::vector<T> values(count);
  // As many leading bits as the significand holds, so that the largest stays below one.
  constexpr int bits = std::numeric_limits<T>::digits;
  constexpr T scale = T{2} / static_cast<T>(std::uint64_t{1} << bits);  // exact: a power of two
  for (T& value : values) value = static_cast<T>(next(state) >> (64 - bits)) * scale - T{1};
  return values;
}

/// The sum and the sum of absolute values of one element.
struct Reference {
  double sum = 0.0;
  double magnitude = 0.0;
  void add(double term) {
    sum += term;
    magnitude += std::abs(term);
  }
};

double gamma(std::int64_t k, double unit_roundoff) {
  const double ku = static_cast<double>(k) * unit_roundoff;
  return ku / (1.0 - ku);
}

template <class T>
double relative_bound(std::int64_t k) {
  return gamma(k, std::numeric_limits<T>::epsilon() / 2.0) +
         gamma(k, std::numeric_limits<double>::epsilon() / 2.0);
}

std::vector<std::int64_t> sampled(std::int64_t count, std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> any(0, count - 1);
  std::vector<std::int64_t> picked{0, count - 1, any(random), any(random)};
  std::sort(picked.begin(), picked.end());
  picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
  return picked;
}

template <class T>
std::optional<std::string> compare(const GemmArguments<T>& x,
                                   std::int64_t row,
                                   std::int64_t column,
                                   const Reference& reference) {
  const double value = static_cast<double>(x.c.data[row * x.c.stride + column]);
  const double bound = relative_bound<T>(x.k) * reference.magnitude;
  // Written so that a NaN anywhere fails.
  if (std::abs(value - reference.sum) <= bound) return std::nullopt;
  return fmt::format("C[{}, {}] = {:.9g}, the reference is {:.9g} and rounding allows {:.2g}",
                     row,
                     column,
                     value,
                     reference.sum,
                     bound);
}

template <class T>
std::optional<std::string> check_row(const GemmArguments<T>& x, std::int64_t row) {
  std::vector<Reference> references(x.n);
  for (std::int64_t p = 0; p < x.k; ++p) {
    const double a = static_cast<double>(x.a.data[row * x.a.stride + p]);
    const T* b = x.b.data + p * x.b.stride;
    for (std::size_t j = 0; j < references.size(); ++j) {
      references[j].add(a * static_cast<double>(b[j]));
    }
  }
  for (std::int64_t j = 0; j < x.n; ++j) {
    const auto mismatch = compare(x, row, j, references[j]);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

template <class T>
std::optional<std::string> check_column(const GemmArguments<T>& x, std::int64_t column) {
  std::vector<double> b(x.k);
  for (std::int64_t p = 0; p < x.k; ++p) {
    b[p] = static_cast<double>(x.b.data[p * x.b.stride + column]);
  }
  for (std::int64_t i = 0; i < x.m; ++i) {
    Reference reference;
    const T* a = x.a.data + i * x.a.stride;
    for (std::size_t p = 0; p < b.size(); ++p) reference.add(static_cast<double>(a[p]) * b[p]);
    const auto mismatch = compare(x, i, column, reference);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}
}  // namespace

Measured time_gemm(const Blas& blas, const GemmWork& work, const Target& target) {
  require_possible(work);
  Measured measured;
  try {
    measured.samples = work.precision == NumberFormat::fp32 ? sample<float>(blas, work, target)
                                                            : sample<double>(blas, work, target);
  } catch (const std::bad_alloc&) {
    throw ProbeFailure("{} needs {:.0f} MiB and the system refused them",
                       name_of(work),
                       gemm_footprint(work).value() / mebibyte);
  }
  const double c_elements =
      static_cast<double>(work.m) * static_cast<double>(work.n) * static_cast<double>(work.batch);
  measured.flops = gemm_flops(work);
  measured.bytes = gemm_footprint(work);
  measured.bytes_real = measured.bytes + Bytes(c_elements * element_bytes(work.precision));
  return measured;
}

template <class T>
GemmOperands<T>::GemmOperands(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed)
    : m_(m),
      n_(n),
      k_(k),
      a_(uniform<T>(m * k, seed)),
      b_(uniform<T>(k * n, seed)),
      c_(static_cast<std::size_t>(m * n), std::numeric_limits<T>::quiet_NaN()) {}

template <class T>
GemmArguments<T> GemmOperands<T>::product() {
  return {m_, n_, k_, {a_.data(), k_}, {b_.data(), n_}, {c_.data(), n_}};
}

template class GemmOperands<float>;
template class GemmOperands<double>;

template <class T>
std::optional<std::string> find_mismatch(const GemmArguments<T>& product, std::uint64_t seed) {
  if (product.m < 1 || product.n < 1) return std::nullopt;
  std::mt19937_64 random(seed);
  for (const std::int64_t row : sampled(product.m, random)) {
    const auto mismatch = check_row(product, row);
    if (mismatch) return mismatch;
  }
  for (const std::int64_t column : sampled(product.n, random)) {
    const auto mismatch = check_column(product, column);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

template std::optional<std::string> find_mismatch(const GemmArguments<float>&, std::uint64_t);
template std::optional<std::string> find_mismatch(const GemmArguments<double>&, std::uint64_t);
}  // namespace scaleworth::probes::host
