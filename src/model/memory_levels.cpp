// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/statistics/sampling.h"
#include "src/model/roofline.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <random>

namespace scaleworth::model {
namespace {
using CurveKey = std::pair<ByWord<StreamKernel>, int>;  // kernel, workers
using Curve = std::map<double, Series>;                 // working set in bytes to values

std::vector<CurveSample> samples_of(const Curve& curve) {
  return mapped(curve, [](const auto& at) { return CurveSample{Bytes(at.first), at.second}; });
}

Estimate<double> plateau_value(std::span<const CurveSample> points) {
  constexpr int resamples = 300;  // an end is then good to 4 % of the interval's width
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
  Estimate<double> value{*median(medians), percentile_interval(draws), samples};
  for (const CurveSample& point : points) {
    const Series second = of_look(point.values, true);
    if (second.empty()) continue;
    const Estimate<double> again = series_estimate(second);
    if (again.low() > value.high() || again.high() < value.low())
      value.interval = hull(value.interval, Interval<double>{again.value, again.value});
  }
  return value;
}

constexpr std::size_t between = std::numeric_limits<std::size_t>::max();
constexpr LevelName memory_level{MemoryLevelName::memory};

/// What all workers together can keep in the caches of one level.
Bytes kept(const CacheCapacity& cache, int workers) {
  return cache.bytes * static_cast<double>(std::min(cache.instances.value_or(workers), workers));
}

/// The level that keeps most: many second-level caches can hold more than the last one.
const CacheCapacity& largest_level(std::span<const CacheCapacity> caches, int workers) {
  return *std::ranges::max_element(
      caches, {}, [=](const CacheCapacity& cache) { return kept(cache, workers); });
}

/// The index of the smallest cache whose share holds the working set, their number for memory.
std::size_t place_of(Bytes working_set, std::span<const CacheCapacity> caches, int workers) {
  constexpr double rounding = 0.999;  // probes cut sets to whole KiB
  if (caches.empty()) return 0;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const int instances = caches[i].instances.value_or(workers);
    const int sharing = (workers + instances - 1) / instances;  // rounded up
    if (working_set <= caches[i].bytes / sharing) return i;
  }
  const bool beyond = working_set * workers >=
                      rounding * memory_multiple * kept(largest_level(caches, workers), workers);
  return beyond ? caches.size() : between;
}

LevelName numbered(std::size_t number) {
  return {.number = static_cast<int>(number)};
}

/// Of plateaus with one name only the widest, of equals the last, keeps it.
void resolve_names(std::vector<Level>& levels, std::span<const Plateau> plateaus) {
  const auto width = [&](std::size_t i) { return plateaus[i].last - plateaus[i].first; };
  std::map<LevelName, std::size_t> keeper;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::size_t& kept = keeper.try_emplace(levels[i].name, i).first->second;
    if (width(i) >= width(kept)) kept = i;
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (keeper.at(levels[i].name) != i) levels[i].name = numbered(i + 1);
  }
}

/// A coarse grid can have a single point in memory, and no plateau there.
void add_memory(std::vector<Level>& levels, std::span<const CurveSample> memory) {
  if (memory.empty() || std::ranges::count(levels, memory_level, &Level::name) > 0) return;
  levels.push_back(
      {memory_level, memory.front().working_set, memory.back().working_set, plateau_value(memory)});
}

/// Why the largest sets of so many workers are no measure of memory; only asked where they are not.
Finding no_memory(Bytes largest, std::span<const CacheCapacity> caches, int workers) {
  constexpr double mebibyte = 1 << 20;
  const CacheCapacity& level = largest_level(caches, workers);
  return {FindingId::memory_not_reached,
          workers,
          largest.value() * workers / mebibyte,
          memory_multiple,
          kept(level, workers).value() / mebibyte,
          word_of(level.name)};
}

// Presumed: the 1.5 ln(n) of communication_fit.cpp at 55 sizes. Less splits one level by noise,
// more joins two that are close.
constexpr double plateau_cost = 6.0;
constexpr double transition_cost = 4.0;  // a point 2.8 sigma off stops belonging to its plateau
constexpr std::size_t least_points = 2;  // of a level: one size alone is a point between two
constexpr double least_noise = 0.03;     // drift within one level
const double least_step = std::log(1.15);

double huber(double residual) {
  constexpr double corner = 3.0;  // sigmas: farther points pull no plateau
  const double size = std::abs(residual);
  return size <= corner ? 0.5 * size * size : corner * (size - 0.5 * corner);
}

double stretch_cost(std::span<const double> logs, double sigma) {
  const double height = *median(logs);
  double cost = plateau_cost;
  for (const double y : logs) cost += huber((y - height) / sigma);
  return cost;
}

/// Whether two points may be on one plateau.
bool same_place(std::span<const std::size_t> places, std::size_t first, std::size_t last) {
  return places.empty() || (places[first] == places[last] && places[first] != between);
}

