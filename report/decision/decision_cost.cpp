// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

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
  const model::PowerTerms& power = view.decision.request.metrics.power;
  std::string text;
  if (any_row(view, is_rated)) {
    text = fmt::format(
        "Rated: {:g} W per rank that computes and {:g} % of it while it waits, which it does {}. ",
        power.watts_per_rank.value_or(0.0),
        100.0 * power.waiting_power,
        any_row(view,
                [](const DecisionRow& row) {
                  return row.parts_s[index_of(PartGroup::compute)].has_value();
                })
            ? "outside the compute part"
            : "for 1 - efficiency of the time");
  }
  if (!any_row(view, has_energy)) {
    return "J of the machines for a unit of work, as the table says; --work for kWh of the whole.";
  }
  text += fmt::format("kWh are of the building, PUE {:g} (--pue)", power.power_usage_effectiveness);
  if (!power.grid.empty()) text += "; " + power.grid;
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
  const int chosen = view.decision.rubric.chosen.value_or(view.decision.named.fastest);
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

namespace {
constexpr std::size_t most_columns = 6;

struct Words {
  std::string operator()(const decide::PricePart& terms) const {
    return used(fmt::format("{:g} % of the price", 100.0 * terms.part), terms.utilisation);
  }
  std::string operator()(const decide::ListPrice& terms) const {
    return used(fmt::format("{:g} USD per rank-hour", hourly_price(terms.per_rank)),
                terms.utilisation);
  }
  std::string operator()(const model::OwnedTerms& terms) const {
    return fmt::format(
        "bought for {:g} USD, sold for {:g} after {:g} years, {:g} % a year; {:g} kW at PUE {:g} "
        "and {:g} USD per kWh; {:g} USD a year to run; used {:g} % of the hours",
        terms.capital.value(),
        terms.residual.value(),
        terms.lifetime_years,
        100.0 * terms.discount_rate,
        terms.power_kw,
        terms.power_usage_effectiveness,
        terms.usd_per_kwh,
        terms.operation_usd_per_year,
        100.0 * terms.utilisation);
  }
  std::string operator()(const decide::SpotTerms& terms) const {
    const model::Preemption& at = terms.preemption;
    return fmt::format(
        "{:g} USD per rank-hour, {:g} reclaims per rank and hour; checkpoint {:g} s, restart {:g} "
        "s, notice {:g} s; costs are expected ones",
        hourly_price(terms.price_per_rank),
        at.per_hour,
        at.checkpoint.value(),
        at.restart.value(),
        at.notice.value());
  }

 private:
  static std::string used(const std::string& price, const std::optional<double>& utilisation) {
    if (!utilisation) return price;
    return fmt::format(
        "{}, paid for all hours and used {:g} % of them", price, 100.0 * *utilisation);
  }
};

std::vector<Column> regime_columns(bool in_time, bool break_even) {
  std::vector<Column> columns{
      {"regime", "regime", Role::parameter, Unit::plain},
      decision_column("price_per_used_hour_usd", "used rank-hour", Unit::dollars, 4),
      decision_column("cheapest", "cheapest count", Unit::count, {}),
      decision_column("cheapest_usd", "its cost", Unit::dollars, 4)};
  if (in_time) {
    columns.push_back(decision_column("cheapest_in_time", "in time", Unit::count, {}));
    columns.push_back(decision_column("cheapest_in_time_usd", "its cost", Unit::dollars, 4));
  }
  if (break_even) {
    columns.push_back(decision_column("break_even", "pays from a use of", Unit::percent, 1));
  }
  return columns;
}

Cell cost_at(const DecideView& view, const decide::RegimeResult& result, std::optional<int> count) {
  if (!count) return {};
  const auto& rows = view.decision.rows;
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.count == *count; });
  return cell_or_absent(result.costs[static_cast<std::size_t>(at - rows.begin())]);
}

Row regime_row(const DecideView& view,
               const decide::RegimeResult& result,
               bool in_time,
               bool break_even) {
  const std::optional<int> cheapest =
      result.choice ? std::optional(result.choice->cheapest) : std::nullopt;
  Row row{{result.regime.name,
           number(hourly_price(result.per_rank)),
           cell_or_absent(cheapest),
           cost_at(view, result, cheapest)}};
  if (in_time) {
    row.cells.push_back(cell_or_absent(result.cheapest_in_time));
    row.cells.push_back(cost_at(view, result, result.cheapest_in_time));
  }
  if (break_even) row.cells.push_back(cell_or_absent(result.break_even));
  return row;
}

