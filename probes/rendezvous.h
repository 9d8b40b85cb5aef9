// SPDX-License-Identifier: Apache-2.0
/// Where processes of one job meet without MPI: rank 0 serves a TCP port, the others come to it;
/// afterwards they exchange small messages through rank 0.
#pragma once

#include "src/core/process.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// TCP connections that carry whole messages and never wait without a limit.

struct addrinfo;

namespace scaleworth::probes {
using Deadline = std::chrono::steady_clock::time_point;

/// The other end is gone, silent for too long, or speaks another language; `what()` says which,
/// not who: only the caller knows.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An open connection or listening socket; closed at its end.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        arrived_(std::move(other.arrived_)),
        heard_(other.heard_) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(arrived_, other.arrived_);
    heard_ = other.heard_;
    return *this;
  }
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  /// A message goes as a byte that says so, its length (8 bytes, little-endian) and its bytes.
  /// Throws ConnectionLost, and Interrupted for a signal.
  void send(std::string_view message, Deadline deadline) const;
  /// Throws likewise; also for a message longer than `longest`, before any of it is stored.
  std::string receive(Deadline deadline, std::uint64_t longest = longest_message);
  /// A sign of life, a single byte between messages; left out where it cannot go at once.
  void beat() const;
  /// Without waiting: the first whole message of what has arrived; absent while there is none.
  /// Throws ConnectionLost.
  std::optional<std::string> take(std::uint64_t longest = longest_message);
  /// When anything came last, as far as `take` has seen.
  Deadline heard() const { return heard_; }

 private:
  // 64 MiB, presumed: far above what ranks send. A damaged length must not take all memory.
  static constexpr std::uint64_t longest_message = std::uint64_t{1} << 26U;

  std::optional<std::string> first_message(std::uint64_t longest);

  int descriptor_ = -1;
  std::string arrived_{};  // signs of life, messages, a part of one
  Deadline heard_ = std::chrono::steady_clock::now();
};

/// Listens on `port` of the address that `host` means to the ranks: of the loopback interface where
/// that is one of its names, or where the name leads there and all ranks are `on_one_host`; of the
/// interface that has the address. Of all interfaces only where `host` does not say which: when its
/// name is unknown here, leads other hosts elsewhere (127.0.1.1 for a host's own name) or is
/// translated on the way. Throws UserError naming the port when it is taken or not allowed.
Socket listen_on(const std::string& host, int port, bool on_one_host = false);

/// Tries until a process listens there. Absent when none did before `deadline`. Throws UserError
/// when the host's name is unknown.
std::optional<Socket> connect_to(const std::string& host, int port, Deadline deadline);

/// What the processes of a job have in common and others have not: what its launcher sets equally
/// in `variables`. As secret as the best of it is: `SCALEWORTH_JOB_SECRET`, Open MPI's key for its
/// own transports and torchrun's random id are, the number of a Slurm job is not.
std::string job_token(const LaunchEnvironment& launch, const EnvironmentVariables& variables);

struct RendezvousOptions {
  std::string host;  // where rank 0 is
  int port = 0;
  int rank = 0;
  int size = 1;
  std::string token;         // equal within the job: a process of another one is turned away
  bool on_one_host = false;  // all ranks, as far as the launcher says it
  std::chrono::milliseconds arrival_limit{std::chrono::seconds(60)};
  /// Every rank shows twelve times within it that it lives, whatever else it does. A rank that was
  /// not heard of for so long is lost; one whose connection is closed is lost at once.
  std::chrono::milliseconds silence_limit{std::chrono::seconds(60)};
  /// For one exchange with ranks that live: as long as the ranks may take between two of them.
  std::chrono::milliseconds exchange_limit{std::chrono::hours(2)};
};

/// What happened on this rank; both empty: all well.
struct RankTrouble {
  std::string failure;
  int signal = 0;
  /// Why it failed, the better reason first.
  enum class Cause { out_of_memory, own, ranks_missing } cause = Cause::own;
};

/// Runs `action` and returns what it threw as a value: Interrupted as its signal, other exceptions
/// as their text, with the cause of OutOfMemory and RanksMissing.
RankTrouble rank_trouble(const std::function<void()>& action);

/// Calls `agree` with what runs `action`. Where `agree`, which tells the other ranks of trouble,
/// throws ProbeFailure and `action` threw, throws what that threw.
void act_and_agree(const std::function<void()>& action,
                   const std::function<void(const std::function<void()>&)>& agree);

/// Every rank calls the same members in the same order. Of one rank it needs no network at all.
/// A member throws ProbeFailure naming the rank that is gone or silent, Interrupted for a signal;
/// the connections are closed then, by which the other ranks learn of it, and every further call
/// throws. A thread of its own shows the other ranks meanwhile that this process lives.
class Rendezvous {
 public:
  /// Returns when all have arrived. Throws ProbeFailure naming the ranks that never did (rank 0),
  /// or the address that gave no answer, or why rank 0 sent this one away; UserError for a
  /// port that is taken.
  explicit Rendezvous(RendezvousOptions options);
  ~Rendezvous();
  Rendezvous(Rendezvous&&) noexcept;
  Rendezvous& operator=(Rendezvous&&) = delete;

  int rank() const { return options_.rank; }
  int size() const { return options_.size; }

  /// What each rank gave, by rank; empty but on rank 0.
  std::vector<std::string> gather(const std::string& own);
  /// What rank 0 gave.
  std::string broadcast(const std::string& of_rank_0);
  /// What each rank gave, by rank, on every rank.
  std::vector<std::string> all_gather(const std::string& own);
  /// Throws on every rank when any is in trouble: Interrupted when one had a signal, else
  /// OutOfMemory when one had no memory, which may be why others failed, else ProbeFailure; with
  /// the text of the lowest such rank, named. A rank that missed others is named only where no rank
  /// failed by itself.
  void agree(const RankTrouble& own);

 private:
  class Links;

  void serve();
  void come();
  void send(int rank, std::string_view message);
  std::vector<std::string> receive(int first, int end);
  template <class Exchange>
  auto or_close(const Exchange& exchange);

  RendezvousOptions options_;
  std::unique_ptr<Links> links_;  // null for one rank
  std::string broken_;            // why there are no connections any more
};
}  // namespace scaleworth::probes
