// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/sections.h"

namespace scaleworth::report {
namespace {

/// "l2" of "l2_cache_bytes", "l1 data" of "l1_data_cache_bytes"; empty for other facts.
std::string cache_of(const std::string& fact) {
  const auto at = fact.find("_cache_");
  const bool level = fact.size() > 1 && fact[0] == 'l' && fact[1] >= '1' && fact[1] <= '9';
  return level && at != std::string::npos ? words(fact.substr(0, at)) : "";
}

/// "L1d" for "l1 data", "L1i" for "l1 instruction", "L2" for "l2".
std::string cache_name(const std::string& cache) {
  const auto space = cache.find(' ');
  return "L" + cache.substr(1, space - 1) +
         (space == std::string::npos ? "" : cache.substr(space + 1, 1));
}

/// "L1d 48 KiB (each CPU), L3 480 MiB (shared by 2 CPUs)".
std::string caches(const FactSection& section) {
  std::string text;
  for (const Fact& fact : section.facts) {
    const std::string cache = cache_of(fact.name);
    if (cache.empty() || !fact.value) {
      continue;
    }
    if (fact.name.ends_with("_cache_bytes")) {
      text += (text.empty() ? "" : ", ") + cache_name(cache) + " " + printed_fact(fact).value;
    } else if (fact.name.ends_with("_shared_by_cpus")) {
      const std::string sharers = plain_text(*fact.value);
      text += sharers == "1" ? " (each CPU)" : " (shared by " + sharers + " CPUs)";
    }
  }
  return text;
}

/// One line per fact, the caches in one, for formats that must be short.
Table overview(const Run& run) {
  Table table{"machine_overview",
              "",
              {parameter("part", "part"), parameter("fact", "fact"), measure("value", "value")},
              {},
              {}};
  table.in_csv = false;
  for (const FactSection& section : run.environment) {
    std::string part = words(section.name);
    const bool background = section.name == "environment_variables";
    bool caches_told = false;
    for (const Fact& fact : section.facts) {
      const NamedValue named = printed_fact(fact);
      const bool cache = !cache_of(fact.name).empty();
      if (cache && caches_told) {
        continue;
      }
      caches_told = caches_told || cache;
      table.rows.push_back(
          {{part, cache ? "caches" : named.name, cache ? caches(section) : named.value},
           background});
      part.clear();
    }
  }
  return table;
}

Table facts_with_sources(const Run& run) {
  Table table{"machine_facts",
              "Each fact with its source",
              {parameter("part", "part"),
               parameter("fact", "fact"),
               measure("value", "value"),
               measure("source", "source")},
              {},
              {}};
  table.in_csv = false;
  for (const FactSection& section : run.environment) {
    for (const Fact& fact : section.facts) {
      const NamedValue named = printed_fact(fact);
      const std::string value = fact.value ? named.value : "n/a";
      table.rows.push_back({{words(section.name), named.name, value, fact.source}, true});
    }
  }
  return table;
}

}  // namespace

Section machine_section(const Run& run) {
  Section section{"machine", "Machine", {}, {}, {}};
  if (!run.environment.empty()) {
    section.tables = {overview(run), facts_with_sources(run)};
  }
  return section;
}

}  // namespace scaleworth::report
