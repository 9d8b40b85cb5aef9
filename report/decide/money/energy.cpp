// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::DecisionRow;

constexpr double grams_per_kilogram = 1000.0;
constexpr double million = 1e6;

template <class Has>
bool any_row(const DecideView& view, Has has) {
  const auto& rows = view.decision.rows;
  return std::any_of(rows.begin(), rows.end(), has);
}

bool has_energy(const DecisionRow& row) {
  return row.energy.has_value();
}

bool has_grams(const DecisionRow& row) {
  return row.energy && row.energy->grams;
}

bool has_work(const DecisionRow& row) {
  return row.energy_per_work.has_value();
}

bool is_rated(const DecisionRow& row) {
  return row.energy && !row.energy->metered;
}

Cell kilograms(const DecisionRow& row) {
  if (!has_grams(row)) return {};
  return number(transform(*row.energy->grams, [](double g) { return g / grams_per_kilogram; }));
}

bool is_metered(const DecisionRow& row) {
  return row.energy && row.energy->metered;
}

std::optional<double> joules_of_run(const DecisionRow& row) {
  if (!row.energy) return std::nullopt;
  return row.energy->joules.value;
}

/// "0.58 kWh and 0.2 kg CO2e", or "2.1 J for a unit of work".
std::string energy_text(const DecisionRow& row, bool by_unit) {
  if (by_unit && row.energy_per_work) {
    return fmt::format("{:.4g} J for a unit of work", *row.energy_per_work);
  }
  if (!row.energy) return "not known";
  std::string words = fmt::format("{:.4g} kWh", row.energy->facility_kwh.value);
  if (row.energy->grams) {
    words += fmt::format(" and {:.4g} kg CO2e", row.energy->grams->value / grams_per_kilogram);
  }
  return words;
}

/// Of a million units of work: carbon per joule times joules per work.
Cell grams_per_million(const DecisionRow& row) {
  if (!has_grams(row) || !row.energy_per_work) return {};
  const double per_joule = row.energy->grams->value / row.energy->joules.value;
  return number(per_joule * *row.energy_per_work * million);
}

const char* origin_of(const DecisionRow& row) {
  if (!row.energy) return row.energy_per_work ? "meter" : "n/a";
  return row.energy->metered ? "meter" : "rating";
}

Cell watts(const DecisionRow& row) {
  if (!row.energy) return {};
  return number(row.energy->joules.value / (row.same_work.value.value() * row.count));
}

std::string terms_note(const DecideView& view) {
  const model::PowerTerms& power = view.decision.power;
  std::string text;
  if (any_row(view, is_rated)) {
    text = fmt::format(
        "Rated: {:g} W per rank that computes and {:g} % of it while it waits, which it does {}. ",
        power.watts_per_rank.value_or(0.0),
        100.0 * power.waiting_power,
        any_row(view, [](const DecisionRow& row) { return row.parts_s[0].has_value(); })
            ? "outside the compute part"
            : "for 1 - efficiency of the time");
  }
  if (!any_row(view, has_energy)) {
    return "J of the machines for a unit of work, as the table says; --work for kWh of the whole.";
  }
  text += fmt::format("kWh are of the building, PUE {:g} (--pue)", power.power_usage_effectiveness);
  if (!view.options.grid.empty()) text += "; " + view.options.grid;
  return text + ". Making the machines, storage and what no meter saw are not in it.";
}

}  // namespace

Table energy_table(const DecideView& view) {
  Table table{"energy", "Energy and carbon of the same work", {count_parameter()}};
  const bool energy = any_row(view, has_energy);
  const bool grams = any_row(view, has_grams);
  const bool work = any_row(view, has_work);
  if (!energy && !work) return table;
  if (energy) {
    table.columns.push_back(decision_column("energy_kwh", "kWh", Unit::plain, {}));
    table.columns.push_back(decision_column("mean_w", "W per rank", Unit::plain, 0));
  }
  if (work)
    table.columns.push_back(decision_column("joules_per_work", "J per work", Unit::plain, {}));
  if (grams) table.columns.push_back(decision_column("co2e_kg", "kg CO2e", Unit::plain, {}));
  if (grams && work) {
    table.columns.push_back(
        decision_column("co2e_g_per_million_work", "g CO2e per 10^6 work", Unit::plain, {}));
  }
  table.columns.push_back(decision_column("origin", "by", Unit::plain, {}));
  for (const DecisionRow& row : view.decision.shown) {
    Row cells{{count_cell(row.count)}};
    if (energy) {
      cells.cells.push_back(row.energy ? Cell{number(row.energy->facility_kwh)} : Cell{});
      cells.cells.push_back(watts(row));
    }
    if (work) cells.cells.push_back(cell_or_absent(row.energy_per_work));
    if (grams) cells.cells.push_back(kilograms(row));
    if (grams && work) cells.cells.push_back(grams_per_million(row));
    cells.cells.emplace_back(std::string(origin_of(row)));
    table.rows.push_back(std::move(cells));
  }
  for (Column& column : table.columns) column.digits = 4;
  table.notes = {terms_note(view)};
  limit_rows(table);
  return table;
}

std::string energy_line(const DecideView& view) {
  const auto& rows = view.decision.rows;
  const bool by_unit = !any_row(view, has_energy);
  const auto joules = [&](const DecisionRow& row) {
    return by_unit ? row.energy_per_work : joules_of_run(row);
  };
  const DecisionRow* frugal = nullptr;
  bool all = true;
  for (const DecisionRow& row : rows) {
    const auto own = joules(row);
    all = all && own;
    if (own && (!frugal || *own < *joules(*frugal))) frugal = &row;
  }
  if (!frugal) return "";
  const int chosen = view.decision.rubric.chosen.value_or(view.decision.fastest);
  const std::string line =
      fmt::format("Energy at {}: {}", chosen, energy_text(view.decision.row(chosen), by_unit));
  const std::string mixed =
      any_row(view, is_rated) && any_row(view, is_metered)
          ? " Some are metered and some rated, which may differ by more than the counts do."
          : "";
  if (frugal->count == chosen) {
    return fmt::format(
        "{}, the least of {}.{}", line, all ? "all counts" : "those whose energy is known", mixed);
  }
  return fmt::format("{}; least{} at {}: {}.{}",
                     line,
                     all ? "" : " of those known",
                     frugal->count,
                     energy_text(*frugal, by_unit),
                     mixed);
}

}  // namespace scaleworth::report
