// SPDX-License-Identifier: Apache-2.0
/// Ends a rank that waits for a lost one: MPI's blocking calls have no timeout of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace scaleworth::probes::host {

/// A thread that sleeps until a deadline; it costs nothing while work makes progress.
class Watchdog {
 public:
  using OnStall = std::function<void(const std::string& what)>;

  /// `on_stall` runs on the watchdog's thread when nothing was heard for `limit` during work.
  Watchdog(std::chrono::nanoseconds limit, OnStall on_stall);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Work that is watched while this lives.
  class Watch {
   public:
    explicit Watch(Watchdog& dog) : dog_(dog) {}
    ~Watch() { dog_.end(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& dog_;
  };

  /// Work named `what` begins, with another limit than the usual one where given. One at a time.
  [[nodiscard]] Watch watch(const std::string& what,
                            std::optional<std::chrono::nanoseconds> limit = {});
  /// It made progress: the limit counts from now.
  void progress();

 private:
  void end();
  void run();

  const std::chrono::nanoseconds usual_limit_;
  const OnStall on_stall_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::chrono::nanoseconds limit_{};
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the members above
};

/// Says on stderr that this rank gives up on `what`, and ends the process with code 1 without
/// waiting for anybody; the launcher then ends the other ranks.
Watchdog::OnStall end_this_rank(int rank);

}  // namespace scaleworth::probes::host
