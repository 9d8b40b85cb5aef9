// SPDX-License-Identifier: Apache-2.0
/// Prints the tables of docs/accuracy.md: every forecast, fit, interval, name and predicted saving
/// against truth that is known, generated or published.
///   accuracy [PART...]    PART: forecasts, collectives, intervals, attribution; all without any
#include "tests/benchmarks/accuracy.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {
using scaleworth::accuracy::Row;

/// The rows of one question, whose figures need not be the same ones.
void print_table(const Row* from, const Row* to) {
  std::vector<std::string_view> columns;
  for (const Row* row = from; row != to; ++row)
    for (const auto& [column, value] : row->figures)
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  fmt::print("\n### {}\n\n", from->what);
  if (!from->goal.empty()) fmt::print("Goal: {}.\n\n", from->goal);
  fmt::print("| data | {} |\n|---{}|\n", fmt::join(columns, " | "), [&] {
    std::string rule;
    for (std::size_t i = 0; i < columns.size(); ++i) rule += "|---";
    return rule;
  }());
  for (const Row* row = from; row != to; ++row) {
    fmt::print("| {} |", row->data);
    for (const std::string_view column : columns) {
      const auto& all = row->figures;
      const auto at = std::ranges::find(all, column, &std::pair<std::string, std::string>::first);
      fmt::print(" {} |", at == all.end() ? "" : at->second);
    }
    fmt::print("\n");
  }
}
}  // namespace

int main(int argc, char** argv) {
  using namespace scaleworth::accuracy;
  constexpr std::pair<std::string_view, std::vector<Row> (*)()> parts[] = {
      {"forecasts", forecast_rows},
      {"collectives", collective_rows},
      {"intervals", interval_rows},
      {"attribution", attribution_rows}};
  for (const auto& [name, rows_of] : parts) {
    if (argc > 1 && std::find(argv + 1, argv + argc, name) == argv + argc) continue;
    const std::vector<Row> rows = rows_of();
    const Row* const end = rows.data() + rows.size();
    for (const Row* from = rows.data(); from != end;) {
      const Row* const to =
          std::find_if(from, end, [&](const Row& row) { return row.what != from->what; });
      print_table(from, to);
      from = to;
    }
  }
}
