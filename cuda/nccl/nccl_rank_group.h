// SPDX-License-Identifier: Apache-2.0
/// Ranks on GPUs as a RankGroup: all GPUs of a node in one process, or one process per GPU.
#pragma once

#include "cuda/nccl/communicator.h"
#include "cuda/nccl/plugins.h"
#include "cuda/nccl/rank_message.h"
#include "cuda/runtime/handles.h"
#include "probes/collectives.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/ranks.h"
#include "probes/rendezvous.h"

#include <atomic>
#include <chrono>

namespace scaleworth::gpu {
// Where ranks run, and what lies between their GPUs as far as CUDA reports.
struct RankPlace {
  std::string host;  // name and boot id: the same name may stand for two machines
  std::string bus_id;
  std::string uuid;
  std::optional<int> numa;
};

inline void list(RankMessage& message, RankPlace& one) {
  message(one.host, one.bus_id, one.uuid, one.numa);
}
inline void list(RankMessage& message, CollectiveAlgorithm& one) {
  message(one.algorithm, one.protocol);
}
inline void list(RankMessage& message, RanAlgorithm& one) {
  message(one.way, one.channels);
}
inline void list(RankMessage& message, NcclReport& one) {
  message(one.offered, one.ran, one.tuner_called, one.refused, one.operation);
}

/// Of this process on GPU `ordinal`. Throws gpu::Error.
RankPlace place_of_gpu(int ordinal);

/// From rank `own` of this process to each rank. A GPU that this process does not see (set aside by
/// CUDA_VISIBLE_DEVICES) gives an unknown link. Throws gpu::Error.
std::vector<RankLink> links_from(int own, const std::vector<RankPlace>& places);

/// Nodes are numbered in the order in which ranks name them. A link is as slow as the slower of its
/// two directions. Throws ProbeFailure unless every row has a link to each rank.
RankLinks assemble_links(const std::vector<RankPlace>& places,
                         const std::vector<std::vector<RankLink>>& rows);

/// "8 GPUs on 1 node, one process". `processes`: one per GPU; `shared`: ranks share a GPU.
std::string describe_placement(const std::vector<RankPlace>& places, bool processes, bool shared);

/// Throws UserError naming two ranks that have one GPU.
void refuse_shared_gpus(const std::vector<RankPlace>& places);

/// How many ranks before `rank` run on the same host: which of its GPUs is this rank's.
int index_on_host(int rank, const std::vector<std::string>& hosts);

// One rank's part in the measurement of one collective.

/// "all_reduce of 1024 B"
std::string describe(const CollectiveWork& work);

/// All ranks of a team call the same members in the same order, each on its own thread or process.
/// A wait ends with ProbeFailure naming rank and call when the rank's communicator failed, when
/// `stop` was set, or after the limit.
class CollectiveRun {
 public:
  /// Fills the send buffer. `stop`: another rank of this process gave up.
  CollectiveRun(LocalRank& place,
                const Communicator& communicator,
                const CollectiveWork& work,
                const std::atomic<bool>& stop);

  /// A few operations, so that connections exist and clocks have risen. Returns the time of the
  /// last.
  Seconds warm_up();
  /// Once more on fresh data, as it is timed, and compares the result where it lies. Throws
  /// WrongResult with the number of wrong elements.
  void verify();
  /// Captures `operations` of them, replays them once, which is the graph's own warm-up, and
  /// compares the result. Throws NothingToMeasure in place.
  void capture(int operations);
  /// Seconds of one operation for each repetition. isolated: a small all-reduce just before it in
  /// the same stream brings the ranks together, and hides the launch. graph: after `capture`.
  std::vector<double> time(const CollectiveBatch& batch);

 private:
  void fill();
  void run();
  void align();
  void wait(cudaEvent_t event, std::chrono::duration<double> expected);

  LocalRank& place_;
  const Communicator& communicator_;
  const CollectiveWork work_;
  const MessageShape shape_;
  const std::atomic<bool>& stop_;
  const std::string what_;
  CollectiveBuffers buffers_;
  double operation_s_ = 0.1;  // before the warm-up measured it: a time to wait, no result
  GraphExecutable graph_;
};

struct NcclRankGroupOptions {
  std::shared_ptr<const Nccl> nccl{};
  /// GPUs of this process's ranks. More than one only where this process is the whole job.
  std::vector<int> ordinals{};
  bool shared_gpu = false;
  std::vector<Finding> notes{};  // what the user's settings take away
  std::string cublas_lt_path{};  // of the training step; empty: search
  /// A call that blocks inside of NCCL for so long ends this process, naming rank and call.
  std::chrono::seconds stall_limit{300};
};

/// One process of all GPUs answers as rank 0; each GPU has a host thread during a measurement.
class NcclRankGroup final : public RankGroup {
 public:
  /// Every process of the job constructs its own; returns when all have reported where they run.
  /// Throws UserError when two ranks have one GPU and `shared_gpu` was not asked for.
  NcclRankGroup(Rendezvous meeting, NcclRankGroupOptions options);
  ~NcclRankGroup() override { dissolve_team(); }

  Rank rank() const override { return Rank{meeting_.rank()}; }
  int size() const override { return static_cast<int>(places_.size()); }
  std::string placement() const override { return placement_; }
  std::optional<RankPlacement> located() const override;
  Bytes available_memory_per_rank() const override { return memory_per_rank_; }
  /// Throws NothingToMeasure for what this NCCL cannot do: a way that is not usable here, a form in
  /// place that does not exist; OutOfMemory after giving back all that the group held of GPUs.
  CollectiveMeasured time_collective(const CollectiveWork& work,
                                     const StoppingTarget& target) override;
  /// On GPUs 0 to work.ranks - 1, as train_on_gpus says. Throws NothingToMeasure without cuBLASLt.
  TrainingMeasured train(const TrainingWork& work) override;
  void release_memory() override;
  std::vector<std::string> exchange(const std::string& own) override {
    return meeting_.all_gather(own);
  }
  void together(const std::function<void()>& action) override;
  RankLinks links() const override { return links_; }
  bool shared_gpu() const override { return options_.shared_gpu; }
  std::vector<Finding> notes() const override { return options_.notes; }

 private:
  /// The ranks of this process that take part in a measurement.
  struct Member {
    LocalRank* place = nullptr;
    OwnedCommunicator trial;  // until all ranks have joined
    std::unique_ptr<Communicator> communicator;
    std::unique_ptr<CollectiveRun> run;
  };
  using Action = std::function<void(Member&)>;

  void exchange_places();
  void choose_team(const std::vector<int>& members);
  void dissolve_team();
  /// After a rank had no memory, on every rank: smaller sizes find all of it.
  void release_all_memory();
  /// On a thread per member in every process. A failure stops the waits of the other members and is
  /// thrown everywhere, the lack of memory before others, which may be its consequence.
  void on_all_ranks(const Action& action);
  NcclReport prepare(const CollectiveWork& work);
  std::vector<double> slowest(const CollectiveBatch& batch);
  CollectiveMeasured measure(const CollectiveWork& work, const StoppingTarget& target);

  Rendezvous meeting_;
  const NcclRankGroupOptions options_;
  std::vector<RankPlace> places_;
  RankLinks links_;
  std::string placement_;
  Bytes memory_per_rank_;
  std::vector<std::unique_ptr<LocalRank>> local_;
  std::vector<int> team_;
  std::vector<Member> members_;
  std::atomic<bool> stop_{false};
  bool communicating_ = false;  // the question has come to where ranks wait for each other
  host::Watchdog watchdog_;
};
}  // namespace scaleworth::gpu
