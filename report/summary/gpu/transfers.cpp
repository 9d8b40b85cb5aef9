// SPDX-License-Identifier: Apache-2.0
#include "report/sections/sections.h"
#include "report/summary/gpu/tables.h"

#include <string>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::GpuResult;
using model::GpuTransfer;

Row transfer_row(const std::string& name, const GpuTransfer& transfer) {
  return {{name,
           number(transfer.plateau),
           cell_or_absent(transfer.of_link),
           cell_or_absent(transfer.alpha),
           cell_or_absent(transfer.half_size)}};
}

const GpuTransfer* host_transfer(const GpuResult& gpu, bool to_gpu, bool both) {
  for (const GpuTransfer& transfer : gpu.transfers) {
    const std::string& host = to_gpu ? transfer.source : transfer.target;
    if (host == "host (pinned)" && transfer.both_directions == both && !transfer.together &&
        transfer.engine == "copy engine") {
      return &transfer;
    }
  }
  return nullptr;
}

/// One way to another GPU by the copy engine: the slowest and the fastest pair of the node.
void add_peers(const std::vector<GpuResult>& gpus, Table& table) {
  const GpuTransfer* slowest = nullptr;
  const GpuTransfer* fastest = nullptr;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      const bool peers = transfer.source.starts_with("gpu") && transfer.target.starts_with("gpu") &&
                         transfer.source != transfer.target;
      if (!peers || transfer.both_directions || transfer.together ||
          transfer.engine != "copy engine") {
        continue;
      }
      const auto rate = transfer.plateau.value;
      slowest = slowest == nullptr || rate < slowest->plateau.value ? &transfer : slowest;
      fastest = fastest == nullptr || rate > fastest->plateau.value ? &transfer : fastest;
    }
  }
  if (slowest == nullptr) {
    return;
  }
  const auto name = [](const char* which, const GpuTransfer& transfer) {
    return fmt::format("{} pair: {} to {}", which, transfer.source, transfer.target);
  };
  table.rows.push_back(transfer_row(name("slowest", *slowest), *slowest));
  if (fastest != slowest) {
    table.rows.push_back(transfer_row(name("fastest", *fastest), *fastest));
  }
}

}  // namespace

Table summary_transfers(const GpuResult& gpu, const std::vector<GpuResult>& gpus) {
  Table table{"gpu_links",
              "",
              {parameter("what", fmt::format("GPU {} transfers", gpu.identity.ordinal)),
               measure("rate", "rate", Unit::bytes_per_second),
               measure("of_link", "of link", Unit::percent),
               measure("alpha", "latency", Unit::seconds),
               measure("half_size", "half the rate at", Unit::bytes)},
              {},
              {}};
  table.columns.back().own_scale = true;
  struct Wanted {
    const char* name;
    bool to_gpu, both;
  };
  for (const Wanted& wanted : {Wanted{"host to GPU (pinned)", true, false},
                               Wanted{"GPU to host (pinned)", false, false},
                               Wanted{"both directions", true, true}}) {
    if (const auto* transfer = host_transfer(gpu, wanted.to_gpu, wanted.both)) {
      table.rows.push_back(transfer_row(wanted.name, *transfer));
    }
  }
  add_peers(gpus, table);
  return table;
}

}  // namespace scaleworth::report