model::BillLines lines_of(const decide::Decision& decision, const decide::DecisionRow& row) {
  model::BillTerms terms = *decision.request.bill;
  terms.per_rank = terms.per_rank * row.price_factor;
  return model::bill_lines(terms, row.count, row.same_work.value);
}
}  // namespace

std::string regime_terms(const decide::Regime& regime) {
  return std::visit(Words{}, regime.terms);
}

Table regimes_table(const DecideView& view) {
  const auto& decision = view.decision;
  const bool in_time = view.decision.request.rubric.deadline.has_value();
  const bool break_even =
      std::any_of(decision.regimes.begin(), decision.regimes.end(), [](const auto& result) {
        return result.break_even.has_value();
      });
  Table table{
      "regime", "The same work under several ways to pay", regime_columns(in_time, break_even)};
  const bool few = decision.rows.size() <= most_columns;
  for (const auto& row : decision.rows) {
    if (!few) break;
    table.columns.push_back(decision_column(fmt::format("cost_at_{}_usd", row.count),
                                            fmt::format("at {}", row.count),
                                            Unit::dollars,
                                            4));
  }
  for (const decide::RegimeResult& result : decision.regimes) {
    Row row = regime_row(view, result, in_time, break_even);
    for (const auto& cost : result.costs) {
      if (few) row.cells.push_back(cell_or_absent(cost));
    }
    table.rows.push_back(std::move(row));
    table.notes.push_back(result.regime.name + ": " + regime_terms(result.regime) + ".");
  }
  return table;
}

Table bill_table(const DecideView& view) {
  const auto& decision = view.decision;
  Table table{"bill",
              "What the cost consists of",
              {count_parameter(),
               decision_column("ranks_usd", "ranks", Unit::dollars, 3),
               decision_column("fixed_usd", "per hour", Unit::dollars, 3),
               decision_column("storage_usd", "storage", Unit::dollars, 3),
               decision_column("egress_usd", "egress", Unit::dollars, 3),
               decision_column("waiting_usd", "waiting, no bill", Unit::dollars, 3),
               decision_column("total_usd", "cost", Unit::dollars, 3)}};
  if (!decision.request.bill) return table;
  for (const auto& row : decision.shown) {
    const auto lines = lines_of(decision, row);
    table.rows.push_back({{count_cell(row.count),
                           number(lines.ranks),
                           number(lines.fixed),
                           number(lines.storage),
                           number(lines.egress),
                           number(lines.waiting),
                           number(lines.total())}});
  }
  limit_rows(table);
  return table;
}

std::string waiting_line(const DecideView& view) {
  const auto& decision = view.decision;
  if (!decision.request.bill || !(decision.request.bill->value_of_time.value() > 0.0)) return "";
  const int count = decision.rubric.chosen.value_or(decision.named.fastest);
  const auto lines =
      model::bill_lines(*decision.request.bill, count, decision.row(count).same_work.value);
  return fmt::format(
      "Waiting is valued at {:g} USD per hour: {} of the {} at {}. It acts exactly like a fixed "
      "price per hour, but is no bill, and a budget leaves it out.",
      hourly_price(decision.request.bill->value_of_time),
      decision_money(lines.waiting),
      decision_money(lines.total()),
      count);
}

namespace {
std::string bound(const std::optional<double>& at, const char* open) {
  return at ? fmt::format("{:.4g}", *at) : std::string(open);
}

void add(Table& table, const decide::Sensitivity& input, std::optional<int> count) {
  const bool any = !input.low && !input.high;
  const std::string from = any ? "any" : bound(input.low, "0");
  const std::string to = any ? "any" : bound(input.high, "no end");
  table.rows.push_back({{input.name + (input.unit.empty() ? "" : " (" + input.unit + ")"),
                         fmt::format("{:.4g}", input.value),
                         cell_or_absent(count),
                         from,
                         to,
                         number(input.elasticity)}});
}
}  // namespace

