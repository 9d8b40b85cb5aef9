// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/node/step_utilisation.h"

#include "src/model/mfu/mfu.h"
#include "src/model/scaling/measured.h"

#include <optional>
#include <string>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

struct Slowest {
  const GpuGemm* product = nullptr;
  int ordinal = 0;
};

Slowest slowest_product(const std::vector<GpuResult>& gpus, const std::string& precision) {
  Slowest slowest;
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      if (format.precision != precision || !format.steady) continue;
      const GpuGemm& product = *format.steady;
      if (slowest.product == nullptr || product.rate.value < slowest.product->rate.value) {
        slowest = {&product, gpu.identity.ordinal};
      }
    }
  }
  return slowest;
}

std::string basis_of(const Slowest& slowest) {
  std::string text =
      fmt::format("steady {} products of GPU {}", slowest.product->precision, slowest.ordinal);
  if (const auto& against = slowest.product->against) {
    text += fmt::format(", {:.1f} % of {}", 100.0 * against->fraction.value, against->basis);
  }
  return text;
}

void fill(const MeasuredCount& count, const Slowest& slowest, ScalingRow& row) {
  const FlopPerSecond peak = slowest.product->rate.value * static_cast<double>(count.ranks);
  row.mfu_measured = model_flops_utilisation(Flops(count.model_flops), row.step.value, peak);
  row.mfu_basis = basis_of(slowest);
}

}  // namespace

void add_gpu_utilisation(const Run& run,
                         const std::vector<GpuResult>& gpus,
                         std::vector<ScalingResult>& scaling) {
  if (gpus.empty()) return;
  for (const MeasuredMode& mode : measured_modes(run)) {
    for (const MeasuredCount& count : mode.counts) {
      const Slowest slowest = slowest_product(gpus, count.precision);
      if (slowest.product == nullptr || count.precision == "fp32") continue;
      for (ScalingResult& result : scaling) {
        if (result.mode != mode.mode) continue;
        for (ScalingRow& row : result.rows) {
          if (row.ranks == count.ranks) fill(count, slowest, row);
        }
      }
    }
  }
}

}  // namespace scaleworth::model
