// SPDX-License-Identifier: Apache-2.0
/// Where processes of one job meet without MPI: rank 0 serves a TCP port, the others come to it;
/// afterwards they exchange small messages through rank 0.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  /// A message goes as its length (8 bytes, little-endian) and its bytes. Throws ConnectionLost,
  /// and Interrupted for a signal.
  void send(std::string_view message, Deadline deadline) const;
  /// Throws likewise; also for a message longer than `longest`, before any of it is stored.
  std::string receive(Deadline deadline, std::uint64_t longest = std::uint64_t{1} << 26U) const;

 private:
  void wait(short events, Deadline deadline) const;
  void receive_bytes(char* data, std::size_t count, Deadline deadline) const;

  int descriptor_ = -1;
};

/// Listens on `port` of the loopback interface when `host` is one of its names, else of all
/// interfaces: a host's own name often means 127.0.1.1 to itself. Throws UserError naming the port
/// when it is taken or not allowed.
Socket listen_on(const std::string& host, int port);

/// Tries until a process listens there. Absent when none did before `deadline`. Throws UserError
/// when the host's name is unknown.
std::optional<Socket> connect_to(const std::string& host, int port, Deadline deadline);

struct RendezvousOptions {
  std::string host;  // where rank 0 is
  int port = 0;
  int rank = 0;
  int size = 1;
  std::string token;  // equal within the job: a process of another one is turned away
  std::chrono::milliseconds arrival_limit{std::chrono::seconds(60)};
  /// For one exchange: as long as the ranks may take between two of them.
  std::chrono::milliseconds exchange_limit{std::chrono::minutes(5)};
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

/// Every rank calls the same members in the same order. Of one rank it needs no network at all.
/// A member throws ProbeFailure naming the rank that is gone or silent, Interrupted for a signal;
/// the connections are useless then, and the other ranks learn of it when they are closed.
class Rendezvous {
 public:
  /// Returns when all have arrived. Throws ProbeFailure naming the ranks that never did (rank 0),
  /// or the address that gave no answer, or why rank 0 sent this one away; UserError for a
  /// port that is taken.
  explicit Rendezvous(RendezvousOptions options);

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
  void serve();
  void come();
  [[noreturn]] void give_up_on(const std::vector<int>& missing);
  void welcome(Socket socket, Deadline deadline);
  Deadline next_deadline() const;
  void send(int rank, std::string_view message, Deadline deadline);
  std::string receive(int rank, Deadline deadline);

  RendezvousOptions options_;
  std::vector<Socket> sockets_;  // rank 0: by rank; elsewhere: one, to rank 0
};
}  // namespace scaleworth::probes