Table sensitivity_table(const DecideView& view) {
  const auto& decision = view.decision;
  Table table{"sensitivity",
              "What the cheapest count hangs on",
              {{"input", "input", Role::parameter, Unit::plain},
               decision_column("input_value", "value", Unit::plain, {}),
               decision_column("stays_at", "the cheapest stays", Unit::count, {}),
               decision_column("stays_from", "from", Unit::plain, {}),
               decision_column("stays_to", "to", Unit::plain, {}),
               decision_column("elasticity", "least cost per input, % per %", Unit::plain, 3)}};
  if (!decision.choice) return table;
  for (const auto& input : decision.sensitivities) add(table, input, decision.choice->cheapest);
  const auto spot = decision.spot ? decision.spot->cheapest : std::nullopt;
  for (const auto& input : decision.spot_sensitivities) add(table, input, spot);
  table.notes = {fmt::format(
      "One input at a time, looked for between 1/{0:g} and {0:g} times its value.{1}",
      decide::sensitivity_reach,
      decision.choice->price_cancels
          ? " Nothing is paid per hour of wall clock, so that the price per rank cancels: the "
            "cheapest count does not depend on it at all."
          : "")};
  return table;
}

namespace {
constexpr double seconds_per_hour = 3600.0;

const model::SpotCount& at_count(const DecideView& view, int count) {
  const auto& counts = view.decision.spot->counts;
  return *std::find_if(
      counts.begin(), counts.end(), [&](const auto& one) { return one.ranks == count; });
}

std::string expected(const model::SpotCount& at) {
  return fmt::format("expected {} and {:.3f} h",
                     decision_money(*at.cost),
                     at.plan->expected.value() / seconds_per_hour);
}

std::string chance(const model::SpotCount& at) {
  return fmt::format("{:.1f} %", 100.0 * at.in_time.value_or(0.0));
}

std::string in_time_line(const DecideView& view) {
  const model::SpotChoice& spot = *view.decision.spot;
  const double wanted = 100.0 * view.decision.request.rubric.deadline_probability;
  if (!spot.cheapest_in_time) {
    const auto& surest = at_count(view, *spot.surest);
    return fmt::format(
        "On spot no count meets the deadline with a probability of {:g} %: the surest, {}, has {}.",
        wanted,
        surest.ranks,
        chance(surest));
  }
  const auto& best = at_count(view, *spot.cheapest_in_time);
  std::string text = fmt::format(
      "On spot the cheapest that meets the deadline with a probability of {:g} % or more is {} "
      "({}): {}",
      wanted,
      best.ranks,
      chance(best),
      expected(best));
  if (best.ranks == *spot.cheapest) return text + ".";
  const auto& cheapest = at_count(view, *spot.cheapest);
  return fmt::format(
      "{}; the cheapest of all, {}, meets it with {}.", text, cheapest.ranks, chance(cheapest));
}

std::vector<Column> columns(bool deadline) {
  std::vector<Column> all{
      count_parameter(),
      decision_column("expected_h", "expected", Unit::hours, 3),
      decision_column("overhead", "longer by", Unit::percent, 1),
      decision_column("checkpoint_every_s", "work between checkpoints", Unit::seconds, {}),
      decision_column("segments", "segments", Unit::count, {}),
      decision_column("expected_usd", "expected cost", Unit::dollars, 3)};
  if (deadline) all.push_back(decision_column("in_time", "in time", Unit::percent, 1));
  return all;
}

Row spot_row(const model::SpotCount& at, bool deadline) {
  Row row{{count_cell(at.ranks), Cell{}, Cell{}, Cell{}, Cell{}, Cell{}}};
  if (at.plan) {
    row.cells = {count_cell(at.ranks),
                 number(at.plan->expected.value() / seconds_per_hour),
                 number(at.plan->overhead),
                 number(at.plan->interval),
                 count_cell(at.plan->segments),
                 number(*at.cost)};
  }
  if (deadline) row.cells.push_back(cell_or_absent(at.in_time));
  return row;
}
}  // namespace

std::vector<std::string> spot_lines(const DecideView& view) {
  const auto& spot = view.decision.spot;
  if (!spot) return {};
  if (!spot->cheapest) return {"On spot no count is expected to finish."};
  if (view.decision.request.rubric.deadline) return {in_time_line(view)};
  const auto& at = at_count(view, *spot->cheapest);
  return {fmt::format("On spot the cheapest is {}: {}.", at.ranks, expected(at))};
}

