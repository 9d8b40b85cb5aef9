// SPDX-License-Identifier: Apache-2.0
#include "probes/host/workers.h"

#include "probes/registry.h"
#include "src/core/error.h"
#include "src/core/lists.h"
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/statistics/sampling.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>

namespace scaleworth::probes::host {
namespace {
int topology_number(int cpu, const char* name, int fallback) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, name));
  int number = 0;
  return file >> number ? number : fallback;
}

/// The allowed CPUs in ascending order. The mask of a machine with more than 1024 CPUs does not
/// fit cpu_set_t, so it grows until the kernel accepts it.
std::vector<int> allowed_cpus() {
  for (std::size_t capacity = 1024; capacity <= 1U << 20; capacity *= 2) {  // to a million CPUs
    std::vector<unsigned long> words(capacity / (8 * sizeof(unsigned long)));
    auto* mask = reinterpret_cast<cpu_set_t*>(words.data());
    const std::size_t bytes = words.size() * sizeof(unsigned long);
    if (sched_getaffinity(0, bytes, mask) == 0) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < capacity; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) break;
  }
  throw ProbeFailure("the CPU affinity mask cannot be read: {}", std::strerror(errno));
}

constexpr double shortest_sample_s = 1e-3;  // the start gate's skew stays below 0.1 % of it
constexpr double longest_sample_s = 20e-3;  // more, shorter samples give the better median
constexpr double uncontended_share = 0.98;  // of the wall time, spent on a CPU

double clock_resolution_s() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

TeamTiming run_units(WorkerTeam& team, const UnitWork& work, std::int64_t units) {
  return team.run([&](int worker) { work.run(worker, units); });
}

/// Units that last about `goal`.
std::int64_t calibrate(WorkerTeam& team, const UnitWork& work, Seconds goal) {
  std::int64_t units = 1;
  while (true) {
    check_interrupt();
    const double share = run_units(team, work, units).wall / goal;
    const auto scaled = [&](double factor) {
      return std::max<std::int64_t>(1, std::llround(static_cast<double>(units) * factor));
    };
    // From half on one step in proportion ends; 2^50 units of anything outlast a run.
    if (share >= 0.5 || units > (std::int64_t{1} << 50)) return scaled(1.0 / share);
    // A cold first run says little: grow at most tenfold per step.
    units = std::max(units + 1, scaled(std::min(10.0, 1.0 / std::max(share, 1e-9))));
  }
}

void note_contention(Samples& samples, int workers) {
  const double share = cpus_used(samples).value_or(workers) / workers;
  if (share >= uncontended_share) return;
  samples.warnings.emplace_back(FindingId::workers_contended, share);
}

using Clock = std::chrono::steady_clock;

/// 0, or the error number.
int pin(std::thread& thread, int cpu) {
  const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
  std::vector<unsigned long> words(bytes / sizeof(unsigned long) + 1);
  auto* mask = reinterpret_cast<cpu_set_t*>(words.data());
  CPU_SET_S(cpu, words.size() * sizeof(unsigned long), mask);
  return pthread_setaffinity_np(thread.native_handle(), words.size() * sizeof(unsigned long), mask);
}
}  // namespace

std::vector<int> worker_order(std::span<const CpuPlace> places) {
  std::map<std::pair<int, int>, int> threads_seen;
  std::vector<std::pair<int, int>> ranked;  // (thread number within its core, cpu)
  for (const CpuPlace& place : places) {
    ranked.emplace_back(threads_seen[{place.package, place.core}]++, place.cpu);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, int>::first);
  return mapped(ranked, &std::pair<int, int>::second);
}

std::vector<int> worker_cpus() {
  std::vector<CpuPlace> places;
  for (const int cpu : allowed_cpus()) {
    places.push_back({.cpu = cpu,
                      .package = topology_number(cpu, "physical_package_id", 0),
                      .core = topology_number(cpu, "core_id", cpu)});
  }
  return worker_order(places);
}

Seconds sample_duration(const Target& target) {
  return Seconds(
      std::max(std::clamp(fitting_sample(target).value(), shortest_sample_s, longest_sample_s),
               100.0 * clock_resolution_s()));
}

double clock_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::optional<double> cpus_used(const Samples& samples) {
  std::vector<double> used;
  for (std::size_t i = 0; i < samples.wall_s.size(); ++i) {
    used.push_back(samples.cpu_s[i] / samples.wall_s[i]);
  }
  return median(used);
}

Samples collect_samples(const Target& target,
                        double operations,
                        const std::function<TeamTiming()>& run) {
  StoppingRule rule(target);
  Samples samples;
  while (!rule.finished()) {
    check_interrupt();
    const TeamTiming timing = run();
    rule.add(timing.wall / operations, timing.wall);
    samples.cpu_s.push_back(timing.cpu.value() / operations);
  }
  samples.wall_s = rule.samples();
  samples.stop_reason = {rule.explanation()};
  return samples;
}

