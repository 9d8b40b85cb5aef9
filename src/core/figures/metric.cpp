// SPDX-License-Identifier: Apache-2.0
#include "src/core/figures/metric.h"

#include <array>
#include <stdexcept>

namespace scaleworth {
namespace {
using M = Metric;
using U = MetricUnit;
using B = Better;

// In the order of the enumeration.
constexpr std::array metrics{
    MetricInfo{M::flops, "flops", U::flops, B::neither, "Floating-point operations."},
    MetricInfo{M::bytes,
               "bytes",
               U::bytes,
               B::neither,
               "As STREAM counts: explicit loads and stores. Products: each matrix moved once."},
    MetricInfo{M::bytes_real,
               "bytes_real",
               U::bytes,
               B::neither,
               "With the read that a write-allocate adds."},
    MetricInfo{M::accesses, "accesses", U::one, B::neither, "Dependent loads."},
    MetricInfo{M::wire_bytes,
               "wire_bytes",
               U::bytes,
               B::neither,
               "Through the busier direction of one GPU's port, by the algorithm that ran."},
    MetricInfo{M::predicted_s,
               "predicted_s",
               U::seconds,
               B::lower,
               "What the library expects the operation to take."},
    MetricInfo{M::wrong_elements,
               "wrong_elements",
               U::one,
               B::lower,
               "Elements of the result that a check found wrong."},
    MetricInfo{M::model_parameters,
               "model_parameters",
               U::one,
               B::neither,
               "Parameters of the reference transformer."},
    MetricInfo{M::model_flops,
               "model_flops",
               U::flops,
               B::neither,
               "Of one step, all ranks: products of forward and backward, full attention."},
    MetricInfo{M::tokens, "tokens", U::one, B::neither, "Of one step, all ranks."},
    MetricInfo{M::gradient_bytes,
               "gradient_bytes",
               U::bytes,
               B::neither,
               "All-reduced per step and rank."},
    MetricInfo{M::bucket_count, "bucket_count", U::one, B::neither, "All-reduces of one step."},
    MetricInfo{M::wall_s, "wall_s", U::seconds, B::lower, "By the wall clock, or the GPU's."},
    MetricInfo{M::cpu_s, "cpu_s", U::seconds, B::lower, "Thread-CPU time, summed over workers."},
    MetricInfo{M::time_s, "time_s", U::seconds, B::lower, "Of one operation, on the slowest rank."},
    MetricInfo{M::clock_hz,
               "clock_hz",
               U::hertz,
               B::neither,
               "Of a multiprocessor, from cycles counted during the same sample."},
    MetricInfo{M::telemetry_time_s,
               "telemetry_time_s",
               U::seconds,
               B::neither,
               "When the driver's readings were taken, every 10 to 20 ms."},
    MetricInfo{M::telemetry_sm_clock_hz,
               "telemetry_sm_clock_hz",
               U::hertz,
               B::neither,
               "The driver's reading of the multiprocessors' clock."},
    MetricInfo{M::telemetry_memory_clock_hz,
               "telemetry_memory_clock_hz",
               U::hertz,
               B::neither,
               "The driver's reading of the memory clock."},
    MetricInfo{M::telemetry_power_w,
               "telemetry_power_w",
               U::watts,
               B::neither,
               "The driver's reading of the power."},
    MetricInfo{M::telemetry_temperature_c,
               "telemetry_temperature_c",
               U::celsius,
               B::neither,
               "The driver's reading of the temperature."},
    MetricInfo{M::telemetry_clock_event_reasons,
               "telemetry_clock_event_reasons",
               U::one,
               B::neither,
               "NVML's mask of what held the clock down."},
    MetricInfo{M::telemetry_energy_j,
               "telemetry_energy_j",
               U::joules,
               B::lower,
               "Of the whole window; one value."},
    MetricInfo{M::telemetry_window_s,
               "telemetry_window_s",
               U::seconds,
               B::neither,
               "Length of the window; one value."},
    MetricInfo{M::telemetry_pcie_generation,
               "telemetry_pcie_generation",
               U::one,
               B::higher,
               "The highest that the link reached in the window; one value."},
    MetricInfo{
        M::telemetry_pcie_width, "telemetry_pcie_width", U::one, B::higher, "Lanes likewise."},
    MetricInfo{
        M::loss, "loss", U::one, B::lower, "Mean training loss per step, equal on all ranks."},
    MetricInfo{M::step_s, "step_s", U::seconds, B::lower, "Of each step, on the slowest rank."},
    MetricInfo{M::step_ns,
               "step_ns",
               U::nanoseconds,
               B::lower,
               "Of each step, on this rank; the parts sum to it exactly."},
    MetricInfo{M::wait_ns,
               "wait_ns",
               U::nanoseconds,
               B::lower,
               "Of each step: the part of exposed_wait_ns spent waiting for one rank."},
    MetricInfo{M::compute_ns, "compute_ns", U::nanoseconds, B::lower, "Computation."},
    MetricInfo{M::optimizer_ns, "optimizer_ns", U::nanoseconds, B::lower, "Parameter update."},
    MetricInfo{
        M::host_ns, "host_ns", U::nanoseconds, B::lower, "Data preparation and bookkeeping."},
    MetricInfo{M::progress_ns,
               "progress_ns",
               U::nanoseconds,
               B::lower,
               "The processor drives communication between kernels."},
    MetricInfo{M::exposed_transfer_ns,
               "exposed_transfer_ns",
               U::nanoseconds,
               B::lower,
               "Only communication, after all ranks that matter had arrived."},
    MetricInfo{M::exposed_wait_ns,
               "exposed_wait_ns",
               U::nanoseconds,
               B::lower,
               "Only communication, before they had."},
    MetricInfo{
        M::unattributed_ns, "unattributed_ns", U::nanoseconds, B::lower, "What no span covers."},
    MetricInfo{M::operation_time,
               "operation_time",
               U::seconds,
               B::lower,
               "Median time of one operation, on the slowest rank."},
    MetricInfo{M::algorithm_bandwidth,
               "algorithm_bandwidth",
               U::bytes_per_second,
               B::higher,
               "Message over time, algbw of nccl-tests."},
    MetricInfo{M::bus_bandwidth,
               "bus_bandwidth",
               U::bytes_per_second,
               B::higher,
               "Algorithm bandwidth times the collective's factor, busbw of nccl-tests."},
    MetricInfo{M::alpha,
               "alpha",
               U::seconds,
               B::lower,
               "Time of an operation without bytes, as fitted (Hockney 1994)."},
    MetricInfo{M::largest_bus_bandwidth,
               "largest_bus_bandwidth",
               U::bytes_per_second,
               B::higher,
               "Median of the bus bandwidths at sizes within 8x of the largest."},
    MetricInfo{M::flop_rate,
               "flop_rate",
               U::flops_per_second,
               B::higher,
               "Of multiply-adds on registers, or of a library's product of matrices."},
    MetricInfo{M::memory_bandwidth,
               "memory_bandwidth",
               U::bytes_per_second,
               B::higher,
               "STREAM bytes over time, of working sets on one level."},
    MetricInfo{M::load_latency,
               "load_latency",
               U::seconds,
               B::lower,
               "One load that depends on the one before, of working sets on one level."},
    MetricInfo{M::transfer_bandwidth,
               "transfer_bandwidth",
               U::bytes_per_second,
               B::higher,
               "At the largest size, all directions together."},
    MetricInfo{M::transfer_latency,
               "transfer_latency",
               U::seconds,
               B::lower,
               "Time of a transfer without bytes, as fitted."},
    MetricInfo{M::launch_time,
               "launch_time",
               U::seconds,
               B::lower,
               "One launch of a kernel, as its kind says."},
    MetricInfo{M::step_time,
               "step_time",
               U::seconds,
               B::lower,
               "Of a recorded step, mean over steps and ranks."},
    MetricInfo{M::part_time,
               "part_time",
               U::seconds,
               B::lower,
               "Of a part of it, likewise; the parts add up to step_time."},
    MetricInfo{M::collective_wait,
               "collective_wait",
               U::seconds,
               B::lower,
               "Waiting in collectives of one kind, hidden or not, per step and rank."},
    MetricInfo{M::collective_transfer,
               "collective_transfer",
               U::seconds,
               B::lower,
               "The rest of their time, what may be waiting included, likewise."},
    MetricInfo{M::saved_time,
               "saved_time",
               U::seconds,
               B::lower,
               "What a step is shorter without a straggler's lateness, by a replay."}};

static_assert(ids_in_order(metrics) && metrics.back().id == M::saved_time);
}  // namespace

const MetricInfo& info(Metric metric) {
  return metrics.at(static_cast<std::size_t>(metric));
}

std::span<const MetricInfo> all_metrics() {
  return metrics;
}

std::optional<Metric> metric_of_key(std::string_view key) {
  const auto* found = find_in(metrics, key, &MetricInfo::key);
  return found == nullptr ? std::nullopt : std::optional(found->id);
}

const char* unit_symbol(MetricUnit unit) {
  // In the order of the enumeration.
  return std::array{"", "s", "ns", "B", "B/s", "FLOP", "FLOP/s", "Hz", "W", "J", "C"}.at(
      static_cast<std::size_t>(unit));
}

Metric metric_of(Part part) {
  switch (part) {
    case Part::compute:
      return M::compute_ns;
    case Part::optimizer:
      return M::optimizer_ns;
    case Part::host:
      return M::host_ns;
    case Part::progress:
      return M::progress_ns;
    case Part::exposed_transfer:
      return M::exposed_transfer_ns;
    case Part::exposed_wait:
      return M::exposed_wait_ns;
    case Part::unattributed:
      return M::unattributed_ns;
    default:
      throw std::invalid_argument("the spans of a step have no such part");
  }
}
}  // namespace scaleworth
