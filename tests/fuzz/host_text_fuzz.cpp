// SPDX-License-Identifier: Apache-2.0
/// Any bytes as each of the kernel's text files that the host machine reads: never a crash, and
/// never a value outside of what the file can say.
#include "probes/host/host_facts.h"
#include "probes/host/proc_files.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace scaleworth::probes::host;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, size / 2);
  const std::string_view second = text.substr(size / 2);
  parse_cpu_max(text);
  parse_cfs_quota(first, second);
  parse_memory_limit(text);
  parse_cgroup_membership(text);
  parse_cpuinfo(text);
  parse_meminfo(text);
  chosen_word(text);
  parse_machine_times(text, 100.0);
  parse_integer(text);
  return 0;
}
