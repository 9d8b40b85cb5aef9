// SPDX-License-Identifier: Apache-2.0
/// Prints the table of docs/accuracy.md: every forecast, fit and interval against truth that is
/// known, generated or published. `accuracy collectives` prints one of its parts.
#include "tests/benchmarks/accuracy.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

int main(int argc, char** argv) {
  using namespace scaleworth::accuracy;
  const std::string_view only = argc > 1 ? argv[1] : "";
  fmt::print("| what | data | figure | goal |\n|---|---|---|---|\n");
  for (const auto& [name, rows_of] : {std::pair{"forecast", &forecast_rows},
                                      std::pair{"collectives", &collective_rows},
                                      std::pair{"intervals", &interval_rows}}) {
    if (!only.empty() && only != name) continue;
    for (const Row& row : rows_of()) {
      fmt::print("| {} | {} | {} | {} |\n", row.what, row.data, row.figure, row.goal);
    }
  }
}
