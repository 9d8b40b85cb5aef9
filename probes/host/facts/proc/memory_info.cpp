// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/memory_info.h"

#include "probes/host/facts/proc/text.h"

namespace scaleworth::probes::host {
namespace {

/// The value of "Name:   123 kB" in bytes, of "Name:   123" as it is.
std::optional<double> value_of(std::string_view line, std::string_view name) {
  if (line.substr(0, name.size()) != name || line.substr(name.size(), 1) != ":") {
    return std::nullopt;
  }
  const auto parts = words(line.substr(name.size() + 1));
  if (parts.empty() || parts.size() > 2 || (parts.size() == 2 && parts[1] != "kB")) {
    return std::nullopt;
  }
  const auto number = parse_integer(parts[0]);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<double>(*number) * (parts.size() == 2 ? 1024.0 : 1.0);
}

void keep(std::optional<Bytes>& member, const std::optional<double>& value) {
  if (value) member = Bytes(*value);
}

}  // namespace

MemoryInfo parse_meminfo(std::string_view text) {
  MemoryInfo info;
  for (const std::string_view line : lines(text)) {
    keep(info.total, value_of(line, "MemTotal"));
    keep(info.available, value_of(line, "MemAvailable"));
    keep(info.swap_total, value_of(line, "SwapTotal"));
    keep(info.huge_page_size, value_of(line, "Hugepagesize"));
    if (const auto pages = value_of(line, "HugePages_Total")) info.huge_pages_reserved = pages;
  }
  return info;
}

MemoryInfo read_meminfo() {
  return parse_meminfo(read_text("/proc/meminfo").value_or(std::string()));
}

std::optional<std::string> chosen_word(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace scaleworth::probes::host
