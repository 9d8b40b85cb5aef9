// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/watchdog.h"

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

namespace scaleworth::probes::host {

Watchdog::Watchdog(std::chrono::nanoseconds limit, OnStall on_stall)
    : usual_limit_(limit), on_stall_(std::move(on_stall)), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Watchdog::Watch Watchdog::watch(const std::string& what,
                                std::optional<std::chrono::nanoseconds> limit) {
  {
    const std::lock_guard lock(mutex_);
    what_ = what;
    limit_ = limit.value_or(usual_limit_);
    deadline_ = std::chrono::steady_clock::now() + limit_;
  }
  changed_.notify_one();
  return Watch(*this);
}

void Watchdog::progress() {
  // No notice: the thread finds the later deadline when the earlier one has passed.
  const std::lock_guard lock(mutex_);
  if (deadline_) deadline_ = std::chrono::steady_clock::now() + limit_;
}

void Watchdog::end() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (const auto deadline = *deadline_; std::chrono::steady_clock::now() < deadline) {
      changed_.wait_until(lock, deadline);
    } else {
      deadline_.reset();
      const std::string what = fmt::format(
          "{} made no progress for {:.3g} s", what_, std::chrono::duration<double>(limit_).count());
      lock.unlock();
      on_stall_(what);
      lock.lock();
    }
  }
}

Watchdog::OnStall end_this_rank(int rank) {
  return [rank](const std::string& what) {
    std::cerr << fmt::format(
        "scaleworth: rank {}: {}, a rank is lost or stuck: ending the job\n", rank, what);
    std::cerr.flush();
    std::_Exit(1);
  };
}

}  // namespace scaleworth::probes::host
