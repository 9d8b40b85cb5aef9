// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/words.h"

#include <cmath>

namespace scaleworth::report {
namespace {

constexpr double grams_per_kilogram = 1000.0;
constexpr double million = 1e6;

bool any_energy(const DecideView& view) {
  return any_has(view.decision.rows, &DecisionRow::energy);
}

/// Whether any row's energy is metered, or else rated.
bool any_energy(const DecideView& view, bool metered) {
  return std::ranges::any_of(view.decision.rows, [=](const DecisionRow& row) {
    return row.energy && row.energy->metered == metered;
  });
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
  if (!row.energy || !row.energy->grams || !row.energy_per_work) return {};
  const double per_joule = row.energy->grams->value / row.energy->joules.value;
  return number(per_joule * *row.energy_per_work * million);
}

std::string terms_note(const DecideView& view) {
  const PowerTerms& power = view.decision.request.metrics.power;
  std::string text;
  if (any_energy(view, false)) {
    text = fmt::format(
        "Rated: {:g} W per rank that computes and {:g} % of it while it waits, which it does {}. ",
        power.watts_per_rank.value_or(0.0),
        100.0 * power.waiting_power,
        any_has(view.decision.rows,
                [](const DecisionRow& row) { return row.parts_s[index_of(PartGroup::compute)]; })
            ? "outside the compute part"
            : "for 1 - efficiency of the time");
  }
  if (!any_energy(view)) {
    return fmt::format("J of the machines for a unit of work, as the table says; {}.",
                       view.words("--work for kWh of the whole", "kWh of the whole need its work"));
  }
  text += fmt::format("kWh are of the building, PUE {:g}{}",
                      power.power_usage_effectiveness,
                      view.words(" (--pue)", ""));
  if (!power.grid.empty()) text += "; " + power.grid;
  return text + ".";
}

/// Energy and carbon of the chosen count, and of the one with the lowest energy; empty where it is
/// known of none.
std::string energy_line(const DecideView& view) {
  const bool by_unit = !any_energy(view);
  const auto joules = [&](const DecisionRow& row) {
    if (by_unit) return row.energy_per_work;
    return row.energy ? std::optional(row.energy->joules.value) : std::nullopt;
  };
  const DecisionRow* lowest = nullptr;
  for (const DecisionRow& row : view.decision.rows) {
    const auto own = joules(row);
    if (own && (!lowest || *own < *joules(*lowest))) lowest = &row;
  }
  if (!lowest) return "";
  const bool all = all_have(view.decision.rows, joules);
  const int chosen = view.decision.rubric.chosen.value_or(view.decision.named.fastest);
  const std::string line =
      fmt::format("Energy at {}: {}", chosen, energy_text(view.decision.row(chosen), by_unit));
  const std::string least =
      lowest->count == chosen
          ? fmt::format(", the least of {}.", all ? "all counts" : "those whose energy is known")
          : fmt::format("; least{} at {}: {}.",
                        all ? "" : " of those known",
                        lowest->count,
                        energy_text(*lowest, by_unit));
  return line + least;
}

constexpr std::size_t most_columns = 6;

std::string checkpoint_terms(const Preemption& at) {
  return fmt::format(
      "checkpoint {:g} s, restart {:g} s", at.checkpoint.value(), at.restart.value());
}

/// "a failure in 50.7 thousand rank-hours"; empty without failures.
std::string failure_terms(const Preemption& at) {
  if (!(at.failures_per_hour > 0.0)) return "";
  const double hours = 1.0 / at.failures_per_hour;
  return fmt::format("a failure in {:.3g}{} rank-hours{}",
                     hours < 1e3 ? hours : 1e-3 * hours,
                     hours < 1e3 ? "" : " thousand",
                     at.failures_per_hour == published_failures_per_hour
                         ? " (per GPU, 419 in 54 days on 16,384 GPUs: Llama 3 405B, arXiv "
                           "2407.21783, table 5)"
                         : "");
}

std::string interruption_terms(const Preemption& at) {
  const std::string failures = failure_terms(at);
  return fmt::format(
      "{:g} reclaims per instance and hour, {} per instance{}; {}, {:g} s unpaid, notice {:g} s{}",
      at.per_hour,
      at.ranks_per_instance == 1 ? "1 rank" : fmt::format("{} ranks", at.ranks_per_instance),
      failures.empty() ? "" : "; " + failures,
      checkpoint_terms(at),
      at.reacquisition.value(),
      at.notice.value(),
      at.notice >= at.checkpoint ? " (saves all work but that of the checkpoint's time)" : "");
}

struct TermsWords {
  const std::string& currency;

