// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/node/gpu_cost.h"

#include "src/core/error.h"

namespace scaleworth::model {

Dollars cost_per_exaflop(DollarsPerSecond price, FlopPerSecond rate) {
  if (!(rate.value() > 0.0)) throw UserError("a cost per FLOP needs a rate above zero");
  return price / rate * Flops(1e18);
}

Dollars cost_per_terabyte(DollarsPerSecond price, BytesPerSecond rate) {
  if (!(rate.value() > 0.0)) throw UserError("a cost per byte needs a rate above zero");
  return price / rate * Bytes(1e12);
}

std::optional<GpuCost> gpu_cost(DollarsPerSecond price, const GpuResult& gpu) {
  GpuCost cost;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || (cost.per_exaflop && format.precision != "bf16")) continue;
    cost.per_exaflop = cost_per_exaflop(price, format.steady->rate.value);
    cost.precision = format.precision;
  }
  for (const GpuMemoryLevel& found : gpu.memory_levels) {
    if (found.level.label != "memory" || found.level.kernel != "read") continue;
    cost.per_terabyte = cost_per_terabyte(price, found.level.rate.value);
  }
  if (!cost.per_exaflop && !cost.per_terabyte) return std::nullopt;
  return cost;
}

}  // namespace scaleworth::model
