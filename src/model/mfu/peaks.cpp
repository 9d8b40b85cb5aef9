// SPDX-License-Identifier: Apache-2.0
#include "src/model/mfu/peaks.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::model {
namespace {

/// Datasheets round, and so do people.
constexpr double same_figure = 0.02;

bool few_bits(const std::string& format) {
  return format.starts_with("fp8") || format == "mxfp8" || format == "nvfp4";
}

/// The tensor cores' peak, or the CUDA cores' of the formats that have no tensor cores.
const DatasheetPeak* sheet_peak(const GpuDatasheet& gpu, const std::string& format) {
  const std::string name = format == "fp8" ? "fp8_e4m3" : format;
  for (const auto* peaks : {&gpu.tensor, &gpu.cuda_cores}) {
    const auto found = peaks->find(name);
    if (found != peaks->end()) return &found->second;
  }
  return nullptr;
}

std::string usual_format(const GpuDatasheet* gpu) {
  return gpu == nullptr || gpu->tensor.contains("bf16") ? "bf16" : "fp16";
}

Denominator datasheet_peak(const GpuDatasheet& gpu, const std::string& format) {
  const DatasheetPeak* peak = sheet_peak(gpu, format);
  if (peak == nullptr) {
    std::vector<std::string> known;
    for (const auto& [name, ignored] : gpu.tensor) known.push_back(name);
    throw UserError(fmt::format("{} has no peak in {}; its tensor cores multiply in {}",
                                gpu.name,
                                format,
                                fmt::join(known, ", ")));
  }
  std::string basis = fmt::format("datasheet {}, dense", format);
  if (peak->clock_hz) basis += fmt::format(", at {:.0f} MHz", *peak->clock_hz * 1e-6);
  return {peak->rate, basis};
}

bool same(FlopPerSecond left, FlopPerSecond right) {
  return std::abs(left / right - 1.0) < same_figure;
}

double tera(FlopPerSecond rate) {
  return rate.value() * 1e-12;
}

/// The format whose dense peak `rate` is; empty: none.
std::string format_of(const GpuDatasheet& gpu, FlopPerSecond rate) {
  for (const auto& [name, peak] : gpu.tensor) {
    if (name != "int8" && same(rate, peak.rate)) return name;
  }
  return "";
}

std::optional<std::string> sparse_remark(const GpuDatasheet& gpu,
                                         const std::string& format,
                                         FlopPerSecond dense,
                                         FlopPerSecond given) {
  if (!same(given, 2.0 * dense)) return std::nullopt;
  const std::string other = format_of(gpu, given);
  return fmt::format(
      "--peak {:.4g} TFLOP/s is what datasheets print for {} with 2:4 structured sparsity{}. "
      "Training "
      "multiplies densely: the peak is {:.4g}, and the utilisation against it is twice as high",
      tera(given),
      format,
      other.empty() ? "" : fmt::format(" (and for dense {})", other),
      tera(dense));
}

}  // namespace

PeakChoice choose_peaks(const PeakRequest& request) {
  PeakChoice choice;
  choice.number_format =
      request.number_format.empty() ? usual_format(request.gpu) : request.number_format;
  const std::string& format = choice.number_format;
  if (request.given) choice.peaks.push_back({*request.given, "--peak"});
  if (request.gpu != nullptr) {
    const Denominator dense = datasheet_peak(*request.gpu, format);
    choice.peaks.push_back(dense);
    if (few_bits(format) && request.gpu->tensor.contains("bf16")) {
      choice.peaks.push_back(datasheet_peak(*request.gpu, "bf16"));
      choice.remarks.push_back(
          fmt::format("runs in {} have no agreed peak: some divide by that of bf16", format));
    }
    if (request.given) {
      const auto remark = sparse_remark(*request.gpu, format, dense.rate, *request.given);
      if (remark) choice.remarks.push_back(*remark);
    }
  }
  if (choice.peaks.empty()) {
    throw UserError(
        "no GPU and no peak: give --gpu (scaleworth list --known) or --peak in TFLOP/s");
  }
  return choice;
}

std::optional<FlopPerSecond> slowest_steady_rate(const std::vector<GpuResult>& gpus,
                                                 const std::string& number_format) {
  std::optional<FlopPerSecond> slowest;
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      if (format.precision != number_format || !format.steady) continue;
      const FlopPerSecond rate = format.steady->rate.value;
      slowest = slowest ? std::min(*slowest, rate) : rate;
    }
  }
  return slowest;
}

}  // namespace scaleworth::model
