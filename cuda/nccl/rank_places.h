// SPDX-License-Identifier: Apache-2.0
/// Where ranks run, and what lies between their GPUs as far as CUDA tells.
#pragma once

#include "probes/ranks.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::gpu {

struct RankPlace {
  std::string host;  // name and boot id: the same name may stand for two machines
  std::string bus_id;
  std::string uuid;
  std::optional<int> numa;

  std::string text() const;
  /// Throws ProbeFailure for anything else than such a text.
  static RankPlace of(const std::string& text);
};

/// Of this process on GPU `ordinal`. Throws gpu::Error.
RankPlace place_of_gpu(int ordinal);

/// From rank `own` of this process to each rank. A GPU that this process does not see (set aside by
/// CUDA_VISIBLE_DEVICES) gives an unknown link. Throws gpu::Error.
std::vector<probes::RankLink> links_from(int own, const std::vector<RankPlace>& places);

std::string links_text(const std::vector<probes::RankLink>& links);
/// Throws ProbeFailure unless it has `ranks` links.
std::vector<probes::RankLink> links_of_text(const std::string& text, std::size_t ranks);

/// Nodes are numbered in the order in which ranks name them. A link is as slow as the slower of its
/// two directions.
probes::RankLinks assemble_links(const std::vector<RankPlace>& places,
                                 const std::vector<std::vector<probes::RankLink>>& rows);

/// "8 GPUs on 1 node, one process". `processes`: one per GPU; `shared`: ranks share a GPU.
std::string describe_placement(const std::vector<RankPlace>& places, bool processes, bool shared);

/// Throws UserError naming two ranks that have one GPU.
void refuse_shared_gpus(const std::vector<RankPlace>& places);

/// How many ranks before `rank` run on the same host: which of its GPUs is this rank's.
int index_on_host(int rank, const std::vector<std::string>& hosts);

/// Of this process.
std::string host_identity();

}  // namespace scaleworth::gpu
