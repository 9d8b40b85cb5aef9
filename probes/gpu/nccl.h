// SPDX-License-Identifier: Apache-2.0
/// What NCCL is measured at, and the probe comm.nccl.
#pragma once

#include "probes/ranks.h"
#include "probes/registry.h"
#include "src/core/units.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {
struct RankTopology {
  /// selection, and what tells it from others: ranks, link, link_rank, across_numa_nodes,
  /// numa_node.
  Setting setting;
  std::vector<int> members;  // at least two, ascending
};

/// In this order, without groups that have the same members as an earlier one:
///   all ranks; the first 2, 4, 8, ... of them where every pair is linked alike;
///   the ranks of the first node, where there are several;
///   one pair for each kind of link: its kind, its place in the driver's order, within or across
///   NUMA nodes;
///   NVLink islands: ranks of a node of which each two are linked by NVLink, one per size from 3;
///   the ranks of a NUMA node, one per size from 3.
/// Without knowledge of links (`links` empty): all ranks. Empty below two ranks.
std::vector<RankTopology> topologies(const RankLinks& links, int size);

/// Nodes in pairs (`pair_rounds`, at most eight partners for one), as source_index and
/// target_index: as many ranks of both as the smallest node has, so that every network card takes
/// part. Empty below three nodes.
std::vector<RankTopology> node_pairs(const RankLinks& links);

/// What a plan is made from.
struct NcclPlanning {
  Suite suite = Suite::quick;
  Bytes memory_per_rank;
  bool shared_gpu = false;  // plumbing: few and small messages
  RankOptions asked{};      // only these collectives, at these sizes
};

using OfferedWays = std::map<Collective, std::vector<CollectiveAlgorithm>>;

/// NCCL's own choice among the ranks of `topology`, in random order. All ranks: every collective at
/// sizes from 8 B to 1 GiB (quick) or 16 GiB (standard) or what memory holds, isolated; to 1 GiB
/// back to back (quick: all_reduce only), and all_reduce (standard: all_gather and reduce_scatter
/// too) as a graph and in place. Other topologies: all_reduce and send_receive (standard:
/// all_gather and reduce_scatter too), isolated. Of all that what was asked for.
std::vector<CollectiveWork> plan_choice(const RankTopology& topology, const NcclPlanning& planning);

/// An all_reduce of 64 MiB, or of what was asked for.
std::vector<CollectiveWork> plan_pair(const RankTopology& pair, const NcclPlanning& planning);

/// Each offered way forced on a thinner grid of sizes, isolated, in random order.
std::vector<CollectiveWork> plan_forced(const RankTopology& topology,
                                        const OfferedWays& ways,
                                        const NcclPlanning& planning);

// How many bytes a collective sends through one GPU's port, which depends on how it is done.

/// Bytes through the busier direction of the busiest rank's port, for a message S among n ranks:
///   Ring, PAT   all_reduce 2 S (n-1)/n; all_gather, reduce_scatter S (n-1)/n; broadcast, reduce S
///   Tree        all_reduce 2 S: in each of two trees that carry half, S/2 up and two times S/2
///   down
///               for the rank that is inside of one and a leaf of the other
///   NVLS        all_reduce S (1 + 1/n): the switch reads S from each GPU and reduces; each sends
///               its part of the result once; all_gather, reduce_scatter S (an estimate)
/// all_to_all, gather, scatter S (n-1)/n and send_receive S whatever the algorithm. Absent for
/// other pairs, and where the algorithm is not known (empty) but matters. Source: the schedules'
/// own arithmetic; Sanders, Speck, Traeff, Parallel Computing 35 (2009) for the two trees.
std::optional<Bytes> wire_bytes(Collective collective,
                                const std::string& algorithm,
                                Bytes message,
                                int ranks);

/// `setting.max_ranks` GPUs, `setting.available_memory` of one of them. As for one topology that
/// NCCL offers seven ways for an all_reduce.
RankProbe::Estimate estimate_nccl;

/// Adds one point per setting: parameters collective, mode, ranks, message_bytes, topology,
/// algorithm and protocol (empty: NCCL's own choice), in_place, shared_gpu, and what ran where it
/// is known; amount wire_bytes; series time_s. First NCCL's own choice of each topology, then each
/// way that it offered and that was asked for, forced, and at last `plan_pair` of each of
/// `node_pairs`; a warning names what it offers in place of all that was asked for. A setting that
/// NCCL does not have is left out, with one warning for all. One that finds no memory is left out
/// with all larger ones of its line, which a warning names. Throws NothingToMeasure for one rank,
/// OutOfMemory when one setting after the other finds none.
RankProbe::Measure measure_nccl;
}  // namespace scaleworth::probes
