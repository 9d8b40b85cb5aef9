// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/roofline.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace scaleworth::model {
namespace {

constexpr std::string_view data_suffix = "_data_cache_bytes";
constexpr std::string_view unified_suffix = "_cache_bytes";

/// "l2" of "l2_cache_bytes", "l1" of "l1_data_cache_bytes"; empty for any other fact.
std::string_view cache_prefix(std::string_view name) {
  for (const std::string_view suffix : {data_suffix, unified_suffix}) {
    if (name.size() == 2 + suffix.size() && name.substr(2) == suffix && name[0] == 'l' &&
        std::isdigit(static_cast<unsigned char>(name[1])) != 0) {
      return name.substr(0, 2);
    }
  }
  return {};
}

std::optional<std::int64_t> positive_integer(const Fact* fact) {
  if (fact == nullptr || !fact->value) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&*fact->value);
  return value != nullptr && *value > 0 ? std::optional(*value) : std::nullopt;
}

}  // namespace

std::vector<CacheCapacity> cache_capacities(const Run& run) {
  std::vector<CacheCapacity> caches;
  for (const FactSection& section : run.environment) {
    if (section.name != "cpu") continue;
    for (const Fact& fact : section.facts) {
      const std::string_view prefix = cache_prefix(fact.name);
      const std::optional<std::int64_t> bytes = positive_integer(&fact);
      if (prefix.empty() || !bytes) continue;
      CacheCapacity cache{std::string("L") + prefix[1], Bytes(static_cast<double>(*bytes)), {}};
      const std::string stem = fact.name.substr(0, fact.name.size() - std::string("_bytes").size());
      if (const auto count = positive_integer(find_fact(run, "cpu", stem + "_count"))) {
        cache.instances = static_cast<int>(*count);
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
