// SPDX-License-Identifier: Apache-2.0
#include "probes/host/memory/caches.h"

#include <fstream>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

/// "48K", "2048K", "32M" as sysfs writes them.
std::optional<Bytes> read_size(const std::string& path) {
  std::ifstream file(path);
  double number = 0.0;
  if (!(file >> number) || number <= 0.0) return std::nullopt;
  switch (file.get()) {
    case 'K':
      return Bytes(number * (1 << 10));
    case 'M':
      return Bytes(number * (1 << 20));
    case 'G':
      return Bytes(number * (1 << 30));
    default:
      return Bytes(number);
  }
}

}  // namespace

CacheSizes read_cache_sizes(const std::string& folder) {
  CacheSizes sizes;
  int highest = 0;
  for (int index = 0;; ++index) {
    const std::string cache = fmt::format("{}/index{}", folder, index);
    int level = 0;
    if (!(std::ifstream(cache + "/level") >> level)) return sizes;
    std::string type;
    std::ifstream(cache + "/type") >> type;
    if (type == "Instruction") continue;
    const std::optional<Bytes> size = read_size(cache + "/size");
    if (level == 1) sizes.l1_data = size;
    if (level > highest && size) {
      highest = level;
      sizes.last = size;
    }
    std::int64_t line = 0;
    if (std::ifstream(cache + "/coherency_line_size") >> line) sizes.line_bytes = line;
  }
}

}  // namespace scaleworth::probes::host
