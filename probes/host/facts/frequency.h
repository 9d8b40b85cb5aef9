// SPDX-License-Identifier: Apache-2.0
/// The clock that figures per cycle refer to, and how far to trust it.
#pragma once

#include "probes/host/facts/cpuid.h"
#include "probes/host/facts/proc/cpuinfo.h"
#include "src/core/run/record.h"

#include <string>
#include <vector>

namespace scaleworth::probes::host {

/// Facts base_frequency_hz, maximum_frequency_hz and frequency_basis. The base is, in this order:
/// `cpufreq`/base_frequency (kHz; Intel's driver), CPUID leaf 0x16, the time-stamp counter's rate
/// (which is near the nominal clock), the median "cpu MHz" of /proc/cpuinfo (on a virtual machine
/// the nominal clock, else the clock of the moment). The maximum is cpufreq's cpuinfo_max_freq or
/// CPUID's; neither is the clock at which vector code runs, which only a measurement tells.
std::vector<Fact> frequency_facts(
    const CpuInfo& cpu,
    const CpuidFacts& cpuid,
    const std::string& cpufreq = "/sys/devices/system/cpu/cpu0/cpufreq");

}  // namespace scaleworth::probes::host
