// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/samples.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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
  Repetitions all;
  Repetitions calm;
  for (std::size_t i = 0; i < wall.size(); ++i) {
    if (!usable(wall[i])) continue;
    all.wall_s.push_back(wall[i]);
    if (cpu != nullptr && i < cpu->size() && (*cpu)[i] >= contended_below * workers * wall[i]) {
      calm.wall_s.push_back(wall[i]);
    }
  }
  if (cpu == nullptr) return all;
  if (calm.wall_s.size() == all.wall_s.size() || calm.wall_s.size() >= enough) return calm;
  all.contended = true;
  return all;
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
