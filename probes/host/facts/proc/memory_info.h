// SPDX-License-Identifier: Apache-2.0
/// Memory of the node as the kernel counts it.
#pragma once

#include "src/core/units.h"

#include <optional>
#include <string>
#include <string_view>

namespace scaleworth::probes::host {

/// Members are absent where /proc/meminfo has no such line or a malformed one.
struct MemoryInfo {
  std::optional<Bytes> total;
  std::optional<Bytes> available;  // for new programs without swapping
  std::optional<Bytes> swap_total;
  std::optional<Bytes> huge_page_size;
  std::optional<double> huge_pages_reserved;  // pages, not bytes
};
MemoryInfo parse_meminfo(std::string_view text);
MemoryInfo read_meminfo();

/// The word in brackets of a sysfs choice, "always [madvise] never" -> "madvise"; absent without
/// brackets.
std::optional<std::string> chosen_word(std::string_view text);

}  // namespace scaleworth::probes::host
