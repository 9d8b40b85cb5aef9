// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using attribution::Efficiency;

struct Factor {
  const char* id;
  const char* header;
  double Efficiency::*value;
};

constexpr std::array factors{Factor{"pop_parallel", "parallel efficiency", &Efficiency::parallel},
                             Factor{"pop_load_balance", "load balance", &Efficiency::load_balance},
                             Factor{"pop_host", "host", &Efficiency::host},
                             Factor{"pop_dependency", "dependency", &Efficiency::dependency},
                             Factor{"pop_transfer", "transfer", &Efficiency::transfer}};

double useful_s(const Efficiency& one) {
  double sum = 0.0;
  for (const auto& time : one.useful) sum += std::chrono::duration<double>(time).count();
  return sum;
}

}  // namespace

Table factors_table(const DecideView& view) {
  Table table{"factors",
              "POP factors of each count; the last four multiply to the first",
              {count_parameter()}};
  for (const Factor& factor : factors) {
    table.columns.push_back(decision_column(factor.id, factor.header, Unit::percent, 1));
  }
  table.columns.push_back(
      decision_column("useful_rank_s", "useful time of a step, all ranks", Unit::seconds, {}));
  for (const decide::LedgerFacts& ledger : view.decision.ledgers) {
    std::vector<Cell> cells{count_cell(ledger.count)};
    for (const Factor& factor : factors) {
      cells.push_back(ledger.factors ? Cell{number((*ledger.factors).*factor.value)} : Cell{});
    }
    cells.push_back(ledger.factors ? Cell{number(useful_s(*ledger.factors))} : Cell{});
    table.rows.push_back({std::move(cells)});
    if (!ledger.no_factors.empty()) {
      table.notes.push_back(fmt::format("None at {}: {}.", ledger.count, ledger.no_factors));
    }
  }
  limit_rows(table);
  return table;
}

}  // namespace scaleworth::report
