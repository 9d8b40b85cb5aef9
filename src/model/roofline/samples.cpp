// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/samples.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

bool usable(double time) {
  return std::isfinite(time) && time > 0.0;
}

const std::vector<double>* cpu_series(const Point& point) {
  const auto found = point.samples.find(fields::cpu_s);
  return found == point.samples.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace

std::vector<double> usable_times(const Point& point, const std::string& name) {
  std::vector<double> times;
  std::copy_if(
      series(point, name).begin(), series(point, name).end(), std::back_inserter(times), usable);
  return times;
}

std::vector<double> cpu_shares(const Point& point, int workers) {
  std::vector<double> shares;
  const std::vector<double>* cpu = cpu_series(point);
  if (cpu == nullptr) return shares;
  const std::vector<double>& wall = series(point, fields::wall_s);
  for (std::size_t i = 0; i < std::min(wall.size(), cpu->size()); ++i) {
    if (usable(wall[i]) && usable((*cpu)[i])) shares.push_back((*cpu)[i] / (workers * wall[i]));
  }
  return shares;
}

Repetitions undisturbed(const Point& point, int workers) {
  constexpr std::size_t enough = 6;
  const std::vector<double>& wall = series(point, fields::wall_s);
  const std::vector<double>* cpu = cpu_series(point);
  if (cpu == nullptr) return {usable_times(point, fields::wall_s), false};
  std::vector<double> calm;
  std::vector<double> cpu_per_worker;
  for (std::size_t i = 0; i < std::min(wall.size(), cpu->size()); ++i) {
    if (!usable(wall[i]) || !usable((*cpu)[i])) continue;
    cpu_per_worker.push_back((*cpu)[i] / workers);
    if (cpu_per_worker.back() >= contended_below * wall[i]) calm.push_back(wall[i]);
  }
  if (calm.size() == cpu_per_worker.size() || calm.size() >= enough) return {calm, false};
  return {cpu_per_worker, true};
}

void warn_contended(const std::string& what,
                    std::size_t contended,
                    std::vector<std::string>& warnings) {
  if (contended == 0) return;
  warnings.push_back(fmt::format(
      "{} {} point{} measured while other work held the cores: by thread-CPU time; that "
      "work's use of shared caches and memory remains in them",
      contended,
      what,
      contended == 1 ? " was" : "s were"));
}

Estimate<double> rate_estimate(double amount, std::span<const double> times) {
  return transform_decreasing(median_estimate(times), [=](double time) { return amount / time; });
}

std::vector<double> rates(double amount, std::span<const double> times) {
  std::vector<double> result;
  result.reserve(times.size());
  for (const double time : times) result.push_back(amount / time);
  return result;
}

}  // namespace scaleworth::model
