// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "probes/gpu/nccl.h"

#include <algorithm>

namespace scaleworth::probes {
namespace {
// Ranks that share one GPU talk through sockets: larger takes seconds and shows nothing more.
constexpr Bytes largest_shared{1 << 22};
constexpr Bytes largest_quick{gibibyte};
constexpr Bytes largest_standard{16.0 * gibibyte};  // as acceptance tests of clusters use
// Forced ways and variants of a call: the low-latency protocols have long lost there, and the rest
// has its bandwidth.
constexpr Bytes largest_of_variants{gibibyte};

Bytes largest_message(const NcclPlanning& planning) {
  if (planning.shared_gpu) return largest_shared;
  return planning.suite == Suite::quick ? largest_quick : largest_standard;
}

/// One setting per line and size, in random order; of lines and sizes that are asked for, where
/// some are.
std::vector<CollectiveWork> settings_of(
    const std::vector<std::pair<CollectiveWork, std::vector<Bytes>>>& lines,
    const RankTopology& topology,
    const NcclPlanning& planning) {
  std::vector<CollectiveWork> works;
  const std::vector<Bytes>& asked = planning.asked.sizes;
  for (const auto& [line, grid] : lines) {
    if (!planning.asked.wants(line.collective)) continue;
    CollectiveWork work = line;
    work.members = topology.members;
    work.ranks = static_cast<int>(topology.members.size());
    for (const Bytes message : fitting_messages(
             work.collective, work.ranks, asked.empty() ? grid : asked, planning.memory_per_rank)) {
      work.message = message;
      works.push_back(work);
    }
  }
  in_random_order(works, collective_order_seed);
  return works;
}

bool is_whole(const RankTopology& topology) {
  return topology.setting.symbol<RankSelection>(Parameter::selection) == RankSelection::all;
}

/// `first`, and in the standard suite those that sharded training needs.
std::vector<Collective> with_sharded(std::vector<Collective> first, Suite suite) {
  if (suite == Suite::standard) {
    first.insert(first.end(), {Collective::all_gather, Collective::reduce_scatter});
  }
  return first;
}
}  // namespace

std::vector<CollectiveWork> plan_choice(const RankTopology& topology,
                                        const NcclPlanning& planning) {
  const bool quick = planning.suite == Suite::quick;
  const Bytes largest = largest_message(planning);
  const int coarse_step = quick ? 4 : 2;
  const std::vector<Bytes> fine = message_grid(quick ? 3 : 1, largest);
  const std::vector<Bytes> coarse = message_grid(coarse_step, largest);
  const std::vector<Bytes> variants =
      message_grid(coarse_step, std::min(largest_of_variants, largest));
  std::vector<std::pair<CollectiveWork, std::vector<Bytes>>> lines;
  if (!is_whole(topology)) {
    for (const Collective collective :
         with_sharded({Collective::all_reduce, Collective::send_receive}, planning.suite)) {
      lines.push_back({{.collective = collective}, coarse});
    }
    return settings_of(lines, topology, planning);
  }
  for (const Collective collective : nccl_collectives) {
    const bool all_reduce = collective == Collective::all_reduce;
    lines.push_back({{.collective = collective}, all_reduce ? fine : coarse});
    if (quick && !all_reduce) continue;
    lines.push_back({{.collective = collective, .mode = CollectiveMode::back_to_back}, variants});
  }
  if (planning.shared_gpu) return settings_of(lines, topology, planning);
  for (const Collective collective : with_sharded({Collective::all_reduce}, planning.suite)) {
    lines.push_back({{.collective = collective, .mode = CollectiveMode::graph}, variants});
    lines.push_back({{.collective = collective, .in_place = true}, variants});
  }
  return settings_of(lines, topology, planning);
}

std::vector<CollectiveWork> plan_pair(const RankTopology& pair, const NcclPlanning& planning) {
  constexpr Bytes message{1 << 26};  // its rate counts and not the start of an operation
  const std::vector<Bytes> grid{std::min(message, largest_message(planning))};
  return settings_of({{{.collective = Collective::all_reduce}, grid}}, pair, planning);
}

std::vector<CollectiveWork> plan_forced(const RankTopology& topology,
                                        const OfferedWays& ways,
                                        const NcclPlanning& planning) {
  const bool fine = planning.suite == Suite::standard && is_whole(topology);
  const std::vector<Bytes> grid =
      message_grid(fine ? 2 : 4, std::min(largest_of_variants, largest_message(planning)));
  std::vector<std::pair<CollectiveWork, std::vector<Bytes>>> lines;
  for (const auto& [collective, offered] : ways) {
    for (const CollectiveAlgorithm& way : offered) {
      lines.push_back(
          {{.collective = collective, .algorithm = way.algorithm, .protocol = way.protocol}, grid});
    }
  }
  return settings_of(lines, topology, planning);
}

std::optional<Bytes> wire_bytes(Collective collective,
                                const std::string& algorithm,
                                Bytes message,
                                int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  const bool all_reduce = collective == Collective::all_reduce;
  const bool gathers =
      collective == Collective::all_gather || collective == Collective::reduce_scatter;
  switch (collective) {
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter:
      return message * others;
    case Collective::send_receive:
      return message;
    default:
      break;
  }
  if (algorithm == "Ring" || algorithm == "PAT") {
    if (all_reduce) return message * (2.0 * others);
    return message * (gathers ? others : 1.0);
  }
  if (algorithm == "Tree" && all_reduce) return message * 2.0;
  if (algorithm != "NVLS" || !(all_reduce || gathers)) return std::nullopt;
  return message * (all_reduce ? 1.0 + 1.0 / ranks : 1.0);
}
}  // namespace scaleworth::probes