/// start[j]: where the last stretch before point j begins; j - 1 itself for a transition point.
std::vector<std::size_t> best_starts(std::span<const double> logs,
                                     std::span<const std::size_t> places,
                                     double sigma) {
  const std::size_t n = logs.size();
  std::vector<double> cost(n + 1, std::numeric_limits<double>::max());
  std::vector<std::size_t> start(n + 1, 0);
  cost[0] = 0.0;
  for (std::size_t end = 1; end <= n; ++end) {
    cost[end] = cost[end - 1] + transition_cost;
    start[end] = end - 1;
    for (std::size_t begin = 0; begin + least_points <= end; ++begin) {
      if (!same_place(places, begin, end - 1)) continue;
      const double total = cost[begin] + stretch_cost(logs.subspan(begin, end - begin), sigma);
      if (!(total < cost[end])) continue;
      cost[end] = total;
      start[end] = begin;
    }
  }
  return start;
}

/// Joins neighbours that are no 15 % apart; a stray point between them goes along.
std::vector<Plateau> merge_similar(std::span<const double> logs,
                                   std::span<const std::size_t> places,
                                   std::vector<Plateau> plateaus) {
  for (std::size_t i = 0; i + 1 < plateaus.size();) {
    Plateau& left = plateaus[i];
    const Plateau& right = plateaus[i + 1];
    if (std::abs(left.height - right.height) >= least_step ||
        !same_place(places, left.first, right.last)) {
      ++i;
      continue;
    }
    left.last = right.last;
    left.height = *median(logs.subspan(left.first, left.last - left.first + 1));
    plateaus.erase(plateaus.begin() + i + 1);
    if (i > 0) --i;
  }
  return plateaus;
}
}  // namespace

std::string word_of(const LevelName& name) {
  return name.known ? word_of(*name.known) : fmt::format("level {}", name.number);
}

std::string word_of(const StreamKernel& stream) {
  return std::string(stream.nontemporal ? "non-temporal " : "") + word_of(stream.kernel);
}

void analyse_memory(const ProbeRecord& probe,
                    std::span<const CacheCapacity> caches,
                    RooflineResult& result) {
  std::map<CurveKey, Curve> curves;
  std::size_t contended = 0;
  for (const Point& point : probe.points) {
    MemoryPoint measured;
    measured.stream = {symbol_parameter<MemoryKernel>(point, Parameter::kernel),
                       flag_parameter(point, Parameter::nontemporal)};
    measured.workers = count_parameter(point, Parameter::workers);
    measured.working_set =
        Bytes(static_cast<double>(integer_parameter(point, Parameter::working_set_bytes)));
    const Repetitions repetitions = undisturbed(point, measured.workers);
    if (repetitions.times_s.empty()) continue;
    contended += repetitions.contended ? 1 : 0;
    const double bytes = amount(point, Metric::bytes);
    measured.rate = as<BytesPerSecond>(rate_estimate(bytes, repetitions.times_s));
    const double moved = amount_of(point, Metric::bytes_real).value_or(bytes);
    measured.real_rate = as<BytesPerSecond>(rate_estimate(moved, repetitions.times_s));
    curves[{{measured.stream}, measured.workers}][measured.working_set.value()].append(
        rates(bytes, repetitions.times_s));
    result.memory.push_back(std::move(measured));
  }
  warn_contended("memory", contended, result.warnings);
  std::map<int, Bytes> missing;  // largest sets of the worker counts without a level of memory
  for (const auto& [key, curve] : curves) {
    const int workers = key.second;
    const StreamKernel& stream = key.first.value;
    const Bytes largest(curve.rbegin()->first);
    if (!caches.empty() && place_of(largest, caches, workers) != caches.size()) {
      missing[workers] = std::max(missing[workers], largest);
    }
    for (const Level& level : find_levels(samples_of(curve), caches, workers)) {
      // Stores past the caches have one level, whatever the working set.
      if (stream.nontemporal && level.name != memory_level) continue;
      result.memory_levels.push_back({level_as<BytesPerSecond>(level), stream, workers});
    }
  }
  for (const auto& [workers, largest] : missing) {
    if (memory_rate(result.memory_levels, workers) != nullptr) continue;
    result.warnings.push_back(no_memory(largest, caches, workers));
  }
}

const MemoryLevel* memory_rate(std::span<const MemoryLevel> levels, int workers) {
  const auto place = [](const MemoryLevel& level) {
    const MemoryKernel kernel = level.stream.kernel;
    return std::pair(kernel == MemoryKernel::copy || kernel == MemoryKernel::triad,
                     level.value.value);
  };
  const MemoryLevel* best = nullptr;
  for (const MemoryLevel& level : levels) {
    if (level.name != memory_level || level.workers != workers) continue;
    if (best == nullptr || place(*best) < place(level)) best = &level;
  }
  return best;
}

