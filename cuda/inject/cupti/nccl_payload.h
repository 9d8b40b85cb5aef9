// SPDX-License-Identifier: Apache-2.0
/// What NCCL attaches to its NVTX ranges: communicator, bytes, root, peer.
#pragma once

#include "trace/format/recording/rows/rows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nvtx3/nvToolsExtPayload.h>

namespace scaleworth::gpu {

enum class PayloadField : std::uint8_t { communicator, bytes, root, peer, rank, ranks, device };

struct PayloadPlace {
  PayloadField field = PayloadField::communicator;
  std::size_t offset = 0;
  std::size_t bytes = 0;  // 1, 2, 4 or 8
};
using PayloadLayout = std::vector<PayloadPlace>;

/// Where a schema of NCCL's has the fields that we know, by their names ("NCCL communicator ID").
/// Empty for a schema of others. Source: NVIDIA/nccl, src/include/nvtx_payload_schemas.h.
PayloadLayout nccl_layout(const nvtxPayloadSchemaAttr_t& schema);

/// Fills the fields that `layout` has and `payload` is long enough for.
void read_payload(const PayloadLayout& layout,
                  std::span<const std::byte> payload,
                  trace::recording::CollectiveRow& row);

}  // namespace scaleworth::gpu
