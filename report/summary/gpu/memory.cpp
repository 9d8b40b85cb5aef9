// SPDX-License-Identifier: Apache-2.0
#include "report/sections/sections.h"
#include "report/summary/gpu/tables.h"
#include "report/summary/parts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::GpuResult;

constexpr std::array levels{"shared", "L1", "L2", "memory"};

using Values = std::vector<std::optional<Number>>;

bool any(const Values& values) {
  return std::any_of(
      values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
}

Values rates_of(const GpuResult& gpu, const std::string& kernel) {
  Values values;
  for (const std::string label : levels) {
    std::optional<Number> rate;
    for (const auto& found : gpu.memory_levels) {
      if (found.level.label == label && found.level.kernel == kernel) {
        rate = number(found.level.rate);
      }
    }
    values.push_back(rate);
  }
  return values;
}

template <class Figure>
Values latencies_of(const GpuResult& gpu, const Figure& figure) {
  Values values;
  for (const std::string label : levels) {
    std::optional<Number> value;
    for (const auto& found : gpu.latency_levels) {
      if (found.level.label == label) {
        value = figure(found);
      }
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

Table summary_memory(const GpuResult& gpu) {
  Table table{"gpu_levels", "", {}, {}, {}};
  table.columns.push_back(parameter("what", fmt::format("GPU {} memory", gpu.identity.ordinal)));
  for (const char* label : levels) {
    table.columns.push_back(measure(label, label));
  }
  for (const char* kernel : {"read", "write", "copy", "triad"}) {
    const Values rates = rates_of(gpu, kernel);
    if (any(rates)) {
      table.rows.push_back(row_of(kernel, rates, Unit::bytes_per_second));
    }
  }
  const Values times = latencies_of(
      gpu, [](const auto& found) { return std::optional(number(found.level.latency)); });
  const Values cycles = latencies_of(gpu, [](const auto& found) { return found.cycles; });
  if (any(times)) {
    table.rows.push_back(row_of("latency", times, Unit::seconds));
  }
  if (any(cycles)) {
    table.rows.push_back(row_of("latency (cycles)", cycles, Unit::plain));
  }
  for (const auto& found : gpu.memory_levels) {
    if (found.of_datasheet && found.level.kernel == "read") {
      table.notes.push_back(fmt::format(
          "Memory reads are {} % of the datasheet's {}.",
          format_number(number(*found.of_datasheet), Unit::percent, scale_for(Unit::percent, 1.0)),
          format_quantity(number(*gpu.identity.datasheet->memory_bandwidth),
                          Unit::bytes_per_second)));
    }
  }
  return table;
}

}  // namespace scaleworth::report
