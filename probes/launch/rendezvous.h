// SPDX-License-Identifier: Apache-2.0
/// Where processes of one job meet without MPI: rank 0 serves a TCP port, the others come to it;
/// afterwards they exchange small messages through rank 0.
#pragma once

#include "probes/launch/socket.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::probes {

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
  bool out_of_memory = false;  // why it failed
};

/// Runs `action` and returns what it threw as a value: Interrupted as its signal, other exceptions
/// as their text, OutOfMemory marked.
RankTrouble rank_trouble(const std::function<void()>& action);

/// Every rank calls the same members in the same order. Of one rank it needs no network at all.
/// A member throws ProbeFailure naming the rank that is gone or silent, Interrupted for a signal;
/// the connections are useless then, and the other ranks learn of it when they are closed.
class Rendezvous {
 public:
  /// Returns when all have arrived. Throws ProbeFailure naming the ranks that never did (rank 0),
  /// or the address at which nobody answered, or why rank 0 sent this one away; UserError for a
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
  /// the text of the lowest such rank, named.
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