Samples take_samples(WorkerTeam& team,
                     const UnitWork& work,
                     const Target& target,
                     std::int64_t* last_units) {
  const std::int64_t units = calibrate(team, work, sample_duration(target));
  const double operations = static_cast<double>(units) / work.units_per_operation;
  Samples samples =
      collect_samples(target, operations, [&] { return run_units(team, work, units); });
  samples.warnings = sample_warnings(samples.wall_s);
  note_contention(samples, team.size());
  if (last_units != nullptr) *last_units = units;
  return samples;
}

struct WorkerTeam::State {
  /// What one worker reports of one run; a cache line each, so that writing it disturbs no other.
  struct alignas(128) Report {
    Clock::time_point start;
    Clock::time_point end;
    double cpu_s = 0.0;
    std::exception_ptr error;
  };

  std::vector<std::thread> threads;
  std::vector<Report> reports;
  const std::function<void(int)>* task = nullptr;  // of the current run; null ends the workers
  std::atomic<std::uint32_t> generation{0};
  std::atomic<int> arrived{0};
  std::atomic<int> remaining{0};

  void pass_gate() {
    const int all = static_cast<int>(reports.size());
    arrived.fetch_add(1, std::memory_order_acq_rel);
    // Spinning starts all within a fraction of a microsecond; yielding keeps a busy CPU usable.
    for (int spins = 0; arrived.load(std::memory_order_acquire) < all; ++spins) {
      // Presumed: longer than an undisturbed worker takes to come.
      if (spins > 20'000) std::this_thread::yield();
    }
  }

  void serve(int worker) {
    Report& report = reports[worker];
    for (std::uint32_t seen = 0;; ++seen) {
      generation.wait(seen, std::memory_order_acquire);
      if (task == nullptr) return;
      pass_gate();
      report.start = Clock::now();
      const double cpu_start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
      try {
        (*task)(worker);
      } catch (...) {
        report.error = std::current_exception();
      }
      report.cpu_s = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
      report.end = Clock::now();
      if (remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) remaining.notify_one();
    }
  }

  void release(const std::function<void(int)>* next) {
    task = next;
    generation.fetch_add(1, std::memory_order_acq_rel);
    generation.notify_all();
  }

  void stop() {
    release(nullptr);
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
};

WorkerTeam::WorkerTeam(int workers) : state_(std::make_unique<State>()) {
  const std::vector<int> cpus = worker_cpus();
  if (workers < 1 || static_cast<std::size_t>(workers) > cpus.size()) {
    throw ProbeFailure(
        "{} workers asked for, but this process may use {} CPUs: widen its affinity mask or ask "
        "for fewer",
        workers,
        cpus.size());
  }
  state_->reports.resize(workers);
  std::string problem;
  try {
    for (int worker = 0; worker < workers && problem.empty(); ++worker) {
      std::thread& thread =
          state_->threads.emplace_back([state = state_.get(), worker] { state->serve(worker); });
      const int cpu = cpus[worker];
      if (const int error = pin(thread, cpu); error != 0) {
        problem = fmt::format(
            "worker {} cannot be pinned to CPU {}: {}", worker, cpu, std::strerror(error));
      }
    }
  } catch (const std::system_error& error) {
    problem = fmt::format("a thread for {} workers cannot be started: {}", workers, error.what());
  }
  if (problem.empty()) return;
  state_->stop();
  throw ProbeFailure(problem);
}

WorkerTeam::~WorkerTeam() {
  state_->stop();
}

int WorkerTeam::size() const {
  return static_cast<int>(state_->reports.size());
}

TeamTiming WorkerTeam::run(const std::function<void(int worker)>& task) {
  State& state = *state_;
  state.arrived.store(0, std::memory_order_relaxed);
  state.remaining.store(size(), std::memory_order_relaxed);
  for (State::Report& report : state.reports) report.error = nullptr;
  state.release(&task);
  for (int left = size(); left != 0; left = state.remaining.load(std::memory_order_acquire)) {
    state.remaining.wait(left, std::memory_order_acquire);
  }
  Clock::time_point first = state.reports.front().start;
  Clock::time_point last = state.reports.front().end;
  double cpu_s = 0.0;
  for (const State::Report& report : state.reports) {
    if (report.error) std::rethrow_exception(report.error);
    first = std::min(first, report.start);
    last = std::max(last, report.end);
    cpu_s += report.cpu_s;
  }
  return {Seconds(std::chrono::duration<double>(last - first).count()), Seconds(cpu_s)};
}

WideAffinity::WideAffinity() {
  if (sched_getaffinity(0, sizeof former_, &former_) != 0) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  widened_ =
      sched_setaffinity(0, sizeof all, &all) == 0;  // the kernel keeps what the cpuset allows
}

WideAffinity::~WideAffinity() {
  if (widened_) sched_setaffinity(0, sizeof former_, &former_);
}
}  // namespace scaleworth::probes::host
