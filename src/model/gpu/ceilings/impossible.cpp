// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/ceilings/impossible.h"

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double above_link = 1.02;
constexpr double above_memory = 1.10;
constexpr double above_roof = 1.05;

void warn_of_transfers(GpuResult& result) {
  for (const GpuTransfer& transfer : result.transfers) {
    if (transfer.of_link.value_or(0.0) <= above_link) continue;
    result.warnings.push_back(
        fmt::format("{} to {} moves {:.0f} % of its {} link's raw rate: suspect; the link was read "
                    "while it idled, or the bytes did not cross it",
                    transfer.source,
                    transfer.target,
                    100.0 * *transfer.of_link,
                    transfer.link));
  }
}

void warn_of_memory(GpuResult& result) {
  for (const GpuMemoryLevel& found : result.memory_levels) {
    if (!found.of_datasheet || found.of_datasheet->value <= above_memory) continue;
    result.warnings.push_back(
        fmt::format("{} of memory reaches {:.0f} % of the datasheet: suspect; the working set fits "
                    "the L2 cache, or the datasheet entry is not this GPU's",
                    found.level.kernel,
                    100.0 * found.of_datasheet->value));
  }
}

void warn_of_products(GpuResult& result) {
  for (const GpuPlacement& placement : result.placements) {
    const PlacedGemm& gemm = placement.gemm;
    const FlopPerSecond least = gemm.rate.interval ? gemm.rate.interval->low : gemm.rate.value;
    if (least / gemm.roof <= above_roof) continue;
    result.warnings.push_back(fmt::format(
        "{} {} x {} x {} reaches {:.0f} % of its roof: suspect; L2 served its operands, or the "
        "memory's rate was measured too low",
        gemm.precision,
        gemm.m,
        gemm.n,
        gemm.k,
        100.0 * gemm.fraction));
  }
}

}  // namespace

void warn_of_impossible_rates(GpuResult& result) {
  warn_of_transfers(result);
  warn_of_memory(result);
  warn_of_products(result);
}

}  // namespace scaleworth::model
