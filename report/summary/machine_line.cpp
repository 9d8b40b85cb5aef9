// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/summary/parts.h"

#include <array>

namespace scaleworth::report {
namespace {

/// A fact's printed value; empty when it could not be had.
std::string told(const Run& run, const std::string& section, const std::string& name) {
  const Fact* fact = find_fact(run, section, name);
  return fact && fact->value ? printed_fact(*fact).value : "";
}

/// The widest vector instructions of a list of features, and matrix tiles where there are any.
std::string widest(const std::string& features) {
  struct Known {
    const char* feature;
    const char* name;
  };
  constexpr std::array known{Known{"avx512f", "avx512"},
                             Known{"avx2", "avx2"},
                             Known{"sse2", "sse2"},
                             Known{"sve", "sve"},
                             Known{"neon", "neon"}};
  const std::string tiles = features.find("amx") == std::string::npos ? "" : " and amx";
  for (const Known& one : known) {
    if (features.find(one.feature) != std::string::npos) {
      return one.name + tiles;
    }
  }
  return "";
}

void append(std::string& line, const std::string& piece) {
  if (!piece.empty()) {
    line += (line.empty() ? "" : ", ") + piece;
  }
}

std::string with(const std::string& value, const std::string& what) {
  return value.empty() ? "" : value + " " + what;
}

std::string after(const std::string& what, const std::string& value) {
  return value.empty() ? "" : what + " " + value;
}

std::string without_trademarks(std::string name) {
  for (const std::string mark : {"(R)", "(TM)"}) {
    for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark)) {
      name.erase(at, mark.size());
    }
  }
  return name;
}

}  // namespace

std::string machine_line(const Run& run) {
  std::string line;
  append(line, without_trademarks(told(run, "cpu", "model")));
  append(line, with(told(run, "cpu", "cores"), "cores"));
  append(line, widest(told(run, "cpu", "isa")));
  append(line, told(run, "memory", "total_bytes"));
  append(line, told(run, "virtualisation", "hypervisor"));
  std::string load;
  append(load, after("other load", told(run, "load_during_run", "other_cpu_fraction")));
  append(load, after("steal", told(run, "load_during_run", "steal_fraction")));
  return line + (load.empty() ? "" : "; " + load);
}

}  // namespace scaleworth::report
