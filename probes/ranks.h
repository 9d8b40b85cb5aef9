// SPDX-License-Identifier: Apache-2.0
/// The questions a probe may ask of a group of ranks. Every rank of the group calls the same
/// question with the same arguments; results are complete on rank 0 and empty elsewhere.
#pragma once

#include "src/core/figures/vocabulary.h"
#include "src/core/non_copyable.h"
#include "src/core/run.h"
#include "src/core/span.h"
#include "src/core/statistics/sampling.h"
#include "src/core/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace scaleworth::probes {
/// Those that every group of ranks measures.
inline constexpr std::array all_collectives{Collective::all_reduce,
                                            Collective::all_gather,
                                            Collective::reduce_scatter,
                                            Collective::all_to_all,
                                            Collective::broadcast,
                                            Collective::send_receive};
/// Those that NCCL has: with the other rooted ones.
inline constexpr std::array nccl_collectives{Collective::all_reduce,
                                             Collective::all_gather,
                                             Collective::reduce_scatter,
                                             Collective::all_to_all,
                                             Collective::broadcast,
                                             Collective::reduce,
                                             Collective::gather,
                                             Collective::scatter,
                                             Collective::send_receive};

struct CollectiveWork {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  /// As nccl-tests counts: one rank's buffer for all_reduce, broadcast, reduce and send_receive;
  /// the sum over ranks for all_gather, reduce_scatter, all_to_all, gather and scatter. Rounded up
  /// to whole fp32 elements per rank.
  Bytes message{};
  int ranks = 1;               // how many take part; the others sleep
  bool in_place = false;       // one buffer instead of two
  std::vector<int> members{};  // `ranks` ranks that take part; empty: 0 to ranks - 1
  std::string algorithm{};     // forced, in the library's words; empty: its own choice
  std::string protocol{};      // likewise, both or none
};

/// A way to run a collective, in the library's words: "NVLS", "Simple".
struct CollectiveAlgorithm {
  std::string algorithm;
  std::string protocol;
  friend bool operator==(const CollectiveAlgorithm&, const CollectiveAlgorithm&) = default;
};

