// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/gpu_facts.h"
#include "cuda/nccl/nccl_rank_group.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"
#include "src/core/lists.h"

#include <algorithm>
#include <set>

namespace scaleworth::gpu {
namespace {
/// The ordinal of a GPU in this process; absent when it does not see it.
std::optional<int> ordinal_of(const std::string& bus_id) {
  int ordinal = 0;
  if (cudaDeviceGetByPCIBusId(&ordinal, bus_id.c_str()) == cudaSuccess) return ordinal;
  cudaGetLastError();
  return std::nullopt;
}

int peer_attribute(cudaDeviceP2PAttr attribute, int from, int to) {
  int value = 0;
  check(cudaDeviceGetP2PAttribute(&value, attribute, from, to));
  return value;
}

// PCIe carries no native atomics between GPUs; NVLink does.
RankLink link_between(int from, int to) {
  int access = 0;
  check(cudaDeviceCanAccessPeer(&access, from, to));
  if (access == 0) return {LinkKind::through_host, 0};
  const bool atomics = peer_attribute(cudaDevP2PAttrNativeAtomicSupported, from, to) != 0;
  return {atomics ? LinkKind::nvlink : LinkKind::peer,
          peer_attribute(cudaDevP2PAttrPerformanceRank, from, to)};
}
}  // namespace

RankPlace place_of_gpu(int ordinal) {
  const DeviceDescription description = describe_device(ordinal);
  return {host_identity(), description.bus_id, description.uuid, description.numa_node};
}

std::vector<RankLink> links_from(int own, const std::vector<RankPlace>& places) {
  const RankPlace& here = places.at(own);
  const std::optional<int> from = ordinal_of(here.bus_id);
  std::vector<RankLink> links;
  for (const RankPlace& there : places) {
    RankLink link;
    if (there.host != here.host) {
      link.kind = LinkKind::network;
    } else if (there.uuid == here.uuid) {
      link.kind = LinkKind::same_gpu;
    } else if (const auto to = ordinal_of(there.bus_id); from && to && *from != *to) {
      link = link_between(*from, *to);
    }
    links.push_back(link);
  }
  return links;
}

RankLinks assemble_links(const std::vector<RankPlace>& places,
                         const std::vector<std::vector<RankLink>>& rows) {
  RankLinks links;
  links.node = node_numbers(mapped(places, &RankPlace::host));
  links.numa = mapped(places, &RankPlace::numa);
  for (const std::vector<RankLink>& row : rows)
    if (row.size() != places.size())
      throw ProbeFailure("a rank described too few or too many links");
  links.link = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      links.link[i][j] = std::max(rows[i].at(j), rows[j].at(i));
    }
  }
  return links;
}

int index_on_host(int rank, const std::vector<std::string>& hosts) {
  const std::string& own = hosts.at(rank);
  return static_cast<int>(std::count(hosts.begin(), hosts.begin() + rank, own));
}

std::string describe_placement(const std::vector<RankPlace>& places, bool processes, bool shared) {
  if (shared) {
    return fmt::format(
        "{} ranks that share a GPU over the loopback network: plumbing only, no figure is one of "
        "an interconnect",
        places.size());
  }
  std::set<std::string> hosts;
  for (const RankPlace& place : places) hosts.insert(place.host);
  return fmt::format("{} on {}, {}",
                     counted(places.size(), "GPU"),
                     counted(hosts.size(), "node"),
                     processes ? "one process per GPU" : "one process");
}

void refuse_shared_gpus(const std::vector<RankPlace>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      if (places[i].host != places[j].host || places[i].uuid != places[j].uuid) continue;
      throw UserError(
          "ranks {} and {} have the same GPU {}: start one rank per GPU, or say --shared-gpu",
          i,
          j,
          places[i].uuid);
    }
  }
}
}  // namespace scaleworth::gpu