Table spot_table(const DecideView& view) {
  const bool deadline = view.decision.request.rubric.deadline.has_value();
  Table table{"spot", "On machines that may be taken away", columns(deadline)};
  if (!view.decision.spot || !view.decision.request.spot) return table;
  for (const auto& row : view.decision.shown) {
    table.rows.push_back(spot_row(at_count(view, row.count), deadline));
  }
  const model::Preemption& terms = view.decision.request.spot->preemption;
  table.notes = {fmt::format(
      "Poisson reclaims of {:g} per rank and hour, one ends the segment; checkpoint {:g} s, "
      "restart {:g} s, notice {:g} s (--checkpoint-s, --restart-s, --notice-s).{} n/a: does not "
      "finish.",
      terms.per_hour,
      terms.checkpoint.value(),
      terms.restart.value(),
      terms.notice.value(),
      deadline ? " In time: the chance of meeting the deadline, by "
                 "numerical inversion of this process's transform (to 0.001)."
               : "")};
  limit_rows(table);
  return table;
}

namespace {
using decide::DeadlineForecast;
using decide::PredictedCount;

/// A count that saves less than this against a measured one is not worth a measurement.
constexpr double worth_measuring = 0.05;

std::string percent(double part) {
  return fmt::format("{:.3g} %", 100.0 * part);
}

constexpr double nearly_all = 0.999;

std::string rarely(double part) {
  constexpr double next_to_none = 0.001;
  return part < next_to_none ? "fewer than 0.1 %" : "at most " + percent(part);
}

/// "up to 3.2 h in 95 % of runs, the fit's uncertainty and 1.2 % of noise from run to run in it;
/// expected 3 h and 12.4 USD".
std::string expectation(const DecideView& view, const DeadlineForecast& forecast) {
  const PredictedCount& one = *forecast.cheapest;
  std::string text = fmt::format(
      "up to {} in {} of runs, the fit's uncertainty and {:.2g} % of noise from run to run in it; "
      "expected "
      "{}",
      decision_time(view, one.upper),
      percent(forecast.deadline.probability),
      100.0 * forecast.noise.value_or(0.0),
      decision_time(view, one.expected));
  if (one.expected_cost) text += " and " + decision_money(view, *one.expected_cost);
  return text;
}

/// Whether the law's count is worth a measurement although measured ones meet the deadline.
bool cheaper_than_measured(const DecideView& view, const DeadlineForecast& forecast) {
  const DecisionRow& row = view.decision.row(*forecast.measured);
  const PredictedCount& one = *forecast.cheapest;
  constexpr double part = 1.0 - worth_measuring;
  if (row.cost && one.expected_cost) return *one.expected_cost < row.cost->value * part;
  return one.expected * one.count < row.same_work.value * row.count * part;
}

std::string predicted_line(const DecideView& view, const DeadlineForecast& forecast) {
  const PredictedCount& one = *forecast.cheapest;
  std::string against;
  if (forecast.measured) {
    const DecisionRow& row = view.decision.row(*forecast.measured);
    against = fmt::format(
        "; measured is {} at {}", decision_time(view, row.same_work.value), *forecast.measured);
    if (row.cost) against += " for " + decision_money(view, row.cost->value);
  }
  return fmt::format(
      "By the law {}, which was not measured{}, would meet the deadline{}: {}{}. "
      "Measure it before you buy it.",
      one.count,
      one.beyond ? fmt::format(" ({:.3g} times the largest)",
                               static_cast<double>(one.count) / view.decision.rows.back().count)
                 : "",
      !forecast.measured  ? ""
      : one.expected_cost ? " for less"
                          : " with less time of all ranks together",
      expectation(view, forecast),
      against);
}

/// Where no measured count meets the deadline, and none that was looked at by the law.
std::string none_line(const DecideView& view, const DeadlineForecast& forecast) {
  const std::string least =
      forecast.peak ? fmt::format("at its peak, {:.0f}, a run is expected to take {}",
                                  *forecast.peak,
                                  decision_time(view, forecast.least))
                    : fmt::format("the time tends to {}", decision_time(view, forecast.least));
  if (forecast.in_time_anywhere < forecast.deadline.probability) {
    return fmt::format(
        "By the law no count meets the deadline with {}, at any price: {}, and {} of "
        "runs would be in time.",
        percent(forecast.deadline.probability),
        least,
        rarely(forecast.in_time_anywhere));
  }
  const PredictedCount& fastest = forecast.fastest;
  if (fastest.in_time >= forecast.deadline.probability) {
    return fmt::format(
        "By the law counts that were not measured meet the deadline (the fastest, {}, in {} of "
        "runs), but none of them the efficiency threshold and the budget too.",
        fastest.count,
        percent(std::min(fastest.in_time, nearly_all)));
  }
  return fmt::format(
      "By the law none of {} to {} meets the deadline with {}: the fastest, {}, does in {} of "
      "runs. "
      "Larger counts are too far from the measured ones for a forecast.",
      forecast.from,
      forecast.to,
      percent(forecast.deadline.probability),
      fastest.count,
      percent(fastest.in_time));
}

Json noise_from(const DeadlineForecast& forecast) {
  if (!forecast.noise) return nullptr;
  return forecast.noise_measured ? "repeats" : "repeats and residuals";
}

Json predicted_json(const PredictedCount& one) {
  return {{"count", one.count},
          {"expected_s", json_value(one.expected)},
          {"upper_s", json_value(one.upper)},
          {"probability_in_time", json_value(one.in_time)},
          {"expected_usd", json_value(one.expected_cost)},
          {"upper_usd", json_value(one.upper_cost)},
          {"beyond_measured", one.beyond}};
}
}  // namespace

