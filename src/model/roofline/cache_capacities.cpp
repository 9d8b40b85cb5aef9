// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/roofline.h"

#include <algorithm>
#include <cctype>

namespace scaleworth::model {
namespace {

/// The digit of "l2_bytes" or "l1d_cache_bytes"; '\0' for any other name, instruction caches
/// included.
char cache_digit(const std::string& name) {
  const bool cache = name.size() > 2 && name[0] == 'l' &&
                     std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] != 'i' &&
                     name.find("instruction") == std::string::npos;
  return cache ? name[1] : '\0';
}

bool ends_with(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::vector<CacheCapacity> cache_capacities(const Run& run) {
  std::vector<CacheCapacity> caches;
  for (const FactSection& section : run.environment) {
    if (section.name != "cpu") continue;
    for (const Fact& fact : section.facts) {
      const char digit = cache_digit(fact.name);
      const auto* bytes = fact.value ? std::get_if<std::int64_t>(&*fact.value) : nullptr;
      if (digit == '\0' || !ends_with(fact.name, "_bytes") || bytes == nullptr || *bytes <= 0) {
        continue;
      }
      CacheCapacity cache{std::string("L") + digit, Bytes(static_cast<double>(*bytes)), 1};
      const std::string stem = fact.name.substr(0, fact.name.size() - std::string("_bytes").size());
      if (const Fact* shared = find_fact(run, "cpu", stem + "_sharing"); shared && shared->value) {
        if (const auto* count = std::get_if<std::int64_t>(&*shared->value)) {
          cache.sharing = static_cast<int>(std::max<std::int64_t>(1, *count));
        }
      }
      caches.push_back(std::move(cache));
    }
  }
  std::sort(caches.begin(), caches.end(), [](const CacheCapacity& a, const CacheCapacity& b) {
    return a.bytes < b.bytes;
  });
  return caches;
}

std::optional<RooflineResult> analyse_roofline(const Run& run) {
  return analyse_roofline(run, cache_capacities(run));
}

}  // namespace scaleworth::model
