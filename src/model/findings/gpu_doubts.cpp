// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/sentences.h"
#include "src/model/gpu/gemm/products.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::model {
namespace {

void doubt(std::vector<Finding>& findings, std::string text) {
  findings.push_back({std::move(text), true});
}

void add_limits(const GpuIdentity& gpu, std::vector<Finding>& findings) {
  if (gpu.power_limit_w && gpu.default_power_limit_w &&
      *gpu.power_limit_w < 0.995 * *gpu.default_power_limit_w) {
    doubt(
        findings,
        fmt::format("GPU {}: its power limit is {:.0f} W, below the default of {:.0f} W: its rates "
                    "are those of a capped GPU.",
                    gpu.ordinal,
                    *gpu.power_limit_w,
                    *gpu.default_power_limit_w));
  }
  if (gpu.mig) {
    doubt(
        findings,
        fmt::format("GPU {} is a MIG slice: clock and power are shared with other slices, and the "
                    "datasheet's peaks are those of the whole GPU.",
                    gpu.ordinal));
  }
}

/// Heat and brakes are faults of the machine; a power cap is how it is built.
void add_throttling(const GpuResult& gpu, std::vector<Finding>& findings) {
  constexpr double notable = 0.05;
  std::set<std::string> told;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    for (const auto& [reason, share] : format.steady->conditions.slowdown_reasons) {
      if (reason == "power cap" || share < notable || !told.insert(reason).second) continue;
      doubt(
          findings,
          fmt::format("GPU {}: {} held its clock down in {:.0f} % of the readings of the steady {} "
                      "product.",
                      gpu.identity.ordinal,
                      reason,
                      100.0 * share,
                      format_text(format.precision, format.fast_accumulation)));
    }
  }
}

void add_missing_telemetry(const GpuResult& gpu, std::vector<Finding>& findings) {
  std::vector<std::string> without_power;
  std::vector<std::string> without_clock;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    const std::string name = format_text(format.precision, format.fast_accumulation);
    if (!format.steady->conditions.power_w) without_power.push_back(name);
    if (!format.steady->conditions.clock_hz) without_clock.push_back(name);
  }
  if (!without_clock.empty()) {
    doubt(
        findings,
        fmt::format("GPU {}: no clock was recorded with the steady {} products: their loss cannot "
                    "be divided.",
                    gpu.identity.ordinal,
                    fmt::join(without_clock, ", ")));
  }
  if (!without_power.empty()) {
    doubt(
        findings,
        fmt::format("GPU {}: no power was recorded with the steady {} products: whether a cap held "
                    "the clock down is not known.",
                    gpu.identity.ordinal,
                    fmt::join(without_power, ", ")));
  }
}

void add_unknown_peaks(const GpuResult& gpu, std::vector<Finding>& findings) {
  std::vector<std::string> formats;
  for (const GpuFormat& format : gpu.formats) {
    if (format.steady && !format.steady->against) {
      formats.push_back(format_text(format.precision, format.fast_accumulation));
    }
  }
  if (formats.empty()) return;
  const std::string name = gpu.identity.name.empty() ? "this GPU" : gpu.identity.name;
  doubt(
      findings,
      gpu.identity.datasheet
          ? fmt::format("GPU {}: the datasheet of {} has no peak for {}.",
                        gpu.identity.ordinal,
                        name,
                        fmt::join(formats, ", "))
          : fmt::format("GPU {}: no datasheet of {} is known, so no percentage of a peak is told; "
                        "give its dense bf16 peak with --peak.",
                        gpu.identity.ordinal,
                        name));
}

void add_mixed_models(const std::vector<GpuResult>& gpus, std::vector<Finding>& findings) {
  std::set<std::string> names;
  for (const GpuResult& gpu : gpus) names.insert(gpu.identity.name);
  if (names.size() < 2) return;
  doubt(findings,
        fmt::format("The GPUs are of {} models ({}): the slowest sets the pace of a common step.",
                    names.size(),
                    fmt::join(names, ", ")));
}

}  // namespace

void add_gpu_doubts(const Analysis& analysis, std::vector<Finding>& findings) {
  add_mixed_models(analysis.gpus, findings);
  for (const GpuResult& gpu : analysis.gpus) {
    add_limits(gpu.identity, findings);
    add_throttling(gpu, findings);
    add_missing_telemetry(gpu, findings);
    add_unknown_peaks(gpu, findings);
    for (const std::string& warning : gpu.warnings) {
      doubt(findings, fmt::format("GPU {}: {}.", gpu.identity.ordinal, warning));
    }
  }
}

}  // namespace scaleworth::model