/// NCCL's words for its ways, in the order of its table of costs.
inline constexpr std::array<std::string_view, 7> nccl_algorithm_words{
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
inline constexpr std::array<std::string_view, 3> nccl_protocol_words{"LL", "LL128", "Simple"};

/// "NVLSTree" of "NVLS_TREE" or "nvlstree"; absent for none of `words`.
std::optional<std::string> nccl_word(std::span<const std::string_view> words,
                                     std::string_view written);

/// What the library really ran.
struct RanAlgorithm {
  CollectiveAlgorithm way;
  int channels = 0;
};

/// One operation of one rank, in ns from the first start of the measurement on the group's common
/// clock.
struct RankTiming {
  std::int32_t iteration = 0;
  Rank rank;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct CollectiveMeasured {
  Bytes message{};               // after rounding
  std::vector<double> time_s{};  // per repetition: the slowest rank's duration of one operation
  std::vector<RankTiming> timings{};
  std::vector<Finding> stop_reason{};
  std::vector<Finding> warnings{};
  int operations_per_timing = 1;  // not isolated: operations between a timing's start and end
  /// Every way that the library could have taken, on every rank, so that all draw the same
  /// conclusion; empty where it does not report them.
  std::vector<CollectiveAlgorithm> offered{};
  std::optional<RanAlgorithm> ran{};  // absent where the library does not report it
};

/// A decoder-only transformer (pre-norm, full attention, GELU MLP of 4 x width, untied output
/// head), fp32.
struct TransformerShape {
  std::int64_t layers = 2;
  std::int64_t width = 256;  // of tests and of an example: real work is sized by `ShapeFamily`
  std::int64_t heads = 4;
  std::int64_t sequence = 64;
  std::int64_t vocabulary = 512;
};

/// Data-parallel training: `global_batch` sequences a step, divided evenly over ranks.
struct TrainingWork {
  TransformerShape shape;
  std::int64_t global_batch = 8;
  int ranks = 1;
  int warmup_steps = 2;
  int steps = 20;
  Bytes bucket{1 << 20};  // gradients are all-reduced in buckets of about this size
  std::uint64_t seed = 1;
  /// Slows one rank's compute by this factor, so that waiting appears and can be charged to it.
  struct Straggler {
    Rank rank;
    double factor = 1.0;
  };
  std::optional<Straggler> straggler;
  bool calibration = false;  // chooses sizes: its steps are no steps of a recording
};

struct TrainingMeasured {
  Timeline timeline;         // measured steps only, numbered from 0
  std::vector<double> loss;  // mean over the global batch, per step, warm-up included
  /// Least over the measured steps of the slowest rank's step: what the machine does undisturbed.
  /// On every rank that trained, so that all of them can draw the same conclusion.
  Seconds fastest_step;
  std::int64_t parameters = 0;
  Flops model_flops;        // one step, all ranks: matmuls of forward and backward, full attention
  std::int64_t tokens = 0;  // one step, all ranks
  Bytes gradient;           // all-reduced per step and rank
  std::vector<Bytes> buckets;
  std::vector<Finding> warnings;
};

struct RankLink {
  LinkKind kind = LinkKind::unknown;
  int performance_rank = 0;  // the driver's order among links of one kind, 0 is the fastest
  friend auto operator<=>(const RankLink&, const RankLink&) = default;
};

/// Where the ranks sit: which node and NUMA node, and what lies between each pair.
struct RankLinks {
  std::vector<int> node;                    // per rank, counted from 0
  std::vector<std::optional<int>> numa;     // per rank, within its node
  std::vector<std::vector<RankLink>> link;  // ranks x ranks, symmetric; the diagonal means nothing
};

/// The ranks of this job. A question throws ProbeFailure on every rank when any rank could not go
/// on (wrong result), OutOfMemory on every rank when that was for lack of memory, so that no rank
/// is left waiting and all draw the same conclusion.
class RankGroup : NonCopyable {
 public:
  virtual ~RankGroup() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  /// Ranks on this node and where they run, for the record: "2 ranks on 1 node, shared memory".
  virtual std::string placement() const = 0;
  /// The same as values; absent for a group that is none.
  virtual std::optional<RankPlacement> located() const { return std::nullopt; }
  /// Memory one rank may use for buffers.
  virtual Bytes available_memory_per_rank() const = 0;
  virtual CollectiveMeasured time_collective(const CollectiveWork& work,
                                             const StoppingTarget& target) = 0;
  virtual TrainingMeasured train(const TrainingWork& work) = 0;
  /// On every rank: gives back what the processes keep on their GPUs between questions, so that one
  /// of them can measure all. When it returns, all have.
  virtual void release_memory() {}
  /// What lies between the ranks; empty where no difference can be seen.
  virtual RankLinks links() const { return {}; }
  /// True when several ranks share one GPU: for plumbing, no figure is one of an interconnect.
  virtual bool shared_gpu() const { return false; }
  /// What this group cannot report, and why.
  virtual std::vector<Finding> notes() const { return {}; }
  /// What each process of the job gave, in the order of their ranks; on each of them.
  virtual std::vector<std::string> exchange(const std::string& own) { return {own}; }
  /// Runs `action`, which asks nothing of the group, on every rank. When it throws on one rank it
  /// throws on all: there the same exception, elsewhere ProbeFailure naming the rank (Interrupted
  /// for a signal). For what only one rank does, such as writing down results.
  virtual void together(const std::function<void()>& action) { action(); }
  /// `together`, of rank 0 alone.
  void on_rank_0(const std::function<void()>& action) {
    together([&] {
      if (rank() == Rank{0}) action();
    });
  }
};

/// Of each rank its host's number, in the order in which ranks name them.
std::vector<int> node_numbers(const std::vector<std::string>& hosts);

/// Which host this process runs on: the same name may stand for two machines, so with the id of its
/// boot.
std::string host_identity();

/// A process of the job.
struct RankProcess {
  std::int64_t id = 0;  // as this host numbers processes
  double cpu_s = 0.0;   // as it gave it
};
/// Those that run on this process's host, this one among them, in the order of their ranks. Every
/// process of the group calls it with the CPU time that it and its children used.
std::vector<RankProcess> processes_here(RankGroup& group, double own_cpu_s);

struct AtOnce {
  std::vector<std::exception_ptr> failures;  // by index, null where the action returned
  /// The earliest in time: what came after may be its consequence. Null for none.
  std::exception_ptr first;
};

/// Runs `action(i)` for each i below `count`, the first on this thread and the others on one of
/// their own, released together. Returns when all have ended.
AtOnce run_at_once(std::size_t count, const std::function<void(std::size_t)>& action);
}  // namespace scaleworth::probes
