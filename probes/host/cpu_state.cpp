// SPDX-License-Identifier: Apache-2.0
#include "probes/host/cpu_state.h"

#include "probes/host/host_facts.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>

#include <sys/resource.h>

namespace scaleworth::probes::host {
namespace {
struct CpuClock {
  std::optional<double> hz;
  std::string source;
  std::string basis;
};

CpuClock of_file(const std::string& file) {
  const auto khz = parse_integer(read_text(file).value_or(std::string()));
  if (!khz || *khz <= 0) return {};
  return {1e3 * static_cast<double>(*khz), file, "cpufreq"};
}

CpuClock of_cpuinfo(const CpuInfo& cpu) {
  const auto mhz = median(cpu.frequency_mhz);
  if (!mhz) return {};
  return {1e6 * *mhz,
          "/proc/cpuinfo",
          cpu.has("hypervisor") ? "/proc/cpuinfo (nominal)" : "/proc/cpuinfo (at the moment)"};
}

CpuClock first_known(std::initializer_list<CpuClock> clocks) {
  for (const CpuClock& clock : clocks)
    if (clock.hz) return clock;
  return {{}, "neither cpufreq nor CPUID nor /proc/cpuinfo reports it", {}};
}

Fact fact(const char* name, const CpuClock& clock) {
  return {name, clock.hz ? std::optional<Value>(*clock.hz) : std::nullopt, clock.source};
}

constexpr double shortest_watch_s = 1.0;    // 100 ticks of 10 ms: shares are then good to 1 %
constexpr double impossible_excess = 0.05;  // beyond what ticks and late accounting explain
struct LoadFact {
  const char* name;
  const char* source;
};
constexpr std::array load{LoadFact{"cpu_busy_fraction", "/proc/stat"},
                          LoadFact{"own_cpu_fraction", "getrusage(2)"},
                          LoadFact{"other_cpu_fraction", "/proc/stat less getrusage(2)"},
                          LoadFact{"steal_fraction", "/proc/stat"},
                          LoadFact{"watched_cpu_seconds", "/proc/stat"}};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double used_by(__rusage_who who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<Fact> absent(const std::string& reason) {
  return mapped(load, [&](const LoadFact& one) { return Fact{one.name, std::nullopt, reason}; });
}
}  // namespace

std::vector<Fact> frequency_facts(const CpuInfo& cpu, const std::string& cpufreq) {
  const CpuClock base = first_known({of_file(cpufreq + "/base_frequency"), of_cpuinfo(cpu)});
  const CpuClock maximum = first_known({of_file(cpufreq + "/cpuinfo_max_freq")});
  const auto basis = base.hz ? std::optional<Value>(base.basis) : std::nullopt;
  return {fact("base_frequency_hz", base),
          fact("maximum_frequency_hz", maximum),
          {"frequency_basis", basis, base.source}};
}

LoadReading read_load() {
  const CgroupLimits limits = read_cgroup_limits(own_cgroups());
  return {read_machine_times(),
          used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN),
          limits.cpu_periods,
          limits.throttled_periods};
}

std::vector<Fact> load_facts(const LoadReading& start,
                             const LoadReading& end,
                             std::optional<double> more_own_s) {
  if (!more_own_s) return absent("the other ranks did not report their CPU time");
  if (!start.machine || !end.machine) return absent("/proc/stat cannot be read");
  const double total = end.machine->total_s() - start.machine->total_s();
  if (total < shortest_watch_s) {
    return absent(
        fmt::format("watched for {:.2f} CPU-seconds only, too few for 10 ms ticks", total));
  }
  const double busy = end.machine->busy_s - start.machine->busy_s;
  const double own = end.own_s - start.own_s + *more_own_s;
  if (own - busy > impossible_excess * total) {
    return absent(
        "/proc/stat shows less CPU time than this program used: it is not this machine's");
  }
  // The machine counts ticks and the process counts nanoseconds, so their difference can fall
  // slightly below zero.
  const std::array values{busy / total,
                          own / total,
                          std::max(0.0, busy - own) / total,
                          (end.machine->steal_s - start.machine->steal_s) / total,
                          total};
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < load.size(); ++i) {
    facts.push_back({load[i].name, Value(values[i]), load[i].source});
  }
  return facts;
}

FactSection LoadWatch::facts(std::optional<double> more_own_s) const {
  const LoadReading end = read_load();
  FactSection section{"load_during_run", load_facts(start_, end, more_own_s)};
  if (const std::int64_t periods = end.periods - start_.periods; periods > 0) {
    const auto throttled = static_cast<double>(end.throttled - start_.throttled);
    section.facts.push_back(
        {"throttled_fraction", Value(throttled / static_cast<double>(periods)), "cpu.stat"});
  }
  return section;
}
}  // namespace scaleworth::probes::host
