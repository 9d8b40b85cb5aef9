// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/cpuinfo.h"

#include "probes/host/facts/proc/text.h"

#include <algorithm>
#include <charconv>

namespace scaleworth::probes::host {
namespace {

void keep_first(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}

void read_field(CpuInfo& info, std::string_view key, std::string_view value) {
  if (key == "processor") {
    ++info.logical_cpus;
  } else if (key == "vendor_id" || key == "CPU implementer") {
    keep_first(info.vendor, value);
  } else if (key == "model name") {
    keep_first(info.model_name, value);
  } else if (key == "cpu MHz") {
    double mhz = 0.0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), mhz);
    if (error == std::errc() && mhz > 0.0) info.frequency_mhz.push_back(mhz);
  } else if ((key == "flags" || key == "Features") && info.flags.empty()) {
    for (std::string_view flag : words(value)) info.flags.emplace_back(flag);
    std::sort(info.flags.begin(), info.flags.end());
  }
}

}  // namespace

bool CpuInfo::has(std::string_view flag) const {
  return std::binary_search(flags.begin(), flags.end(), flag);
}

bool CpuInfo::has_all(const std::vector<std::string_view>& wanted) const {
  return std::all_of(
      wanted.begin(), wanted.end(), [this](std::string_view flag) { return has(flag); });
}

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  for (std::string_view line : lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    read_field(info, trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return info;
}

CpuInfo read_cpuinfo() {
  return parse_cpuinfo(read_text("/proc/cpuinfo").value_or(std::string()));
}

}  // namespace scaleworth::probes::host
