// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/text.h"
#include "probes/host/facts/sections/sections.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

namespace scaleworth::probes::host {
namespace {

Fact kernel_fact() {
  utsname names{};
  if (uname(&names) != 0) return {"kernel", std::nullopt, "uname(2) failed"};
  return {"kernel",
          Value(fmt::format("{} {} {}", names.sysname, names.release, names.machine)),
          "uname(2)"};
}

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" of os-release(5), without the quotes.
Fact system_fact() {
  const std::string file = "/etc/os-release";
  const std::string text = read_text(file).value_or(std::string());
  constexpr std::string_view key = "PRETTY_NAME=";
  for (const std::string_view line : lines(text)) {
    if (line.substr(0, key.size()) != key) continue;
    std::string_view name = trim(line.substr(key.size()));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    return {"operating_system", Value(std::string(name)), file};
  }
  return {"operating_system", std::nullopt, file + " has no PRETTY_NAME"};
}

}  // namespace

FactSection software_section() {
  return {"software",
          {kernel_fact(),
           system_fact(),
           {"c_library",
            Value(fmt::format("glibc {}", gnu_get_libc_version())),
            "gnu_get_libc_version(3)"},
           {"compiler", Value(std::string(__VERSION__)), "__VERSION__ of the build"}}};
}

}  // namespace scaleworth::probes::host
