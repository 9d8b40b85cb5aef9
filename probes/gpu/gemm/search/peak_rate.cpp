// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/search/peak_rate.h"

#include <array>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// Event and clock readings together are better than this.
constexpr double tolerated_excess = 1.005;

/// Absent numbers are 0.
struct ClockFlops {
  int compute_capability;
  double bf16, fp8, int8, tf32, fp32, fp64, fp4;
};
constexpr std::array known{ClockFlops{80, 2048, 0, 4096, 1024, 128, 128, 0},
                           ClockFlops{89, 1024, 2048, 2048, 512, 256, 0, 0},
                           ClockFlops{90, 4096, 8192, 8192, 2048, 256, 256, 0},
                           ClockFlops{100, 8192, 16384, 0, 4096, 256, 0, 32768}};

double flops_of(const ClockFlops& row, NumberFormat format) {
  switch (format) {
    case NumberFormat::fp64:
      return row.fp64;
    case NumberFormat::fp32:
      return row.fp32;
    case NumberFormat::tf32:
      return row.tf32;
    case NumberFormat::bf16:
    case NumberFormat::fp16:
      return row.bf16;
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
    case NumberFormat::fp8_block:
    case NumberFormat::mxfp8:
      return row.fp8;
    case NumberFormat::int8:
      return row.int8;
    case NumberFormat::nvfp4:
      return row.fp4;
  }
  return 0.0;
}

}  // namespace

std::optional<double> flops_per_clock(NumberFormat format, int compute_capability) {
  for (const ClockFlops& row : known) {
    if (row.compute_capability != compute_capability) continue;
    const double flops = flops_of(row, format);
    if (flops > 0.0) return flops;
  }
  return std::nullopt;
}

std::optional<FlopPerSecond> greatest_rate(const DeviceDescription& device, NumberFormat format) {
  const std::optional<double> flops = flops_per_clock(format, device.compute_capability);
  if (!flops || !device.maximum_clock_hz || device.multiprocessors <= 0) return std::nullopt;
  return FlopPerSecond(*flops * device.multiprocessors * *device.maximum_clock_hz);
}

std::optional<std::string> impossible_rate(const DeviceDescription& device,
                                           NumberFormat format,
                                           FlopPerSecond rate) {
  const std::optional<FlopPerSecond> greatest = greatest_rate(device, format);
  if (!greatest || rate <= *greatest * tolerated_excess) return std::nullopt;
  const double clock_mhz = *device.maximum_clock_hz * 1e-6;
  return fmt::format(
      "invalid: {:.4g} TFLOP/s exceed the {:.4g} that {} multiprocessors can reach at their "
      "maximum of {:.0f} MHz: a wrong event time, a wrong result or an emulated format",
      rate.value() * 1e-12,
      greatest->value() * 1e-12,
      device.multiprocessors,
      clock_mhz);
}

}  // namespace scaleworth::probes
