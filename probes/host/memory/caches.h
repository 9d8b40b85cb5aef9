// SPDX-License-Identifier: Apache-2.0
/// The data-cache sizes that the kernel reports for one CPU.
#pragma once

#include "src/core/units.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleworth::probes::host {

struct CacheSizes {
  std::optional<Bytes> l1_data;
  std::optional<Bytes> last;  // of the highest level
  std::optional<std::int64_t> line_bytes;
};

/// From `folder`/index0, index1, ... (level, type, size, coherency_line_size), as in sysfs; members
/// are absent where files are.
CacheSizes read_cache_sizes(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace scaleworth::probes::host