void analyse_latency(const ProbeRecord& probe,
                     std::span<const CacheCapacity> caches,
                     RooflineResult& result) {
  Curve curve;
  std::size_t contended = 0;
  for (const Point& point : probe.points) {
    const auto bytes = static_cast<double>(integer_parameter(point, Parameter::working_set_bytes));
    const Repetitions repetitions = undisturbed(point, 1);
    if (repetitions.times_s.empty()) continue;
    contended += repetitions.contended ? 1 : 0;
    curve[bytes].append(repetitions.times_s);
  }
  warn_contended("latency", contended, result.warnings);
  for (const auto& [bytes, times] : curve) {
    result.latency.push_back({Bytes(bytes), as<Seconds>(series_estimate(times))});
  }
  for (const Level& level : find_levels(samples_of(curve), caches, 1)) {
    result.latency_levels.push_back({level_as<Seconds>(level)});
  }
}

std::optional<BandwidthAt> bandwidth_at(std::span<const MemoryPoint> points,
                                        int workers,
                                        Bytes footprint) {
  std::map<ByWord<StreamKernel>, std::map<double, double>> curves;
  for (const MemoryPoint& point : points) {
    if (point.workers != workers) continue;
    curves[{point.stream}][point.working_set.value() * workers] = point.real_rate.value.value();
  }
  if (curves.empty()) return std::nullopt;
  BandwidthAt best;
  for (const auto& [kernel, curve] : curves) {
    const auto above = curve.lower_bound(footprint.value());
    const auto& high = above == curve.end() ? *std::prev(above) : *above;
    const auto& low = above == curve.begin() ? *above : *std::prev(above);
    const double share = high.first > low.first ? std::log(footprint.value() / low.first) /
                                                      std::log(high.first / low.first)
                                                : 0.0;
    const double rate = low.second * std::pow(high.second / low.second, share);
    best.likely = std::max(best.likely, BytesPerSecond(rate));
    best.bound = std::max(best.bound, BytesPerSecond(std::max(rate, low.second)));
  }
  return best;
}

std::vector<Level> find_levels(std::span<const CurveSample> curve,
                               std::span<const CacheCapacity> caches,
                               int workers) {
  std::vector<double> logs;
  std::vector<std::size_t> places;
  for (const CurveSample& point : curve) {
    logs.push_back(std::log(*median(of_look(point.values, false))));
    places.push_back(place_of(point.working_set, caches, workers));
  }
  const std::vector<Plateau> plateaus = find_plateaus(logs, places);
  std::vector<Level> levels;
  for (const auto& [first, last, height] : plateaus) {
    const std::size_t place = places[first];
    const LevelName name = caches.empty()           ? numbered(levels.size() + 1)
                           : place == caches.size() ? memory_level
                                                    : caches[place].name;
    const auto points = curve.subspan(first, last - first + 1);
    levels.push_back(
        {name, curve[first].working_set, curve[last].working_set, plateau_value(points)});
  }
  resolve_names(levels, plateaus);
  if (caches.empty()) return levels;
  const auto memory = std::ranges::find(places, caches.size());
  add_memory(levels, curve.subspan(static_cast<std::size_t>(memory - places.begin())));
  return levels;
}

std::vector<Plateau> find_plateaus(std::span<const double> logs,
                                   std::span<const std::size_t> places) {
  const double sigma = std::max(curve_noise(logs), least_noise);
  const std::vector<std::size_t> start = best_starts(logs, places, sigma);
  std::vector<Plateau> plateaus;
  for (std::size_t end = logs.size(); end > 0; end = start[end]) {
    const std::size_t length = end - start[end];
    if (length < least_points) continue;
    plateaus.push_back({start[end], end - 1, *median(logs.subspan(start[end], length))});
  }
  std::ranges::reverse(plateaus);
  return merge_similar(logs, places, std::move(plateaus));
}

std::vector<CacheCapacity> cache_capacities(const Run& run) {
  std::vector<CacheCapacity> caches;
  for (char level = '1'; level <= '9'; ++level) {
    for (const char* kind : {"_data_cache", "_cache"}) {
      const std::string name = std::string("l") + level + kind;
      const double bytes = number_fact(run, "cpu", name + "_bytes").value_or(0.0);
      const double count = number_fact(run, "cpu", name + "_count").value_or(0.0);
      if (!(bytes > 0.0)) continue;
      // Beyond the third they have no name of their own.
      const auto known = from_key<MemoryLevelName>(std::string("l") + level);
      caches.push_back({{known, known ? 0 : level - '0'}, Bytes(bytes), {}});
      if (count > 0.0) caches.back().instances = static_cast<int>(count);
    }
  }
  std::ranges::sort(caches, {}, &CacheCapacity::bytes);
  return caches;
}
}  // namespace scaleworth::model
