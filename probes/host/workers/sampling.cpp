// SPDX-License-Identifier: Apache-2.0
#include "probes/host/workers/sampling.h"

#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"
#include "src/core/statistics/warnings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <time.h>

namespace scaleworth::probes::host {
namespace {

constexpr double shortest_sample_s = 1e-3;  // the start gate's skew stays below 0.1 % of it
constexpr double longest_sample_s = 20e-3;  // more, shorter samples give the better median
constexpr double uncontended_share = 0.98;  // of the wall time, spent on a CPU

double clock_resolution_s() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

TeamTiming run_units(WorkerTeam& team, const UnitWork& work, std::int64_t units) {
  return team.run([&](int worker) { work.run(worker, units); });
}

/// Units that last about `goal`.
std::int64_t calibrate(WorkerTeam& team, const UnitWork& work, Seconds goal) {
  std::int64_t units = 1;
  while (true) {
    check_interrupt();
    const double share = run_units(team, work, units).wall / goal;
    const auto scaled = [&](double factor) {
      return std::max<std::int64_t>(1, std::llround(static_cast<double>(units) * factor));
    };
    if (share >= 0.5 || units > (std::int64_t{1} << 50)) return scaled(1.0 / share);
    // A cold first run says little: grow at most tenfold per step.
    units = std::max(units + 1, scaled(std::min(10.0, 1.0 / std::max(share, 1e-9))));
  }
}

void note_contention(Samples& samples, int workers) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < samples.wall_s.size(); ++i) {
    shares.push_back(samples.cpu_s[i] / (workers * samples.wall_s[i]));
  }
  const double share = median(shares).value_or(1.0);
  if (share >= uncontended_share) return;
  samples.warnings.push_back(
      fmt::format("contended: the workers had a CPU for {:.0f} % of the time, so wall-clock rates "
                  "are no ceiling",
                  100.0 * share));
}

}  // namespace

Seconds sample_duration(const Target& target) {
  const double fitting = 0.7 * target.time_budget.value() /
                         static_cast<double>(std::max<std::size_t>(1, target.minimum_samples));
  return Seconds(std::max(std::clamp(fitting, shortest_sample_s, longest_sample_s),
                          100.0 * clock_resolution_s()));
}

Samples take_samples(WorkerTeam& team,
                     const UnitWork& work,
                     const Target& target,
                     std::int64_t* last_units) {
  const std::int64_t units = calibrate(team, work, sample_duration(target));
  const double operations = static_cast<double>(units) / work.units_per_operation;
  StoppingRule rule(target);
  Samples samples;
  while (!rule.finished()) {
    check_interrupt();
    const TeamTiming timing = run_units(team, work, units);
    rule.add(timing.wall / operations, timing.wall);
    samples.cpu_s.push_back(timing.cpu.value() / operations);
  }
  samples.wall_s = rule.samples();
  samples.stop_reason = rule.explanation();
  samples.warnings = sample_warnings(samples.wall_s);
  note_contention(samples, team.size());
  if (last_units != nullptr) *last_units = units;
  return samples;
}

}  // namespace scaleworth::probes::host
