// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"

#include "probes/registry.h"
#include "src/core/error.h"
#include "src/core/lists.h"
#include "src/core/process.h"
#include "src/core/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace scaleworth::probes {
namespace {
// A batch with gaps is run again so often: once or twice may be chance of the host.
constexpr int gaps_until_smaller = 2;

BatchTiming run_once(const BatchFunction& run, int repetitions) {
  check_interrupt();
  const BatchTiming timing = run(repetitions);
  if (!std::isfinite(timing.time.value()) || timing.time.value() <= 0.0) {
    throw ProbeFailure(
        "{} operations took {} s by the GPU's clock: its events or the kernel are broken",
        repetitions,
        timing.time.value());
  }
  return timing;
}

/// A mask of NVML has fewer than 53 bits in use: exact as a double. A refused one is NaN.
std::vector<double> masks_of(const Telemetry& telemetry) {
  std::vector<double> masks;
  for (const std::int64_t mask : telemetry.clock_event_reasons) {
    masks.push_back(mask < 0 ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(mask));
  }
  return masks;
}

std::map<Metric, std::vector<double>> readings_of(const Telemetry& telemetry) {
  std::map<Metric, std::vector<double>> readings{
      {Metric::telemetry_time_s, telemetry.time_s},
      {Metric::telemetry_sm_clock_hz, telemetry.sm_clock_hz},
      {Metric::telemetry_power_w, telemetry.power_w},
      {Metric::telemetry_temperature_c, telemetry.temperature_c},
      {Metric::telemetry_clock_event_reasons, masks_of(telemetry)}};
  std::erase_if(readings, [](const auto& entry) { return entry.second.empty(); });
  return readings;
}

bool is_whole(const std::map<Metric, std::vector<double>>& readings, std::size_t index) {
  return std::ranges::all_of(readings, [&](const auto& entry) {
    return index < entry.second.size() && std::isfinite(entry.second[index]);
  });
}

void add_telemetry(const Telemetry& telemetry, Point& point) {
  const auto readings = readings_of(telemetry);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < telemetry.time_s.size(); ++i) {
    if (!is_whole(readings, i)) {
      ++left_out;
      continue;
    }
    for (const auto& [metric, values] : readings) point.samples[metric].push_back(values[i]);
  }
  if (left_out > 0)
    point.warnings.emplace_back(FindingId::readings_left_out, left_out, telemetry.time_s.size());
  if (!telemetry.missing.empty() && !telemetry.time_s.empty())
    point.warnings.emplace_back(FindingId::telemetry_ended, telemetry.missing);
  if (telemetry.pcie_generation && telemetry.pcie_width) {
    point.samples[Metric::telemetry_pcie_generation] = {double(*telemetry.pcie_generation)};
    point.samples[Metric::telemetry_pcie_width] = {double(*telemetry.pcie_width)};
  }
  if (telemetry.energy_j) point.samples[Metric::telemetry_energy_j] = {*telemetry.energy_j};
  if (telemetry.window_s > 0.0) point.samples[Metric::telemetry_window_s] = {telemetry.window_s};
}
}  // namespace

int calibrate_repetitions(const BatchFunction& run, const BatchOptions& options) {
  int repetitions = 1;
  int gaps_in_a_row = 0;
  Seconds warmed{};
  while (true) {
    const BatchTiming timing = run_once(run, repetitions);
    const double time = timing.time.value();
    warmed += Seconds(time);
    // Its time is the host's, by which the operations would seem longer and batches stay short.
    if (timing.gaps && ++gaps_in_a_row <= gaps_until_smaller) continue;
    gaps_in_a_row = 0;
    if (time >= options.batch.value() || repetitions >= options.maximum_repetitions) {
      if (warmed >= options.warm_up) break;
      continue;
    }
    // One repetition is slower than many in a row; a factor of ten keeps that error small.
    const double needed = std::ceil(repetitions * options.batch.value() / time);
    const double bounded = std::min(needed, 10.0 * repetitions);
    repetitions = std::clamp(
        static_cast<int>(bounded), repetitions + 1, std::max(1, options.maximum_repetitions));
  }
  return repetitions;
}

