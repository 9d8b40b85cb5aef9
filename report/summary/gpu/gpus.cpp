// SPDX-License-Identifier: Apache-2.0
#include "report/summary/gpu/tables.h"
#include "report/summary/parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::GpuResult;

/// The GPU of one model that was measured most, and how many there are of it.
struct Kind {
  const GpuResult* told = nullptr;
  int count = 0;
};

std::size_t figures(const GpuResult& gpu) {
  return gpu.formats.size() + gpu.memory_levels.size() + gpu.latency_levels.size() +
         gpu.transfers.size();
}

std::vector<Kind> kinds_of(const std::vector<GpuResult>& gpus) {
  std::vector<Kind> kinds;
  for (const GpuResult& gpu : gpus) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.told->identity.name == gpu.identity.name;
    });
    if (known == kinds.end()) {
      kinds.push_back({&gpu, 1});
      continue;
    }
    ++known->count;
    if (figures(gpu) > figures(*known->told)) {
      known->told = &gpu;
    }
  }
  return kinds;
}

/// "2 x NVIDIA H200, told by GPU 0: 132 multiprocessors, up to 1.980 GHz, 700 W, 141 GB".
std::string kind_line(const Kind& kind) {
  const auto& gpu = kind.told->identity;
  std::string line = fmt::format("{} x {}", kind.count, gpu.name.empty() ? "GPU" : gpu.name);
  if (kind.count > 1) {
    line += fmt::format(" (figures of GPU {})", gpu.ordinal);
  }
  if (gpu.multiprocessors) {
    line += fmt::format(", {} multiprocessors", *gpu.multiprocessors);
  }
  if (gpu.maximum_clock_hz) {
    line += ", up to " + format_quantity(number(*gpu.maximum_clock_hz), Unit::hertz, 4);
  }
  if (gpu.power_limit_w) {
    line += ", limit " + format_quantity(number(*gpu.power_limit_w), Unit::watts);
  }
  if (gpu.memory) {
    line += ", " + format_quantity(number(*gpu.memory), Unit::bytes);
  }
  return line;
}

}  // namespace

Section gpu_summary(const model::Analysis& analysis) {
  Section section{"gpus", "", {}, {}, {}};
  for (const Kind& kind : kinds_of(analysis.gpus)) {
    section.lead.push_back(kind_line(kind));
    for (Table& table : std::vector<Table>{summary_products(*kind.told),
                                           summary_own_products(*kind.told),
                                           summary_memory(*kind.told),
                                           summary_transfers(*kind.told, analysis.gpus)}) {
      if (!table.rows.empty()) {
        section.tables.push_back(std::move(table));
      }
    }
  }
  return section;
}

}  // namespace scaleworth::report
