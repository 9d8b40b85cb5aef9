// SPDX-License-Identifier: Apache-2.0
/// What /proc/cpuinfo says of the CPU; its flags are those that the kernel lets programs use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {

/// Fields that the text does not have stay empty.
struct CpuInfo {
  std::string vendor;              // "GenuineIntel", "AuthenticAMD"; aarch64: implementer "0x41"
  std::string model_name;          // empty on most aarch64 kernels
  std::vector<std::string> flags;  // sorted; "flags" (x86) or "Features" (aarch64) of the first CPU
  std::vector<double> frequency_mhz;  // per logical CPU at the moment of reading
  int logical_cpus = 0;

  bool has(std::string_view flag) const;
  bool has_all(const std::vector<std::string_view>& wanted) const;
};

/// Never throws: a line without a colon or with an unknown key is passed over, a value that is no
/// number is absent.
CpuInfo parse_cpuinfo(std::string_view text);

/// parse_cpuinfo of this machine's file; an empty CpuInfo where there is none.
CpuInfo read_cpuinfo();

}  // namespace scaleworth::probes::host
