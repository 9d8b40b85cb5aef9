// SPDX-License-Identifier: Apache-2.0
#include "src/core/figures/metric.h"

#include <array>
#include <stdexcept>

namespace scaleworth {
namespace {
using M = Metric;
using U = MetricUnit;

/// Neither more nor less of it is better.
constexpr MetricInfo amount(M id, const char* key, U unit, const char* sentence) {
  return {id, key, unit, Better::neither, sentence};
}

constexpr MetricInfo cost(M id, const char* key, U unit, const char* sentence) {
  return {id, key, unit, Better::lower, sentence};
}

constexpr MetricInfo seconds(M id, const char* key, const char* sentence) {
  return cost(id, key, U::seconds, sentence);
}

constexpr MetricInfo nanoseconds(M id, const char* key, const char* sentence) {
  return cost(id, key, U::nanoseconds, sentence);
}

constexpr MetricInfo rate(M id, const char* key, U unit, const char* sentence) {
  return {id, key, unit, Better::higher, sentence};
}

// In the order of the enumeration.
constexpr std::array metrics{
    amount(M::flops, "flops", U::flops, "Floating-point operations."),
    amount(M::bytes,
           "bytes",
           U::bytes,
           "As STREAM counts: explicit loads and stores. Products: each matrix moved once."),
    amount(M::bytes_real, "bytes_real", U::bytes, "With the read that a write-allocate adds."),
    amount(M::accesses, "accesses", U::one, "Dependent loads."),
    amount(M::wire_bytes,
           "wire_bytes",
           U::bytes,
           "Through the busier direction of one GPU's port, by the algorithm that ran."),
    seconds(M::predicted_s, "predicted_s", "What the library expects the operation to take."),
    cost(M::wrong_elements,
         "wrong_elements",
         U::one,
         "Elements of the result that a check found wrong."),
    amount(M::model_parameters,
           "model_parameters",
           U::one,
           "Parameters of the reference transformer."),
    amount(M::model_flops,
           "model_flops",
           U::flops,
           "Of one step, all ranks: products of forward and backward, full attention."),
    amount(M::tokens, "tokens", U::one, "Of one step, all ranks."),
    amount(M::gradient_bytes, "gradient_bytes", U::bytes, "All-reduced per step and rank."),
    amount(M::bucket_count, "bucket_count", U::one, "All-reduces of one step."),
    seconds(M::wall_s, "wall_s", "By the wall clock, or the GPU's."),
    seconds(M::cpu_s, "cpu_s", "Thread-CPU time, summed over workers."),
    seconds(M::time_s, "time_s", "Of one operation, on the slowest rank."),
    amount(M::clock_hz,
           "clock_hz",
           U::hertz,
           "Of a multiprocessor, from cycles counted during the same sample."),
    amount(M::telemetry_time_s,
           "telemetry_time_s",
           U::seconds,
           "When the driver's readings were taken, every 10 to 20 ms."),
    amount(M::telemetry_sm_clock_hz,
           "telemetry_sm_clock_hz",
           U::hertz,
           "The driver's reading of the multiprocessors' clock."),
    amount(M::telemetry_memory_clock_hz,
           "telemetry_memory_clock_hz",
           U::hertz,
           "The driver's reading of the memory clock."),
    amount(
        M::telemetry_power_w, "telemetry_power_w", U::watts, "The driver's reading of the power."),
    amount(M::telemetry_temperature_c,
           "telemetry_temperature_c",
           U::celsius,
           "The driver's reading of the temperature."),
    amount(M::telemetry_clock_event_reasons,
           "telemetry_clock_event_reasons",
           U::one,
           "NVML's mask of what held the clock down."),
    cost(M::telemetry_energy_j, "telemetry_energy_j", U::joules, "Of the whole window; one value."),
    amount(M::telemetry_window_s,
           "telemetry_window_s",
           U::seconds,
           "Length of the window; one value."),
    rate(M::telemetry_pcie_generation,
         "telemetry_pcie_generation",
         U::one,
         "The highest that the link reached in the window; one value."),
    rate(M::telemetry_pcie_width, "telemetry_pcie_width", U::one, "Lanes likewise."),
    cost(M::loss, "loss", U::one, "Mean training loss per step, equal on all ranks."),
    seconds(M::step_s, "step_s", "Of each step, on the slowest rank."),
    nanoseconds(M::step_ns, "step_ns", "Of each step, on this rank; the parts sum to it exactly."),
    nanoseconds(M::wait_ns,
                "wait_ns",
                "Of each step: the part of exposed_wait_ns spent waiting for one rank."),
    nanoseconds(M::compute_ns, "compute_ns", "Computation."),
    nanoseconds(M::optimizer_ns, "optimizer_ns", "Parameter update."),
    nanoseconds(M::host_ns, "host_ns", "Data preparation and bookkeeping."),
    nanoseconds(
        M::progress_ns, "progress_ns", "The processor drives communication between kernels."),
    nanoseconds(M::exposed_transfer_ns,
                "exposed_transfer_ns",
                "Only communication, after all ranks that matter had arrived."),
    nanoseconds(M::exposed_wait_ns, "exposed_wait_ns", "Only communication, before they had."),
    nanoseconds(M::unattributed_ns, "unattributed_ns", "What no span covers."),
    seconds(
        M::operation_time, "operation_time", "Median time of one operation, on the slowest rank."),
    rate(M::algorithm_bandwidth,
         "algorithm_bandwidth",
         U::bytes_per_second,
         "Message over time, algbw of nccl-tests."),
    rate(M::bus_bandwidth,
         "bus_bandwidth",
         U::bytes_per_second,
         "Algorithm bandwidth times the collective's factor, busbw of nccl-tests."),
    seconds(M::alpha, "alpha", "Time of an operation without bytes, as fitted (Hockney 1994)."),
    rate(M::largest_bus_bandwidth,
         "largest_bus_bandwidth",
         U::bytes_per_second,
         "Median of the bus bandwidths at sizes within 8x of the largest."),
    rate(M::flop_rate,
         "flop_rate",
         U::flops_per_second,
         "Of multiply-adds on registers, or of a library's product of matrices."),
    rate(M::memory_bandwidth,
         "memory_bandwidth",
         U::bytes_per_second,
         "STREAM bytes over time, of working sets on one level."),
    seconds(M::load_latency,
            "load_latency",
            "One load that depends on the one before, of working sets on one level."),
    rate(M::transfer_bandwidth,
         "transfer_bandwidth",
         U::bytes_per_second,
         "At the largest size, all directions together."),
    seconds(
        M::transfer_latency, "transfer_latency", "Time of a transfer without bytes, as fitted."),
    seconds(M::launch_time, "launch_time", "One launch of a kernel, as its kind says."),
    seconds(M::step_time, "step_time", "Of a recorded step, mean over steps and ranks."),
    seconds(M::part_time, "part_time", "Of a part of it, likewise; the parts add up to step_time."),
    seconds(M::collective_wait,
            "collective_wait",
            "Waiting in collectives of one kind, hidden or not, per step and rank."),
    seconds(M::collective_transfer,
            "collective_transfer",
            "The rest of their time, what may be waiting included, likewise."),
    seconds(M::saved_time,
            "saved_time",
            "What a step is shorter without a straggler's lateness, by a replay.")};
static_assert(ids_in_order(metrics) && metrics.back().id == M::saved_time);
}  // namespace

const MetricInfo& info(Metric metric) {
  return metrics.at(index_of(metric));
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
  const auto metric = metric_of_key(ledger_parts[index_of(part)].time_key);
  if (metric) return *metric;
  throw std::invalid_argument("the spans of a step have no such part");
}
}  // namespace scaleworth
