// SPDX-License-Identifier: Apache-2.0
/// Prints the table of docs/accuracy.md: every forecast, fit, interval, name and predicted saving
/// against truth that is known, generated or published.
///   accuracy [PART...]    PART: forecasts, collectives, intervals, attribution; all without any
#include "tests/benchmarks/accuracy.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

int main(int argc, char** argv) {
  using namespace scaleworth::accuracy;
  constexpr std::pair<std::string_view, std::vector<Row> (*)()> parts[] = {
      {"forecasts", forecast_rows},
      {"collectives", collective_rows},
      {"intervals", interval_rows},
      {"attribution", attribution_rows}};
  fmt::print("| what | data | figure | goal |\n|---|---|---|---|\n");
  for (const auto& [name, rows] : parts) {
    if (argc > 1 && std::find(argv + 1, argv + argc, name) == argv + argc) continue;
    for (const Row& row : rows())
      fmt::print("| {} | {} | {} | {} |\n", row.what, row.data, row.figure, row.goal);
  }
}
