// SPDX-License-Identifier: Apache-2.0
#include "probes/host/workers/team.h"

#include "probes/host/workers/cpus.h"
#include "src/core/error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

namespace scaleworth::probes::host {
namespace {

using Clock = std::chrono::steady_clock;

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// 0, or the error number.
int pin(std::thread& thread, int cpu) {
  const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
  std::vector<unsigned long> words(bytes / sizeof(unsigned long) + 1);
  auto* mask = reinterpret_cast<cpu_set_t*>(words.data());
  CPU_SET_S(cpu, words.size() * sizeof(unsigned long), mask);
  return pthread_setaffinity_np(thread.native_handle(), words.size() * sizeof(unsigned long), mask);
}

}  // namespace

struct WorkerTeam::State {
  /// What one worker reports of one run; a cache line each, so that writing it disturbs nobody.
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
      if (spins > 20'000) std::this_thread::yield();
    }
  }

  void serve(int worker) {
    Report& report = reports[static_cast<std::size_t>(worker)];
    for (std::uint32_t seen = 0;; ++seen) {
      generation.wait(seen, std::memory_order_acquire);
      if (task == nullptr) return;
      pass_gate();
      report.start = Clock::now();
      const double cpu_start = thread_cpu_seconds();
      try {
        (*task)(worker);
      } catch (...) {
        report.error = std::current_exception();
      }
      report.cpu_s = thread_cpu_seconds() - cpu_start;
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
    throw ProbeFailure(fmt::format(
        "{} workers asked for, but this process may use {} CPUs: widen its affinity mask or ask "
        "for fewer",
        workers,
        cpus.size()));
  }
  state_->reports.resize(static_cast<std::size_t>(workers));
  std::string problem;
  try {
    for (int worker = 0; worker < workers && problem.empty(); ++worker) {
      std::thread& thread =
          state_->threads.emplace_back([state = state_.get(), worker] { state->serve(worker); });
      const int cpu = cpus[static_cast<std::size_t>(worker)];
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

}  // namespace scaleworth::probes::host