DeviceMeasured sample_batches(const BatchFunction& run,
                              const Target& target,
                              BatchOptions options) {
  options.batch = std::min(options.batch, fitting_sample(target));
  run_once(run, 1);
  int repetitions = options.repetitions > 0
                        ? std::min(options.repetitions, options.maximum_repetitions)
                        : calibrate_repetitions(run, options);
  std::size_t discarded = 0;
  std::size_t alone_with_gaps = 0;
  // Batches without gaps, or with as few as can be had.
  const auto next = [&] {
    BatchTiming timing = run_once(run, repetitions);
    for (int in_a_row = 1; timing.gaps && repetitions > 1; ++in_a_row) {
      ++discarded;
      if (in_a_row % gaps_until_smaller == 0) repetitions = std::max(1, repetitions / 2);
      timing = run_once(run, repetitions);
    }
    return timing;
  };
  if (options.repetitions > 0) {
    for (Seconds warmed{}; warmed < options.warm_up;) warmed += next().time;
  }

  StoppingRule rule(target);
  DeviceMeasured measured;
  while (!rule.finished()) {
    const BatchTiming timing = next();
    rule.add(timing.time / (repetitions * options.operations), timing.time);
    alone_with_gaps += timing.gaps ? 1 : 0;
    if (timing.clock_hz) measured.clock_hz.push_back(*timing.clock_hz);
  }
  measured.time_s = rule.samples();
  measured.stop_reason = {rule.explanation()};
  if (discarded > 0) {
    measured.most_at_once = repetitions;
    measured.warnings.emplace_back(FindingId::batches_left_out, discarded, measured.time_s.size());
  }
  const std::size_t samples = measured.time_s.size();
  if (alone_with_gaps > 0)
    measured.warnings.emplace_back(FindingId::samples_with_host_time, alone_with_gaps, samples);
  if (measured.clock_hz.size() < samples) {
    measured.warnings.emplace_back(
        FindingId::clock_not_counted_in, samples - measured.clock_hz.size(), samples);
    measured.clock_hz.clear();
  }
  return measured;
}

std::optional<double> clock_between(std::span<const ClockStamp> before,
                                    std::span<const ClockStamp> after,
                                    std::uint64_t batch) {
  constexpr std::uint64_t shortest_ns = 500'000;  // the timer steps by up to 1 us: 0.2 %
  std::vector<double> clocks;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const ClockStamp& first = before[i];
    const ClockStamp& last = after[i];
    if (first.batch != batch || last.batch != batch) continue;
    if (last.nanoseconds < first.nanoseconds + shortest_ns || last.cycles <= first.cycles) continue;
    clocks.push_back(1e9 * static_cast<double>(last.cycles - first.cycles) /
                     static_cast<double>(last.nanoseconds - first.nanoseconds));
  }
  if (clocks.empty()) return std::nullopt;
  const auto middle = clocks.begin() + (clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle;
}

std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> next = numbers_below<std::uint32_t>(count);
  std::mt19937_64 random(seed);
  for (std::uint32_t i = count; i-- > 1;) {
    // The bias of a remainder of 64 random bits is below 2^-32.
    std::swap(next[i], next[random() % i]);
  }
  return next;
}

std::uint32_t place_after(const std::vector<std::uint32_t>& next,
                          std::uint32_t start,
                          std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) start = next[start];
  return start;
}

Point device_point(int ordinal, Setting setting, const DeviceMeasured& measured) {
  Point point;
  point.setting = std::move(setting);
  point.setting.set(Parameter::gpu, ordinal);
  if (measured.flops.value() > 0.0) point.amounts[Metric::flops] = measured.flops.value();
  if (measured.bytes.value() > 0.0) point.amounts[Metric::bytes] = measured.bytes.value();
  point.samples[Metric::wall_s] = measured.time_s;
  if (!measured.clock_hz.empty()) point.samples[Metric::clock_hz] = measured.clock_hz;
  point.stop_reason = measured.stop_reason;
  point.warnings = measured.warnings;
  add_telemetry(measured.telemetry, point);
  return point;
}
}  // namespace scaleworth::probes
