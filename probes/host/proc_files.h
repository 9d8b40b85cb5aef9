// SPDX-License-Identifier: Apache-2.0
/// Bounded parsing of /proc and /sys texts.
#pragma once

#include "src/core/files/csv.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {
/// The smaller of RLIMIT_AS less the mapped size and RLIMIT_DATA less the private writable size
/// (getrlimit(2); sizes from /proc/self/statm). Absent when neither is limited or the sizes cannot
/// be read; 0 when a limit is already exceeded.
std::optional<Bytes> limited_address_space();

// What /proc/cpuinfo says of the CPU; its flags are those that the kernel lets programs use.

/// Fields that the text does not have stay empty.
struct CpuInfo {
  std::string vendor;              // "GenuineIntel", "AuthenticAMD"; aarch64: implementer "0x41"
  std::string model_name;          // empty on most aarch64 kernels
  std::vector<std::string> flags;  // sorted; "flags" (x86) or "Features" (aarch64) of the first CPU
  std::vector<double> frequency_mhz;  // per logical CPU at the moment of reading

  bool has(std::string_view flag) const;
  bool has_all(const std::vector<std::string_view>& wanted) const;
};

/// Never throws: a line without a colon or with an unknown key is passed over, a value that is no
/// number is absent.
CpuInfo parse_cpuinfo(std::string_view text);

/// parse_cpuinfo of this machine's file; an empty CpuInfo where there is none.
CpuInfo read_cpuinfo();

/// /proc/meminfo by name ("MemTotal"): bytes, pages where the line has no unit. A malformed line is
/// passed over.
using MemoryInfo = std::map<std::string, double, std::less<>>;
MemoryInfo parse_meminfo(std::string_view text);
MemoryInfo read_meminfo();
/// For new programs without swapping.
std::optional<Bytes> available_memory(const MemoryInfo& memory);

/// The word in brackets of a sysfs choice, "always [madvise] never" -> "madvise"; absent without
/// brackets.
std::optional<std::string> chosen_word(std::string_view text);

/// Seconds summed over all CPUs. `steal`: a CPU was ready to run, but the hypervisor ran others.
struct MachineTimes {
  double busy_s = 0.0;  // user, nice, system, irq, softirq; guests are part of user
  double idle_s = 0.0;  // idle, iowait
  double steal_s = 0.0;

  double total_s() const { return busy_s + idle_s + steal_s; }
};

/// The "cpu" line of /proc/stat (proc(5)) in ticks of 1 / `ticks_per_second` s. Kernels before
/// 2.6.11 have no steal column; it then counts as 0. Absent when the line or one of its first four
/// numbers is missing, malformed or negative.
std::optional<MachineTimes> parse_machine_times(std::string_view text, double ticks_per_second);

std::optional<MachineTimes> read_machine_times();

// Small text files of the kernel (/proc, /sys, cgroup) and the forms their values take.

/// The file's content, cut at `limit` bytes; absent when it cannot be read. Kernel files have no
/// size to ask for, so the limit bounds the memory that a strange mount could take.
std::optional<std::string> read_text(const std::string& path, std::size_t limit = 1 << 22);

/// The whole of the trimmed text as a decimal number; absent for anything else (empty, trailing
/// letters, out of range).
std::optional<std::int64_t> parse_integer(std::string_view text);
}  // namespace scaleworth::probes::host
