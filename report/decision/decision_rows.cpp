// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/table.h"
#include "src/model/decision/scaling_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using decide::DecisionRow;

constexpr std::size_t most_listed = 32;
constexpr double seconds_per_hour = 3600.0;

Table by_count(const std::string& id, const std::string& title, const DecideView& view) {
  Table table{id, title, {{"count", "count", Role::parameter, Unit::count}}};
  for (const DecisionRow& row : view.decision.shown) {
    const std::size_t place = table.rows.size() + 1;
    const bool kept = view.decision.shown.size() <= most_listed || std::has_single_bit(place) ||
                      place == view.decision.shown.size();
    table.rows.push_back({{number(row.count)}, !kept});
  }
  return table;
}

/// Nothing but the count: then there is nothing to tell.
Table if_any_row(Table table) {
  if (table.columns.size() < 2) table.rows.clear();
  return table;
}

std::vector<std::string> latency_names(const std::vector<DecisionRow>& rows) {
  std::vector<std::string> names;
  for (const DecisionRow& row : rows) {
    for (const decide::Latency& latency : row.facts.latencies) {
      if (std::find(names.begin(), names.end(), latency.name) == names.end()) {
        names.push_back(latency.name);
      }
    }
  }
  return names;
}

void add_facts(Table& table, const std::vector<DecisionRow>& rows) {
  add_column(
      table, rows, decision_column("layout", "layout", Unit::plain, {}), [](const auto& row) {
        const std::string text = decide::layout_text(row.facts.layout);
        return text.empty() ? Cell{} : Cell{text};
      });
  add_column(table, rows, decision_column("batch", "batch", Unit::count, {}), [](const auto& row) {
    return cell_or_absent(row.facts.batch);
  });
  add_column(table,
             rows,
             decision_column("microbatches", "microbatches", Unit::count, {}),
             [](const auto& row) { return cell_or_absent(row.facts.microbatches); });
  add_column(table,
             rows,
             decision_column("rate_usd_per_hour", "USD per rank and hour", Unit::plain, 2),
             [](const auto& row) {
               return row.facts.price ? Cell{number(row.facts.price->value() * seconds_per_hour)}
                                      : Cell{};
             });
}
}  // namespace

Table facts_table(const DecideView& view) {
  const auto& rows = view.decision.shown;
  Table table = by_count("facts", "What the table says of each count", view);
  add_column(table,
             rows,
             decision_column("work_per_s", "work per second", Unit::plain, {}),
             [](const auto& row) { return cell_or_absent(row.throughput); });
  for (const std::string& name : latency_names(rows)) {
    add_column(table,
               rows,
               decision_column("latency_" + name + "_s", name, Unit::seconds, {}),
               [&](const auto& row) { return cell_or_absent(row.facts.latency_s(name)); });
  }
  add_facts(table, rows);
  return if_any_row(std::move(table));
}

Table parts_table(const DecideView& view) {
  const auto& rows = view.decision.shown;
  Table table = by_count("parts", "Where the time of each count goes", view);
  for (const GroupInfo& group : part_groups) {
    const std::size_t i = index_of(group.id);
    const std::string name = group.name;
    add_column(table,
               rows,
               decision_column("part_" + name + "_s", name, Unit::seconds, {}),
               [&](const auto& row) { return cell_or_absent(row.parts_s[i]); });
    add_column(table,
               rows,
               decision_column("part_" + name, "of the time", Unit::percent, 1),
               [&](const auto& row) {
                 const auto& time = row.parts_s[i];
                 return time ? Cell{number(*time / row.time.value.value())} : Cell{};
               });
  }
  return if_any_row(std::move(table));
}

namespace {
void add_shares(Table& table, const std::vector<decide::RowLoss>& losses) {
  for (const GroupInfo& group : part_groups) {
    if (group.id == PartGroup::compute) continue;
    const std::size_t i = index_of(group.id);
    const bool always = group.id == PartGroup::communication || group.id == PartGroup::idle;
    const bool any =
        std::any_of(losses.begin(), losses.end(), [&](const auto& loss) { return loss.share[i]; });
    if (!any && !always) continue;
    const std::string name = group.name;
    table.columns.push_back(decision_column("share_" + name, name, Unit::percent, 1));
    for (std::size_t row = 0; row < losses.size(); ++row) {
      table.rows[row].cells.push_back(cell_or_absent(losses[row].share[i]));
    }
  }
}
}  // namespace

Table losses_table(const DecideView& view) {
  const auto& losses = view.decision.losses;
  Table table{"loss",
              "Where the missing speed-up went",
              {{"count", "count", Role::parameter, Unit::count},
               decision_column("folds_without_forecast", "folds missing", Unit::plain, 3)}};
  for (const decide::RowLoss& loss : losses) {
    table.rows.push_back(
        {{number(loss.count), number(loss.missing)}, table.rows.size() >= most_listed});
  }
  add_shares(table, losses);
  table.columns.push_back(decision_column(
      "speedup_without_communication", "speed-up without communication", Unit::plain, 3));
  table.columns.push_back(decision_column("speedup_without_idle", "without idle", Unit::plain, 3));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    table.rows[i].cells.push_back(cell_or_absent(losses[i].without_communication));
    table.rows[i].cells.push_back(cell_or_absent(losses[i].without_idle));
  }
  return table;
}

Table growth_table(const DecideView& view) {
  Table table{"growth",
              "How the parts grow with the count",
              {{"part", "part", Role::parameter, Unit::plain},
               decision_column("exponent", "exponent", Unit::plain, 2),
               decision_column("slope_s", "s per count", Unit::plain, 2),
               decision_column("intercept_s", "s at count 0", Unit::plain, 1)}};
  for (const decide::PartGrowth& growth : view.decision.growth) {
    table.rows.push_back({{std::string(group_name(growth.part)),
                           number(growth.exponent),
                           number(growth.slope),
                           number(growth.intercept)}});
  }
  return table;
}

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

std::string straggler_line(const DecideView& view) {
  if (const auto& straggler = view.decision.straggler) {
    return fmt::format("At {} the others wait for rank {}, {} of each step in all.",
                       straggler->count,
                       straggler->rank,
                       format_quantity(number(straggler->cost), Unit::seconds));
  }
  const std::string& straggler = view.decision.diagnosis.straggler;
  if (straggler.empty()) return "";
  return fmt::format("At {} the others wait for {}.", view.decision.rows.back().count, straggler);
}

std::string factor_line(const DecideView& view) {
  std::string text = view.decision.diagnosis.factor_note;
  if (text.empty()) return "";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}
}  // namespace scaleworth::report
