// SPDX-License-Identifier: Apache-2.0
/// `Metric`: what a measurement or a model gives, with its unit and which way is better. `Figure`:
/// one number that a model gives, at its setting.
#pragma once

#include "src/core/estimate.h"
#include "src/core/figures/setting.h"
#include "src/core/step_ledger.h"

#include <span>

namespace scaleworth {
/// Keys, units and sentences: `info()`.
enum class Metric : std::uint8_t {
  // Exact amounts of one sample.
  flops,
  bytes,
  bytes_real,
  accesses,
  wire_bytes,
  predicted_s,
  wrong_elements,
  model_parameters,
  model_flops,
  tokens,
  gradient_bytes,
  bucket_count,
  // Samples.
  wall_s,
  cpu_s,
  time_s,
  clock_hz,
  telemetry_time_s,
  telemetry_sm_clock_hz,
  telemetry_memory_clock_hz,
  telemetry_power_w,
  telemetry_temperature_c,
  telemetry_clock_event_reasons,
  telemetry_energy_j,
  telemetry_window_s,
  telemetry_pcie_generation,
  telemetry_pcie_width,
  loss,
  step_s,
  step_ns,
  wait_ns,
  // Parts of a step, named as in `ledger_parts`.
  compute_ns,
  optimizer_ns,
  host_ns,
  progress_ns,
  exposed_transfer_ns,
  exposed_wait_ns,
  unattributed_ns,
  // Figures of models.
  operation_time,
  algorithm_bandwidth,
  bus_bandwidth,
  alpha,
  largest_bus_bandwidth,
  flop_rate,
  memory_bandwidth,
  load_latency,
  transfer_bandwidth,
  transfer_latency,
  launch_time,
  // Figures of recorded jobs.
  step_time,
  part_time,
  collective_wait,
  collective_transfer,
  saved_time
};

enum class Better : std::uint8_t { higher, lower, neither };

/// How a number of the metric is printed. Files hold base units: seconds, bytes, hertz.
enum class MetricUnit : std::uint8_t {
  one,
  seconds,
  nanoseconds,
  bytes,
  bytes_per_second,
  flops,
  flops_per_second,
  hertz,
  watts,
  joules,
  celsius
};

struct MetricInfo {
  Metric id;
  const char* key;
  MetricUnit unit;
  Better better;
  const char* sentence;
};
const MetricInfo& info(Metric metric);
/// Every metric, in the order of the enumeration.
std::span<const MetricInfo> all_metrics();
/// Absent for what is no key.
std::optional<Metric> metric_of_key(std::string_view key);
/// "s", "B/s"; empty for a plain number.
const char* unit_symbol(MetricUnit unit);

/// Of a part that the spans of our own training step have (`probe_parts`).
Metric metric_of(Part part);

/// Where a figure comes from. Two figures of one metric and setting may differ in it.
enum class Basis : std::uint8_t { measured, fitted, predicted };
template <>
inline constexpr std::array word_list<Basis>{
    Word{"measured", "measured"}, Word{"fitted", "fitted"}, Word{"predicted", "predicted"}};

/// What comparisons join.
struct Figure {
  Metric metric = Metric::bus_bandwidth;
  Setting setting;
  Basis basis = Basis::measured;
  Estimate<double> value;  // base units of the metric
  /// The same figure of each run alone, where there are several: how far they spread.
  std::vector<double> repeats{};
};
}  // namespace scaleworth
