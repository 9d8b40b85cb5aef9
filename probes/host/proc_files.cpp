// SPDX-License-Identifier: Apache-2.0
#include "probes/host/proc_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

#include <sys/resource.h>
#include <unistd.h>

namespace scaleworth::probes::host {
namespace {
std::optional<double> left(int resource, std::optional<std::int64_t> used_pages) {
  rlimit limit{};
  if (!used_pages || getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  const double used = static_cast<double>(*used_pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

void keep_first(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}

void read_field(CpuInfo& info, std::string_view key, std::string_view value) {
  if (key == "vendor_id" || key == "CPU implementer") {
    keep_first(info.vendor, value);
  } else if (key == "model name") {
    keep_first(info.model_name, value);
  } else if (key == "cpu MHz") {
    double mhz = 0.0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), mhz);
    if (error == std::errc() && mhz > 0.0) info.frequency_mhz.push_back(mhz);
  } else if ((key == "flags" || key == "Features") && info.flags.empty()) {
    for (std::string_view flag : words_between(value)) info.flags.emplace_back(flag);
    std::sort(info.flags.begin(), info.flags.end());
  }
}

}  // namespace

std::optional<Bytes> limited_address_space() {
  const std::string statm = read_text("/proc/self/statm").value_or(std::string());
  const auto fields = words_between(statm);
  // size resident shared text lib data dt, in pages (proc(5)).
  if (fields.size() < 6) return std::nullopt;
  const auto address_space = left(RLIMIT_AS, parse_integer(fields[0]));
  const auto data = left(RLIMIT_DATA, parse_integer(fields[5]));
  if (!address_space && !data) return std::nullopt;
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  return Bytes(std::min(address_space.value_or(unlimited), data.value_or(unlimited)));
}

bool CpuInfo::has(std::string_view flag) const {
  return std::binary_search(flags.begin(), flags.end(), flag);
}

bool CpuInfo::has_all(const std::vector<std::string_view>& wanted) const {
  return std::ranges::all_of(wanted, [this](std::string_view flag) { return has(flag); });
}

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  for (std::string_view line : words_between(text, "\n")) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    read_field(info, trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return info;
}

CpuInfo read_cpuinfo() {
  return parse_cpuinfo(read_text("/proc/cpuinfo").value_or(std::string()));
}

MemoryInfo parse_meminfo(std::string_view text) {
  MemoryInfo info;
  for (const std::string_view line : words_between(text, "\n")) {
    // "Name:   123 kB" or "Name:   123"
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto parts = words_between(line.substr(colon + 1));
    if (parts.empty() || parts.size() > 2 || (parts.size() == 2 && parts[1] != "kB")) continue;
    const auto number = parse_integer(parts[0]);
    if (!number || *number < 0) continue;
    info[std::string(line.substr(0, colon))] =
        static_cast<double>(*number) * (parts.size() == 2 ? 1024.0 : 1.0);
  }
  return info;
}

MemoryInfo read_meminfo() {
  return parse_meminfo(read_text("/proc/meminfo").value_or(std::string()));
}

std::optional<Bytes> available_memory(const MemoryInfo& memory) {
  const auto found = memory.find("MemAvailable");
  return found == memory.end() ? std::nullopt : std::optional(Bytes(found->second));
}

std::optional<std::string> chosen_word(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

std::optional<MachineTimes> parse_machine_times(std::string_view text, double ticks_per_second) {
  for (const std::string_view line : words_between(text, "\n")) {
    const auto fields = words_between(line);
    if (fields.empty() || fields[0] != "cpu") continue;
    // cpu user nice system idle iowait irq softirq steal
    constexpr std::size_t columns = 8;
    double seconds[columns] = {};
    for (std::size_t i = 0; i < columns && i + 1 < fields.size(); ++i) {
      const auto ticks = parse_integer(fields[i + 1]);
      if (!ticks || *ticks < 0) return std::nullopt;
      seconds[i] = static_cast<double>(*ticks) / ticks_per_second;
    }
    if (fields.size() < 5) return std::nullopt;
    return MachineTimes{.busy_s = seconds[0] + seconds[1] + seconds[2] + seconds[5] + seconds[6],
                        .idle_s = seconds[3] + seconds[4],
                        .steal_s = seconds[7]};
  }
  return std::nullopt;
}

std::optional<MachineTimes> read_machine_times() {
  const auto text = read_text("/proc/stat");
  if (!text) return std::nullopt;
  return parse_machine_times(*text, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

std::optional<std::string> read_text(const std::string& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content;
  std::string block(4096, '\0');  // /proc hands over a page at a time
  while (content.size() < limit) {
    const std::size_t wanted = std::min(block.size(), limit - content.size());
    file.read(block.data(), static_cast<std::streamsize>(wanted));
    content.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (!file) break;
  }
  if (file.bad()) return std::nullopt;
  return content;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_number<std::int64_t>(trimmed(text));
}
}  // namespace scaleworth::probes::host