  std::string operator()(const PricePart& terms) const {
    const std::string price = fmt::format("{:g} % of the price", 100.0 * terms.part);
    if (!terms.utilisation) return price;
    return fmt::format(
        "{}, paid for all hours and used {:g} % of them", price, 100.0 * *terms.utilisation);
  }
  std::string operator()(const OwnedTerms& terms) const {
    return fmt::format(
        "bought for {:g} {}, sold for {:g} after {:g} years, {:g} % a year; used {:g} % of hours",
        terms.capital.value(),
        currency,
        terms.residual.value(),
        terms.lifetime_years,
        100.0 * terms.discount_rate,
        100.0 * terms.utilisation);
  }
  std::string operator()(const SpotTerms& terms) const {
    return fmt::format("{:g} {} per rank-hour; {}; costs are expected ones",
                       per_hour(terms.price_per_rank),
                       currency,
                       interruption_terms(terms.preemption));
  }
};

Table regimes_table(const DecideView& view) {
  using Result = RegimeResult;
  const auto& rows = view.decision.rows;
  const auto cost_at = [&](const Result& result, std::optional<int> count) {
    if (!count) return std::optional<Dollars>();
    const auto at = std::ranges::find(rows, *count, &DecisionRow::count);
    return result.costs[static_cast<std::size_t>(at - rows.begin())];
  };
  const auto dollars = [](const std::string& id, const std::string& header) {
    return measure(id, header, Unit::dollars).with_decimals(4);
  };
  std::vector<ColumnOf<Result>> columns{
      {parameter("regime", "regime"), [](const Result& one) { return one.regime.name; }},
      {dollars("price_per_used_hour_usd", "used rank-hour"),
       [](const Result& one) { return per_hour(one.per_rank); }},
      {measure("cheapest", "cheapest count", Unit::count),
       path(&Result::choice, &CostChoice::cheapest)},
      {dollars("cheapest_usd", "its cost"), [&](const Result& one) {
         return one.choice ? cost_at(one, one.choice->cheapest) : std::nullopt;
       }}};
  if (view.decision.request.rubric.deadline) {
    columns.push_back(
        {measure("cheapest_in_time", "in time", Unit::count), &Result::cheapest_in_time});
    columns.push_back({dollars("cheapest_in_time_usd", "its cost"),
                       [&](const Result& one) { return cost_at(one, one.cheapest_in_time); }});
  }
  columns.push_back({share("break_even", "pays from a use of").if_present(), &Result::break_even});
  columns.push_back({share("goodput", "goodput at it").if_present(), &Result::goodput});
  for (std::size_t i = 0; i < rows.size() && rows.size() <= most_columns; ++i) {
    columns.push_back(
        {dollars(fmt::format("cost_at_{}_usd", rows[i].count), fmt::format("at {}", rows[i].count)),
         [i](const Result& one) { return one.costs[i]; }});
  }
  std::vector<std::string> notes = mapped(view.decision.regimes, [&](const Result& one) {
    return one.regime.name + ": " + regime_terms(one.regime, view.options.currency) + ".";
  });
  return make_table("regime",
                    "The same work under several ways to pay",
                    view.decision.regimes,
                    columns,
                    std::move(notes));
}

/// What the value of time is of the chosen count's cost; empty without one.
std::string waiting_line(const DecideView& view) {
  const auto& decision = view.decision;
  const std::string& currency = view.options.currency;
  const auto& prices = decision.request.metrics.prices;
  if (!prices || !(prices->value_of_time.value() > 0.0)) return "";
  const int count = decision.rubric.chosen.value_or(decision.named.fastest);
  const auto lines = bill_lines(*prices, count, decision.row(count).wall().value);
  return fmt::format(
      "Waiting is valued at {:g} {} per hour: {} of the {} at {}, which no bill or budget holds.",
      per_hour(prices->value_of_time),
      currency,
      format_money(number(lines.waiting), currency),
      format_money(number(lines.total()), currency),
      count);
}

/// From which use on it pays what runs unused too, or what its price leaves out; else empty.
std::string regime_line(const DecideView& view, const RegimeResult& one) {
  constexpr double month = 730.0;  // hours
  if (one.certain_spot())
    return fmt::format("The price of {} counts no reclaim{}.",
                       one.regime.name,
                       view.words("; --spot-price and --preemption-per-hour do", ""));
  if (!one.break_even) return "";
  const double least = *one.break_even * month;
  return capitalised(one.regime.name) + " costs less than the price given " +
         (least > month
              ? "at no use."
              : fmt::format("from {:.0f} of the {:g} hours of a month on.", least, month));
}

Table spot_table(const DecideView& view) {
  if (!view.decision.spot || !view.decision.request.spot) return {};
  std::vector<SpotCount> counts;
  for (const auto& row : view.decision.shown)
    counts.push_back(*find_in(view.decision.spot->counts, row.count, &SpotCount::ranks));
  std::vector<ColumnOf<SpotCount>> columns{
      {count_parameter(), &SpotCount::ranks},
      {measure("expected_h", "expected", Unit::hours).with_decimals(3),
       path(&SpotCount::plan, [](const SpotPlan& plan) { return hours(plan.expected); })},
      {share("overhead", "longer by"), path(&SpotCount::plan, &SpotPlan::overhead)},
      {measure("checkpoint_every_s", "work between checkpoints", Unit::seconds),
       path(&SpotCount::plan, &SpotPlan::interval)},
      {measure("segments", "segments", Unit::count), path(&SpotCount::plan, &SpotPlan::segments)},
      {measure("expected_usd", "expected cost", Unit::dollars).with_decimals(3), &SpotCount::cost}};
  const bool deadline = view.decision.request.rubric.deadline.has_value();
  columns.push_back({share("goodput", "goodput"), path(&SpotCount::plan, &SpotPlan::goodput)});
  columns.back().column.detail = true;
  if (deadline) columns.push_back({share("in_time", "in time"), &SpotCount::in_time});
  const Preemption& terms = view.decision.request.spot->preemption;
  return limit_rows(
      make_table("spot",
                 "On machines that may be taken away",
                 counts,
                 columns,
                 {fmt::format("Poisson: {}{}.",
                              interruption_terms(terms),
                              view.words(" (--ranks-per-instance, --checkpoint-s, --restart-s, "
                                         "--reacquire-s, --notice-s)",
                                         ""))}));
}

Table failures_table(const DecideView& view) {
  const auto& decision = view.decision;
  if (!decision.rows.front().failures) return {};
  const auto of_plan = [](auto value) {
    return path(&DecisionRow::failures,
                [=](const FailurePlan& at) { return std::invoke(value, at.plan); });
  };
  return limit_rows(make_table<DecisionRow>(
      "failures",
      "Failures and goodput",
      decision.shown,
      {{count_parameter(), &DecisionRow::count},
       {measure("mean_time_between_failures_h", "a failure in", Unit::hours).with_digits(3),
        [](const DecisionRow& row) {
          return hours(mean_time_between_interruptions(row.failures->terms, row.count));
        }},
       {measure("checkpoint_every_s", "work between checkpoints", Unit::seconds),
        of_plan(&SpotPlan::interval)},
       {share("goodput", "goodput"), of_plan(&SpotPlan::goodput)},
       {measure("expected_h", "expected", Unit::hours).with_decimals(3),
        [](const DecisionRow& row) { return hours(row.wall().value); }},
       {measure("expected_usd", "expected cost", Unit::dollars).with_decimals(3).if_present(),
        &DecisionRow::cost}},
      {fmt::format("{}; {}, at the best interval{}{}.",
                   capitalised(failure_terms(decision.rows.front().failures->terms)),
                   checkpoint_terms(decision.rows.front().failures->terms),
                   view.words(" (--mtbf-hours, --checkpoint-s, --restart-s, --reacquire-s)", ""),
                   decision.basis == TimeBasis::run ? "" : " of a long job")}));
}

/// What failures leave of the chosen count's wall time; empty where they are not counted.
std::string failures_line(const DecideView& view) {
  const int count = view.decision.rubric.chosen.value_or(view.decision.named.fastest);
  const auto& failures = view.decision.row(count).failures;
  if (!failures) return "";
  const SpotPlan& plan = failures->plan;
  return fmt::format(
      "Failures are counted in: {} is interrupted every {:.3g} h, goodput {:.2f} %{}.",
      count,
      hours(mean_time_between_interruptions(failures->terms, count)),
      100.0 * plan.goodput(),
      plan.segments == 1
          ? " without a checkpoint"
          : fmt::format(" with a checkpoint every {:.0f} s of work", plan.interval.value()));
}

/// A count that saves less than this against a measured one is not worth a measurement.
constexpr double worth_measuring = 0.05;
// Probabilities beyond these are not printed.
constexpr double next_to_none = 0.001;
constexpr double nearly_all = 0.999;

/// "up to 3.2 h in 95 % of runs, the fit's uncertainty and 1.2 % of noise from run to run in it;
/// expected 3 h and 12.4 EUR".
std::string expectation(const DecideView& view, const DeadlineForecast& forecast) {
  const PredictedCount& one = *forecast.cheapest;
  std::string text = fmt::format(
      "up to {} in {} of runs, with the fit's uncertainty and {:.2g} % of noise; expected {}",
      format_quantity(number(one.upper), Unit::seconds),
      percent_text(forecast.deadline.probability),
      100.0 * forecast.noise.value_or(0.0),
      format_quantity(number(one.expected), Unit::seconds));
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
  const double times = static_cast<double>(one.count) / view.decision.rows.back().count;
  return fmt::format(
      "By the law {}, which was not measured{}, would meet the deadline{}: {}. Measure it first.",
      one.count,
      one.beyond ? fmt::format(" ({:.3g} times the largest)", times) : "",
      !forecast.measured  ? ""
      : one.expected_cost ? " for less"
                          : " with less time of all ranks together",
      expectation(view, forecast));
}

/// Where no measured count meets the deadline, and none that was looked at by the law.
std::string none_line(const DeadlineForecast& forecast) {
  const PredictedCount& fastest = forecast.fastest;
  const double most = std::max(forecast.in_time_anywhere, fastest.in_time);
  if (fastest.in_time >= forecast.deadline.probability)
    return fmt::format(
        "By the law {} meets the deadline in {} of runs, but is not within every limit.",
        fastest.count,
        percent_text(std::min(fastest.in_time, nearly_all)));
  return fmt::format(
      "By the laws that hold no count from {} to {} meets the deadline with {}: {} would.",
      forecast.from,
      forecast.to,
      percent_text(forecast.deadline.probability),
      most < next_to_none
          ? "fewer than 0.1 % of runs"
          : fmt::format("at most {} of runs", percent_text(std::min(most, nearly_all))));
}

/// That one more run at the chosen count may miss the deadline; empty where it meets it with the
/// probability asked for.
std::string deadline_warning_line(const DecideView& view) {
  const auto& forecast = view.decision.deadline_forecast;
  if (!forecast || !forecast->measured_in_time) return "";
  if (view.decision.rubric.chosen != forecast->measured) return "";
  if (*forecast->measured_in_time >= forecast->deadline.probability) return "";
  const std::size_t runs = view.decision.row(*forecast->measured).time.samples;
  return fmt::format(
      "The deadline is met by {} so far; with {:.2g} % of noise one more at {} does with {}.",
      runs < 2 ? std::string("one run") : fmt::format("the median of {} runs", runs),
      100.0 * *forecast->noise,
      *forecast->measured,
      percent_text(*forecast->measured_in_time));
}

/// The count that by the law meets the deadline, or that none does; empty where a measured one is
/// hardly more expensive.
std::string forecast_line(const DecideView& view) {
  const auto& forecast = view.decision.deadline_forecast;
  if (!forecast) return "";
  if (forecast->unavailable) {
    if (forecast->measured) return "";
    return fmt::format("No law shows whether an unmeasured count meets the deadline: {}.",
                       said(*forecast->unavailable, view.options.audience));
  }
  if (!forecast->cheapest) return forecast->measured ? "" : none_line(*forecast);
  if (forecast->measured && !cheaper_than_measured(view, *forecast)) return "";
  return predicted_line(view, *forecast);
}

/// What more of the quality costs where it comes with more work: by the last step that reached
/// more, per 1, 0.1, 0.01 ... of it; else empty.
std::string quality_price_line(const DecideView& view) {
  std::string text;
  double unit = 0.0;
  for (const MarginalStep& step : view.decision.steps) {
    if (!step.quality_cost) continue;
    if (text.empty()) unit = std::pow(10.0, std::floor(std::log10(step.quality_gained)));
    const Dollars each = *step.quality_cost * (unit / step.quality_gained);
    text += fmt::format("{}{}{} from {} to {}",
                        text.empty() ? "" : ", ",
                        format_money(number(each), view.options.currency),
                        text.empty() ? fmt::format(" for each {:g} of it", unit) : "",
                        step.from,
                        step.to);
  }
  return text.empty() ? "" : "More work, better quality: " + text + ".";
}
}  // namespace

Table energy_table(const DecideView& view) {
  const auto& rows = view.decision.rows;
  if (!any_energy(view) && !any_has(rows, &DecisionRow::energy_per_work)) return {};
  const auto column = [](const char* id, const char* header) {
    return measure(id, header).with_digits(4).if_present();
  };
  const auto mean_power = [](const DecisionRow& row) {
    if (!row.energy) return Cell{};
    return as_cell(row.energy->joules.value / (row.same_work.value.value() * row.count));
  };
  const auto kilograms = [](const JobEnergy& energy) {
    if (!energy.grams) return Cell{};
    return as_cell(transform(*energy.grams, [](double g) { return g / grams_per_kilogram; }));
  };
  const auto origin = [](const DecisionRow& row) {
    if (!row.energy) return row.energy_per_work ? "meter" : "n/a";
    return row.energy->metered ? "meter" : "rating";
  };
  return limit_rows(make_table<DecisionRow>(
      "energy",
      "Energy and carbon of the same work",
      view.decision.shown,
      {{count_parameter().with_digits(4), &DecisionRow::count},
       {column("energy_kwh", "kWh"), path(&DecisionRow::energy, &JobEnergy::facility_kwh)},
       {column("mean_w", "W per rank").with_decimals(0), mean_power},
       {column("joules_per_work", "J per unit of work"), &DecisionRow::energy_per_work},
       {column("co2e_kg", "kg CO2e"), path(&DecisionRow::energy, kilograms)},
       {column("co2e_g_per_million_work", "g CO2e per million units"), grams_per_million},
       {column("origin", "by"), origin}},
      {terms_note(view)}));
}

std::string regime_terms(const Regime& regime, const std::string& currency) {
  return std::visit(TermsWords{currency}, regime.terms);
}

std::vector<Table> money_tables(const DecideView& view) {
  return {regimes_table(view), spot_table(view), failures_table(view)};
}

std::vector<std::string> deadline_lines(const DecideView& view) {
  return {deadline_warning_line(view), forecast_line(view)};
}

std::vector<std::string> cost_lines(const DecideView& view) {
  std::vector<std::string> lines = mapped(
      view.decision.regimes, [&](const RegimeResult& one) { return regime_line(view, one); });
  lines.insert(lines.begin(), quality_price_line(view));
  lines.insert(lines.end(), {failures_line(view), waiting_line(view), energy_line(view)});
  return lines;
}
}  // namespace scaleworth::report
