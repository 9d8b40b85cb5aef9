// SPDX-License-Identifier: Apache-2.0
/// The ranks of an MPI job as a RankGroup.
#pragma once

#include "probes/collectives.h"
#include "probes/host/ranks/mpi_module.h"
#include "probes/ranks.h"
#include "probes/rendezvous.h"
#include "src/core/error.h"
#include "src/core/estimate.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace scaleworth::probes::host {
// Ends a rank that waits for a lost one: MPI's blocking calls have no timeout of their own.

/// A thread that sleeps until a deadline; it costs nothing while work makes progress.
class Watchdog : NonCopyable {
 public:
  using OnStall = std::function<void(const std::string& what)>;

  /// `on_stall` runs on the watchdog's thread when nothing was heard for `limit` during work.
  Watchdog(std::chrono::nanoseconds limit, OnStall on_stall);
  ~Watchdog();

  /// Work that is watched while this lives.
  class Watch : NonCopyable {
   public:
    explicit Watch(Watchdog& dog) : dog_(dog) {}
    ~Watch() { dog_.end(); }

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

/// Page-aligned memory that grows and is kept between settings: fresh pages at each setting would
/// cost more time than the operations.
class Buffer {
 public:
  /// At least `elements`, contents unspecified. Throws std::bad_alloc.
  std::span<float> reserve(std::size_t elements);
  void release();

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> memory_;
  std::size_t capacity_ = 0;
};

struct Operation {
  const MpiModule& mpi;
  MpiGroup group;
  Collective collective;
  MessageShape shape;
  int rank;
  int ranks;
  std::span<float> send;
  std::span<float> receive;
};

/// The pattern into the send buffer, NaN into the receive buffer (broadcast: the pattern into rank
/// 0's, which is what it sends).
void prepare(const Operation& operation);

/// Runs it once; 0 on success, as the module reports it.
int run_once(const Operation& operation);

/// Throws ProbeFailure naming the first wrong element unless the receive buffer holds the result.
void verify(const Operation& operation);

struct MpiRankGroupOptions {
  /// The least of all ranks holds, so that all plan the same sizes.
  Bytes available_memory_per_rank;
  /// Runs the training on the ranks of `group`, which are those of the work; called on each of
  /// them. Complete on rank 0. What it throws on one rank only leaves the others waiting: agree
  /// first.
  std::function<TrainingMeasured(MpiGroup group, const TrainingWork& work)> train;
  /// Working ranks that make no progress for so long end the job, naming themselves.
  std::chrono::seconds stall_limit{120};
};

/// All ranks of MPI's world; `mpi` is initialised, outlives this and is finalised after it. Every
/// member function is collective.
class MpiRankGroup final : public RankGroup {
 public:
  MpiRankGroup(const MpiModule& mpi, MpiRankGroupOptions options);
  ~MpiRankGroup() override;

  Rank rank() const override { return Rank{rank_}; }
  int size() const override { return size_; }
  std::string placement() const override { return placement_; }
  std::optional<RankPlacement> located() const override {
    return RankPlacement{size(), nodes_, false};
  }
  /// Nodes only.
  RankLinks links() const override { return {node_, {}, {}}; }
  Bytes available_memory_per_rank() const override { return memory_per_rank_; }
  CollectiveMeasured time_collective(const CollectiveWork& work,
                                     const StoppingTarget& target) override;
  TrainingMeasured train(const TrainingWork& work) override;
  std::vector<std::string> exchange(const std::string& own) override;
  void together(const std::function<void()>& action) override;

 private:
  void on_first_ranks(int ranks,
                      const std::string& what,
                      std::chrono::seconds limit,
                      const std::function<void(MpiGroup)>& action);
  MpiGroup first_ranks(int ranks);
  Operation make_operation(const CollectiveWork& work, MpiGroup group);

  const MpiModule& mpi_;
  const MpiRankGroupOptions options_;
  const MpiGroup world_;
  const int rank_;
  const int size_;
  Bytes memory_per_rank_;
  std::string placement_;
  int nodes_ = 1;
  std::vector<int> node_;  // by rank
  std::map<int, MpiGroup> parts_;
  Buffer send_;
  Buffer receive_;
  Watchdog watchdog_;
};

// Ranks agree on "all well" before they go on, so that no rank waits for one that gave up.

/// A failure that every rank of a group threw, with the name of the rank that had it.
class AgreedFailure : public ProbeFailure {
 public:
  using ProbeFailure::ProbeFailure;
};

/// Runs `action` on rank `rank` and returns what it threw as a value. Whatever derives from
/// std::exception is a failure, prefixed with "rank N: " unless agreed already; Interrupted is not.
RankTrouble trouble_of(int rank, const std::function<void()>& action);

/// Collective over `group`: throws on every rank when any rank is in trouble. Interrupted when one
/// received a signal, else AgreedFailure with the text of the lowest rank that failed.
void agree(const MpiModule& mpi, MpiGroup group, const RankTrouble& own);

/// Throws ProbeFailure with the module's last error unless `status` is 0.
void check(const MpiModule& mpi, int status);

// Opens the MPI module at run time, so that the program itself starts on machines without MPI.

/// The module's table, not yet initialised (call `init`), of `path` or as find_installed() finds
/// it. It stays open until the program ends, because MPI cannot be unloaded. Failed: `path` is not
/// a usable module. Skipped: MPI or the module is not installed. Either reason ends with the
/// remedy.
Outcome<const MpiModule*> open_mpi(const std::string& path = {});
}  // namespace scaleworth::probes::host