std::string deadline_warning_line(const DecideView& view) {
  const auto& forecast = view.decision.deadline_forecast;
  if (!forecast || !forecast->measured_in_time) return "";
  if (view.decision.rubric.chosen != forecast->measured) return "";
  if (*forecast->measured_in_time >= forecast->deadline.probability) return "";
  const std::size_t runs = view.decision.row(*forecast->measured).time.samples;
  return fmt::format(
      "The deadline is met by {} so far; with {:.2g} % of noise from run to run one "
      "more at {} meets it with a probability of {}.",
      runs < 2 ? std::string("one run") : fmt::format("the median of {} runs", runs),
      100.0 * *forecast->noise,
      *forecast->measured,
      percent(*forecast->measured_in_time));
}

std::string forecast_line(const DecideView& view) {
  const auto& forecast = view.decision.deadline_forecast;
  if (!forecast) return "";
  if (!forecast->unavailable.empty()) {
    if (forecast->measured) return "";
    return fmt::format("No law shows whether an unmeasured count meets the deadline: {}.",
                       forecast->unavailable);
  }
  if (!forecast->cheapest) return forecast->measured ? "" : none_line(view, *forecast);
  if (forecast->measured && !cheaper_than_measured(view, *forecast)) return "";
  return predicted_line(view, *forecast);
}

Json deadline_forecast_json(const std::optional<DeadlineForecast>& forecast) {
  if (!forecast) return nullptr;
  const bool available = forecast->unavailable.empty();
  const auto if_available = [&](Json value) { return available ? value : Json(nullptr); };
  return {{"deadline_s", json_value(forecast->deadline.latest)},
          {"probability", json_value(forecast->deadline.probability)},
          {"cheapest_measured", json_value(forecast->measured)},
          {"cheapest_measured_in_time", json_value(forecast->measured_in_time)},
          {"unavailable", json_note(forecast->unavailable)},
          {"run_noise", json_value(forecast->noise)},
          {"noise_from", noise_from(*forecast)},
          {"looked_from", if_available(forecast->from)},
          {"looked_to", if_available(forecast->to)},
          {"looked_step", if_available(forecast->step)},
          {"cheapest_predicted",
           forecast->cheapest ? predicted_json(*forecast->cheapest) : Json(nullptr)},
          {"fastest", if_available(available ? predicted_json(forecast->fastest) : Json(nullptr))},
          {"probability_at_any_count", if_available(json_value(forecast->in_time_anywhere))},
          {"peak_count", available ? json_value(forecast->peak) : Json(nullptr)},
          {"least_expected_s", if_available(json_value(forecast->least))}};
}
}  // namespace scaleworth::report
