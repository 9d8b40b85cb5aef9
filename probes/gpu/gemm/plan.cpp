// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/plan.h"

#include <algorithm>
#include <tuple>

namespace scaleworth::probes {
namespace {

/// Allocating, filling and describing the operands of one product, and asking for algorithms.
constexpr Seconds open_time{0.1};
/// Loading the kernel of a candidate at its first call.
constexpr Seconds load_time{0.01};
constexpr Seconds verify_time{0.05};
/// Proposals that libraries really give, of those asked for.
constexpr int usual_proposals = 32;
constexpr Seconds duty_cycled_time{0.15};
constexpr Seconds trial_time{0.25};
constexpr std::size_t usual_trials = 12;

bool is_fp8(NumberFormat format) {
  return format == NumberFormat::fp8_e4m3 || format == NumberFormat::fp8_e5m2;
}

/// Compute capabilities at which precise accumulation is slower, so that both are worth measuring.
bool accumulates_fast(int compute_capability) {
  return compute_capability == 89 || compute_capability == 90;
}

}  // namespace

std::vector<GemmFormat> gemm_formats(Suite suite, int compute_capability) {
  const NumberFormat half =
      has_format(NumberFormat::bf16, compute_capability) ? NumberFormat::bf16 : NumberFormat::fp16;
  const NumberFormat other_half =
      half == NumberFormat::bf16 ? NumberFormat::fp16 : NumberFormat::bf16;
  std::vector<NumberFormat> order{
      half, NumberFormat::fp8_e4m3, NumberFormat::tf32, NumberFormat::fp32};
  if (suite == Suite::standard) {
    order.insert(order.end(),
                 {other_half,
                  NumberFormat::fp8_e5m2,
                  NumberFormat::fp8_block,
                  NumberFormat::int8,
                  NumberFormat::fp64,
                  NumberFormat::mxfp8,
                  NumberFormat::nvfp4});
  }
  std::vector<GemmFormat> formats;
  for (const NumberFormat format : order) {
    if (!has_format(format, compute_capability)) continue;
    formats.push_back({format, true});
    if (suite == Suite::standard && is_fp8(format) && accumulates_fast(compute_capability)) {
      formats.push_back({format, false});
    }
  }
  return formats;
}

bool is_leading(const GemmFormat& format) {
  return format.input == NumberFormat::bf16 ||
         (format.input == NumberFormat::fp8_e4m3 && format.fast_accumulation);
}

GemmEffort gemm_effort(Suite suite, bool leading) {
  GemmEffort effort;
  effort.brief = {.wanted = 16, .large_workspace = false, .coarse_limit = Seconds(0.5), .kept = 2};
  if (suite == Suite::quick) {
    effort.reference = {.wanted = 32, .coarse_limit = Seconds(1.0), .kept = 3};
    effort.best_shape = effort.brief;
    effort.settle = {.minimum = Seconds(1.0), .maximum = Seconds(3.0), .window = Seconds(1.0)};
    effort.pause = Seconds(0.5);
    effort.steady = Seconds(1.5);
    effort.brief_steady = Seconds(0.5);
    effort.shape_search = leading ? Seconds(8.0) : Seconds(2.0);
    effort.shape_trials = leading ? 20 : 5;
    return effort;
  }
  effort.steady = leading ? Seconds(5.0) : Seconds(2.5);
  if (!leading) effort.settle.minimum = Seconds(2.0);
  effort.shape_search = leading ? Seconds(30.0) : Seconds(5.0);
  effort.shape_trials = leading ? 80 : 12;
  return effort;
}

std::vector<std::vector<std::size_t>> device_kinds(const std::vector<DeviceDescription>& devices) {
  const auto kind = [&](std::size_t index) {
    const DeviceDescription& device = devices[index];
    return std::tuple(device.name, device.multiprocessors, device.memory.value());
  };
  std::vector<std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& equal) {
      return kind(equal.front()) == kind(i);
    });
    if (known == kinds.end()) {
      kinds.push_back({i});
    } else {
      known->push_back(i);
    }
  }
  return kinds;
}

std::vector<std::size_t> representative_devices(const std::vector<DeviceDescription>& devices) {
  std::vector<std::size_t> chosen;
  for (const auto& equal : device_kinds(devices)) chosen.push_back(equal.front());
  return chosen;
}

Seconds search_time(const SearchEffort& effort) {
  const double proposals = std::min(effort.wanted, usual_proposals);
  const double finalists = static_cast<double>(effort.kept);
  const Seconds coarse =
      std::min(proposals * (load_time + 1.5 * effort.coarse), effort.coarse_limit);
  const Seconds fine = static_cast<double>(effort.rounds) * (effort.fine_sample + effort.coarse);
  return open_time + effort.wake_up + coarse + finalists * (verify_time + fine);
}

Seconds format_time(const GemmEffort& effort, Suite suite) {
  const double other_cubes = suite == Suite::standard ? 2.0 : 1.0;
  const double trials = static_cast<double>(std::min(effort.shape_trials, usual_trials));
  const Seconds settled = effort.settle.minimum;
  return search_time(effort.reference) + search_time(effort.best_shape) + effort.pause +
         burst_time + settled + effort.steady + 2.0 * duty_cycled_time +
         other_cubes * (search_time(effort.brief) + effort.brief_steady) +
         std::min(effort.shape_search, trials * trial_time);
}

Seconds own_product_time(const GemmEffort& effort) {
  return search_time(effort.reference) + effort.settle.minimum + effort.steady;
}

}  // namespace scaleworth::probes
