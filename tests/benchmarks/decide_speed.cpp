// SPDX-License-Identifier: Apache-2.0
/// How long a decision on a large table takes: reading, the figures alone, and with intervals.
#include "src/cli/input/table_input.h"
#include "src/model/decision/decision.h"

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>

#include <fmt/format.h>

namespace {

/// Counts 1 to `rows` of T(K) = 3600 s (0.03 + 0.97/K + 1e-6 (K-1)) with 1 % of wobble.
std::string table_text(int rows) {
  std::string text = "p,time_s,quality,batch,rate_usd_per_hour\n";
  for (int k = 1; k <= rows; ++k) {
    const double time = 3600.0 * (0.03 + 0.97 / k + 1e-6 * (k - 1.0));
    text += fmt::format("{},{:.6f},0.87,512,2.1\n", k, time * (1.0 + 0.01 * std::sin(7.0 * k)));
  }
  return text;
}

template <class Work>
void timed(const char* what, Work work) {
  const std::clock_t start = std::clock();
  work();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{:<28} {:8.1f} ms of CPU\n", what, 1000.0 * seconds);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace scaleworth;
  const int rows = argc > 1 ? std::atoi(argv[1]) : 10000;
  const std::string text = table_text(rows);
  cli::TableFile file;
  timed("reading", [&] { file = cli::parse_table(text, "table.csv"); });
  model::DecisionRequest request;
  request.metrics.prices = model::Prices{dollars_per_hour(2.1), dollars_per_hour(9.0)};
  timed("deciding", [&] { model::decide_table(file.table, request); });
  return 0;
}
