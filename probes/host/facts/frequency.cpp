// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/frequency.h"

#include "probes/host/facts/proc/text.h"
#include "src/core/statistics/quantile.h"

#include <optional>

namespace scaleworth::probes::host {
namespace {

struct Clock {
  double hz = 0.0;
  std::string source;
  std::string basis;
};

std::optional<Clock> from_file(const std::string& file) {
  const auto khz = parse_integer(read_text(file).value_or(std::string()));
  if (!khz || *khz <= 0) return std::nullopt;
  return Clock{1e3 * static_cast<double>(*khz), file, "cpufreq"};
}

std::optional<Clock> from_cpuid(const std::optional<double>& hz,
                                const char* source,
                                const char* basis) {
  if (!hz) return std::nullopt;
  return Clock{*hz, source, basis};
}

std::optional<Clock> from_cpuinfo(const CpuInfo& cpu) {
  const auto mhz = median(cpu.frequency_mhz);
  if (!mhz) return std::nullopt;
  return Clock{1e6 * *mhz,
               "/proc/cpuinfo",
               cpu.has("hypervisor") ? "/proc/cpuinfo (nominal)" : "/proc/cpuinfo (at the moment)"};
}

Fact fact(const char* name, const std::optional<Clock>& clock) {
  if (!clock) return {name, std::nullopt, "neither cpufreq nor CPUID nor /proc/cpuinfo tells it"};
  return {name, Value(clock->hz), clock->source};
}

}  // namespace

std::vector<Fact> frequency_facts(const CpuInfo& cpu,
                                  const CpuidFacts& cpuid,
                                  const std::string& cpufreq) {
  auto base = from_file(cpufreq + "/base_frequency");
  if (!base) base = from_cpuid(cpuid.base_hz, "CPUID leaf 0x16", "CPUID");
  if (!base) base = from_cpuid(cpuid.time_stamp_hz, "CPUID leaf 0x15 or 0x40000010", "TSC");
  if (!base) base = from_cpuinfo(cpu);
  auto maximum = from_file(cpufreq + "/cpuinfo_max_freq");
  if (!maximum) maximum = from_cpuid(cpuid.maximum_hz, "CPUID leaf 0x16", "CPUID");
  std::vector<Fact> facts{fact("base_frequency_hz", base), fact("maximum_frequency_hz", maximum)};
  if (base) {
    facts.push_back({"frequency_basis", Value(base->basis), base->source});
  } else {
    facts.push_back({"frequency_basis", std::nullopt, facts[0].source});
  }
  return facts;
}

}  // namespace scaleworth::probes::host
