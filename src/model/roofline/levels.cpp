// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/levels.h"

#include "src/core/statistics/quantile.h"
#include "src/core/statistics/resample.h"
#include "src/model/roofline/plateaus.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace scaleworth::model {
namespace {

Estimate<double> plateau_value(std::span<const CurveSample> points) {
  constexpr int resamples = 300;
  std::vector<MedianResampler> resamplers;
  std::vector<double> medians;
  std::size_t samples = 0;
  for (const CurveSample& point : points) {
    resamplers.emplace_back(point.values);
    medians.push_back(resamplers.back().median());
    samples += point.values.size();
  }
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, points.size() - 1);
  std::vector<double> draws;
  std::vector<double> resampled(points.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : resampled) value = resamplers[pick(random)].draw(random);
    draws.push_back(*median(resampled));
  }
  return {*median(medians), percentile_interval(draws), samples};
}

std::string cache_that_holds(Bytes working_set,
                             std::span<const CacheCapacity> caches,
                             int workers) {
  const CacheCapacity* smallest = nullptr;
  for (const CacheCapacity& cache : caches) {
    const int instances = cache.instances.value_or(workers);
    const Bytes share = cache.bytes / ((workers + instances - 1) / instances);  // rounded up
    if (working_set > share) continue;
    if (smallest == nullptr || cache.bytes < smallest->bytes) smallest = &cache;
  }
  return smallest == nullptr ? "memory" : smallest->label;
}

/// Of plateaus with one name only the widest keeps it.
void resolve_labels(std::vector<Level>& levels, std::span<const Plateau> plateaus) {
  const auto width = [&](std::size_t i) { return plateaus[i].last - plateaus[i].first; };
  std::vector<bool> keeps(levels.size(), true);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      if (i == j || levels[i].label != levels[j].label) continue;
      if (width(j) > width(i) || (width(j) == width(i) && j > i)) keeps[i] = false;
    }
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!keeps[i]) levels[i].label = "level " + std::to_string(i + 1);
  }
}

/// A coarse grid can have a single point beyond the caches. Twice their share, no part of a working
/// set that is swept in order survives there until it is needed again.
void add_memory(std::vector<Level>& levels,
                std::span<const CurveSample> curve,
                std::span<const CacheCapacity> caches,
                int workers) {
  if (curve.empty() || caches.empty()) return;
  const CurveSample& last = curve.back();
  if (cache_that_holds(last.working_set / 2.0, caches, workers) != "memory") return;
  if (!levels.empty() && levels.back().largest >= last.working_set) return;
  levels.push_back({"memory", last.working_set, last.working_set, plateau_value({&last, 1})});
}

}  // namespace

std::vector<Level> find_levels(std::span<const CurveSample> curve,
                               std::span<const CacheCapacity> caches,
                               int workers) {
  std::vector<double> logs;
  for (const CurveSample& point : curve) logs.push_back(std::log(*median(point.values)));
  const std::vector<Plateau> plateaus = find_plateaus(logs);
  std::vector<Level> levels;
  for (const Plateau& plateau : plateaus) {
    const auto points = curve.subspan(plateau.first, plateau.last - plateau.first + 1);
    const Bytes smallest = points.front().working_set;
    const Bytes largest = points.back().working_set;
    const Bytes middle(std::sqrt(smallest.value() * largest.value()));
    const std::string label = caches.empty() ? "level " + std::to_string(levels.size() + 1)
                                             : cache_that_holds(middle, caches, workers);
    levels.push_back({label, smallest, largest, plateau_value(points)});
  }
  resolve_labels(levels, plateaus);
  add_memory(levels, curve, caches, workers);
  return levels;
}

}  // namespace scaleworth::model
