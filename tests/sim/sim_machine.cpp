// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_machine.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::sim {

using namespace probes;

std::vector<FactSection> SimMachine::facts() const {
  return {{"cpu", {{"model", Value{std::string("simulated")}, "sim"}}}};
}

Bytes SimMachine::last_cache() const {
  double last = 0.0;
  for (const LevelTruth& level : truth_.levels) {
    if (std::isfinite(level.capacity_bytes)) last = std::max(last, level.capacity_bytes);
  }
  return Bytes(last);
}

std::vector<double> SimMachine::served(Bytes working_set, int workers) const {
  std::vector<double> shares;
  double left = 1.0;
  for (const LevelTruth& level : truth_.levels) {
    const double hit = std::clamp(
        2.0 - working_set.value() * (level.shared ? workers : 1) / level.capacity_bytes, 0.0, 1.0);
    shares.push_back(left * hit);
    left -= shares.back();
  }
  return shares;
}

double SimMachine::bandwidth(Bytes working_set, int workers) const {
  const std::vector<double> shares = served(working_set, workers);
  double seconds_per_byte = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    seconds_per_byte += shares[i] / truth_.levels[i].bytes_per_second;
  }
  return 1.0 / seconds_per_byte;
}

double SimMachine::latency(Bytes working_set) const {
  const std::vector<double> shares = served(working_set, 1);
  double seconds = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) seconds += shares[i] * truth_.levels[i].latency_s;
  return seconds;
}

double SimMachine::peak(NumberFormat precision) const {
  return precision == NumberFormat::fp32 ? 2.0 * truth_.fp64_flops : truth_.fp64_flops;
}

double SimMachine::soft_roof(double peak, double bandwidth, double intensity) const {
  const double p = truth_.sharpness;
  return std::pow(std::pow(peak, -p) + std::pow(bandwidth * intensity, -p), -1.0 / p);
}

Measured SimMachine::timed(double seconds, int workers, const Target& target) {
  SampledTimes times = noise_.sample(seconds, target);
  Measured measured;
  for (const double wall : times.seconds) {
    measured.samples.cpu_s.push_back(wall * workers * truth_.cpu_share);
  }
  measured.samples.wall_s = std::move(times.seconds);
  measured.samples.stop_reason = std::move(times.stop_reason);
  return measured;
}

Measured SimMachine::time_fma(const FmaWork& work, const Target& target) {
  const double share = work.isa == isas().back() ? 1.0 : truth_.narrow_isa_share;
  const double flops = 1e7 * work.workers;
  Measured measured =
      timed(flops / (share * peak(work.precision) * work.workers), work.workers, target);
  measured.flops = Flops(flops);
  return measured;
}

Measured SimMachine::time_memory(const MemoryWork& work, const Target& target) {
  // Bytes moved per byte of working set: explicit, and with the read that a cached store adds.
  struct Traffic {
    double stream;
    double real;
  };
  const auto traffic = [&]() -> Traffic {
    switch (work.kernel) {
      case MemoryKernel::read:
        return {1.0, 1.0};
      case MemoryKernel::write:
        return {1.0, work.nontemporal ? 1.0 : 2.0};
      case MemoryKernel::copy:
        return {1.0, work.nontemporal ? 1.0 : 1.5};
      case MemoryKernel::triad:
        return {1.0, work.nontemporal ? 1.0 : 4.0 / 3.0};
    }
    return {1.0, 1.0};
  }();
  const double volume = work.working_set.value() * work.workers;
  const double rate = work.workers * (work.nontemporal ? truth_.levels.back().bytes_per_second
                                                       : bandwidth(work.working_set, work.workers));
  Measured measured = timed(traffic.real * volume / rate, work.workers, target);
  measured.bytes = Bytes(traffic.stream * volume);
  measured.bytes_real = Bytes(traffic.real * volume);
  return measured;
}

Measured SimMachine::time_latency(const LatencyWork& work, const Target& target) {
  return timed(latency(work.working_set), 1, target);
}

Measured SimMachine::time_gemm(const GemmWork& work, const Target& target) {
  const double element = work.precision == NumberFormat::fp32 ? 4.0 : 8.0;
  const auto m = static_cast<double>(work.m);
  const auto n = static_cast<double>(work.n);
  const auto k = static_cast<double>(work.k);
  const auto batch = static_cast<double>(work.batch);
  const double flops = 2.0 * m * n * k * batch;
  const double bytes = element * (m * k + k * n + m * n) * batch;
  const double rate = truth_.gemm_efficiency * work.workers *
                      soft_roof(peak(work.precision),
                                bandwidth(Bytes(bytes / work.workers), work.workers),
                                flops / bytes);
  Measured measured = timed(flops / rate, work.workers, target);
  measured.flops = Flops(flops);
  measured.bytes = measured.bytes_real = Bytes(bytes);
  return measured;
}

}  // namespace scaleworth::sim
