// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/ceilings/peak.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double measurement_slack = 1.005;

const DatasheetPeak* find_peak(const std::map<std::string, DatasheetPeak>& peaks,
                               const std::string& precision) {
  const auto found = peaks.find(precision);
  return found == peaks.end() ? nullptr : &found->second;
}

/// Formats that differ in their scales or exponent and share one peak.
std::string family_of(const std::string& precision) {
  return precision.starts_with("fp8") || precision == "mxfp8" ? "fp8_e4m3" : precision;
}

const DatasheetPeak* sheet_peak(const GpuDatasheet& sheet,
                                const std::string& precision,
                                bool cuda_cores) {
  if (cuda_cores) return find_peak(sheet.cuda_cores, precision);
  if (const DatasheetPeak* exact = find_peak(sheet.tensor, precision)) return exact;
  if (const DatasheetPeak* related = find_peak(sheet.tensor, family_of(precision))) return related;
  if (precision != "fp32" && precision != "fp64") return nullptr;
  return find_peak(sheet.cuda_cores, precision);
}

/// Multiprocessors here over those that the peak counts: a slice of a GPU has fewer.
double share_of_sheet(const GpuIdentity& gpu) {
  if (!gpu.datasheet || !gpu.multiprocessors || gpu.datasheet->multiprocessors <= 0) return 1.0;
  return static_cast<double>(*gpu.multiprocessors) / gpu.datasheet->multiprocessors;
}

}  // namespace

std::optional<NamedPeak> peak_of(const GpuIdentity& gpu,
                                 const std::string& precision,
                                 bool cuda_cores,
                                 std::optional<FlopPerSecond> given) {
  if (given && !cuda_cores && precision == "bf16") {
    return NamedPeak{{*given, std::nullopt}, "--peak"};
  }
  if (!gpu.datasheet) return std::nullopt;
  const DatasheetPeak* peak = sheet_peak(*gpu.datasheet, precision, cuda_cores);
  if (peak == nullptr) return std::nullopt;
  std::string basis = fmt::format("datasheet {}, dense", precision);
  if (peak->clock_hz) basis += fmt::format(", at {:.0f} MHz", *peak->clock_hz * 1e-6);
  return NamedPeak{*peak, basis};
}

AgainstPeak against_peak(const GpuIdentity& gpu,
                         const NamedPeak& named,
                         const Estimate<FlopPerSecond>& rate,
                         std::optional<double> clock_hz) {
  AgainstPeak against;
  against.peak = named.peak.rate;
  against.basis = named.basis;
  against.clock_hz = named.peak.clock_hz;
  against.fraction = transform(rate, [&](FlopPerSecond value) { return value / named.peak.rate; });
  if (clock_hz && named.peak.clock_hz) {
    against.clock_ratio = *clock_hz / *named.peak.clock_hz;
    const double reachable = *against.clock_ratio * share_of_sheet(gpu);
    against.fraction_at_clock =
        transform(against.fraction, [=](double fraction) { return fraction / reachable; });
  }
  return against;
}

std::string impossible_rate(const GpuIdentity& gpu, const AgainstPeak& against) {
  if (!against.clock_hz || !gpu.maximum_clock_hz) return "";
  const double least =
      against.fraction.interval ? against.fraction.interval->low : against.fraction.value;
  // A datasheet may count with a clock that this GPU is not allowed to reach.
  const double clock = std::max(*gpu.maximum_clock_hz, *against.clock_hz);
  const double most = clock / *against.clock_hz * share_of_sheet(gpu) * measurement_slack;
  if (least <= most) return "";
  return fmt::format(
      "{:.0f} % of what its multiprocessors can do at {:.0f} MHz: suspect; an event of the GPU's "
      "clock went wrong, the product was cut short, or the datasheet entry is not this GPU's",
      100.0 * least / most * measurement_slack,
      clock * 1e-6);
}

}  // namespace scaleworth::model
