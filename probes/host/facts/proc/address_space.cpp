// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/address_space.h"

#include "probes/host/facts/proc/text.h"

#include <algorithm>

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

}  // namespace

std::optional<Bytes> limited_address_space() {
  const std::string statm = read_text("/proc/self/statm").value_or(std::string());
  const auto fields = words(statm);
  // size resident shared text lib data dt, in pages (proc(5)).
  if (fields.size() < 6) return std::nullopt;
  const auto address_space = left(RLIMIT_AS, parse_integer(fields[0]));
  const auto data = left(RLIMIT_DATA, parse_integer(fields[5]));
  if (!address_space && !data) return std::nullopt;
  return Bytes(std::min(address_space.value_or(*(data ? data : address_space)),
                        data.value_or(*(address_space ? address_space : data))));
}

}  // namespace scaleworth::probes::host
