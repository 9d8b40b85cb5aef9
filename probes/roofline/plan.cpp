// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/plan.h"

#include "probes/order.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double smallest_set = 4096.0;
constexpr double cache_multiple = 4.0;                // of the last cache, all workers together
constexpr double available_share = 0.125;             // of memory, all workers together
constexpr double largest_total = 16.0 * (1LL << 30);  // caches beyond 4 GiB are not seen whole
constexpr double ladder_cache_multiple = 2.0;
constexpr double nontemporal_from = 4.0 * (1 << 20);  // beyond the L2 cache of one core
constexpr int longest_chain = 512;

double wished_total(const Setting& setting) {
  return std::min(cache_multiple * setting.last_cache.value(), largest_total);
}

double whole_kibibytes(double bytes) {
  return std::max(smallest_set, std::floor(bytes / 1024.0) * 1024.0);
}

}  // namespace

std::vector<int> worker_counts(const Setting& setting) {
  if (setting.workers <= 1) return {1};
  return {1, setting.workers};
}

Pace compute_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.1), 9} : Pace{Seconds(0.4), 20};
}

Pace memory_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.03), 9} : Pace{Seconds(0.12), 15};
}

Pace latency_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.05), 9} : Pace{Seconds(0.15), 15};
}

Pace intensity_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.06), 9} : Pace{Seconds(0.25), 15};
}

std::vector<Bytes> working_sets(const Setting& setting, int workers) {
  const double memory = available_share * setting.available_memory.value() / workers;
  const double largest = whole_kibibytes(std::min(wished_total(setting) / workers, memory));
  const double factor = setting.suite == Suite::quick ? std::sqrt(8.0) : std::cbrt(4.0);
  std::vector<Bytes> sets;
  for (double set = smallest_set; set * std::sqrt(factor) < largest; set *= factor) {
    sets.emplace_back(whole_kibibytes(set));
  }
  sets.emplace_back(largest);
  return sets;
}

std::optional<std::string> memory_shortage(const Setting& setting, int workers) {
  const double wished = wished_total(setting) / workers;
  const double largest = working_sets(setting, workers).back().value();
  if (largest >= whole_kibibytes(wished)) return std::nullopt;
  return fmt::format(
      "{} workers: working sets above {:.1f} MiB each left out, {:.1f} MiB would be {:g} times the "
      "last cache: {:.1f} MiB of memory are available and an eighth is used",
      workers,
      largest / (1 << 20),
      wished / (1 << 20),
      cache_multiple,
      setting.available_memory.value() / (1 << 20));
}

std::vector<MemoryWork> memory_plan(const Setting& setting) {
  std::vector<MemoryWork> works;
  for (const int workers : worker_counts(setting)) {
    for (const Bytes set : working_sets(setting, workers)) {
      works.push_back({MemoryKernel::read, set, workers, false});
      for (const auto kernel : {MemoryKernel::write, MemoryKernel::copy, MemoryKernel::triad}) {
        works.push_back({kernel, set, workers, false});
        if (set.value() >= nontemporal_from) works.push_back({kernel, set, workers, true});
      }
    }
  }
  in_random_order(works);
  // Read and write have all of it in one array: they make the machine touch all that is needed.
  std::stable_partition(works.begin(), works.end(), [&](const MemoryWork& work) {
    const bool one_array = work.kernel == MemoryKernel::read || work.kernel == MemoryKernel::write;
    return one_array && work.working_set == working_sets(setting, work.workers).back();
  });
  return works;
}

std::vector<LatencyWork> latency_plan(const Setting& setting) {
  std::vector<LatencyWork> works;
  for (const Bytes set : working_sets(setting, 1)) works.push_back({set});
  in_random_order(works);
  std::stable_partition(works.begin(), works.end(), [&](const LatencyWork& work) {
    return work.working_set == working_sets(setting, 1).back();
  });
  return works;
}

std::vector<IntensityWork> intensity_plan(const Setting& setting) {
  std::vector<IntensityWork> works;
  for (const int workers : worker_counts(setting)) {
    const double wished = ladder_cache_multiple * setting.last_cache.value() / workers;
    const Bytes set(
        whole_kibibytes(std::min(wished, working_sets(setting, workers).back().value())));
    for (const Precision precision : {Precision::fp32, Precision::fp64}) {
      std::vector<IntensityWork> ladder;
      for (int fmas = 1; fmas <= longest_chain; fmas *= 2) {
        ladder.push_back({precision, set, fmas, workers});
      }
      in_random_order(ladder);
      works.insert(works.end(), ladder.begin(), ladder.end());
    }
  }
  return works;
}

std::vector<FmaWork> compute_plan(const Setting& setting, const std::vector<std::string>& isas) {
  std::vector<FmaWork> works;
  for (const int workers : worker_counts(setting)) {
    for (const std::string& isa : isas) {
      works.push_back({isa, Precision::fp32, workers});
      works.push_back({isa, Precision::fp64, workers});
    }
  }
  return works;
}

}  // namespace scaleworth::probes
