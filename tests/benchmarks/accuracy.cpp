// SPDX-License-Identifier: Apache-2.0
/// Prints the table of docs/accuracy.md: every forecast, fit and interval against truth that is
/// known, generated or published.
#include "tests/benchmarks/accuracy.h"

#include <fmt/format.h>

int main() {
  using namespace scaleworth::accuracy;
  fmt::print("| what | data | figure | goal |\n|---|---|---|---|\n");
  for (const auto& rows : {forecast_rows(), collective_rows(), interval_rows()}) {
    for (const Row& row : rows) {
      fmt::print("| {} | {} | {} | {} |\n", row.what, row.data, row.figure, row.goal);
    }
  }
}
