// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/words.h"

#include <array>
#include <cmath>
#include <span>
#include <tuple>

namespace scaleworth::report {
namespace {
/// Amounts below are printed by their digits, and those of rows by their work.
constexpr double cent = 0.01;

/// "1 to 8, 16": runs of consecutive counts as ranges.
std::string count_ranges(const std::vector<int>& counts) {
  std::string text;
  for (std::size_t first = 0; first < counts.size();) {
    std::size_t last = first;
    while (last + 1 < counts.size() && counts[last + 1] == counts[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last - first < 2 ? fmt::format("{}", counts[first])
                             : fmt::format("{} to {}", counts[first], counts[last]);
    first = last - first < 2 ? first + 1 : last + 1;
  }
  return text;
}

/// " per million tokens", of times that are of some units of work; " a step"; else empty.
std::string per_work(const Decision& decision) {
  if (decision.basis == TimeBasis::step) return " a step";
  if (decision.basis != TimeBasis::work_unit || !decision.rows.front().work) return "";
  // A weak table's rows have as much more as they are more; of them the first one's counts.
  const double exponent = std::round(std::log10(*decision.rows.front().work));
  constexpr std::array names{"unit", "thousand", "million", "billion", "trillion"};
  const auto thousands = static_cast<std::size_t>(std::max(0.0, exponent / 3.0));
  const std::string amount =
      thousands < names.size() ? names[thousands] : fmt::format("10^{:.0f}", exponent);
  const std::string noun = decision.read.of_flops       ? "FLOP"
                           : decision.work_noun.empty() ? "units of work"
                                                        : decision.work_noun;
  return thousands == 0 ? " per unit of work" : fmt::format(" per {} {}", amount, noun);
}

/// As the table has it: of weak scaling the time of more work than the first row's.
std::string own_time(const Decision& decision, const DecisionRow& row) {
  const bool same = decision.basis == TimeBasis::work_unit || limits_of_first_work(decision);
  const double growth = same ? 1.0 : row.work_growth();
  return format_quantity(number(row.wall().value * growth), Unit::seconds);
}

/// What a row costs: "$0.277 by reserved ($0.924 at the price given, $0.555 by spot in 3 h)" where
/// other ways to pay were asked for, the cheapest of those that are in time first; behind those the
/// ways that take longer, since the time of the row is not theirs.
std::string cost_text(const DecideView& view, const DecisionRow& row) {
  const Decision& decision = view.decision;
  constexpr std::size_t most_named = 3;
  const auto place = static_cast<std::size_t>(
      std::ranges::find(decision.rows, row.count, &DecisionRow::count) - decision.rows.begin());
  using Way = std::tuple<bool, Dollars, std::string>;  // whether it takes longer
  std::vector<Way> ways{{false, row.cost->value, " at the price given"}};
  std::vector<std::string> late;
  for (const RegimeResult& one : decision.regimes) {
    const auto& cost = one.costs.at(place);
    if (!one.in_time.at(place)) late.push_back(one.regime.name);
    if (!cost || !one.in_time.at(place) || *cost == row.cost->value) continue;
    const bool longer = !one.expected.empty();
    ways.emplace_back(
        longer,
        *cost,
        " by " + one.regime.name + (one.certain_spot() ? " without reclaims" : "") +
            (longer ? " in " + format_quantity(number(*one.expected.at(place)), Unit::seconds)
                    : ""));
  }
  if (ways.size() < 2)
    return decision_money(view, row.cost->value) +
           (late.empty()
                ? ""
                : fmt::format(" at the price given (too late by {})", fmt::join(late, ", ")));
  std::ranges::sort(ways);
  ways.resize(std::min(ways.size(), most_named));
  const auto told = [&](const Way& way) {
    return decision_money(view, std::get<1>(way)) + std::get<2>(way);
  };
  return fmt::format("{} ({})", told(ways.front()), listed(std::span(ways).subspan(1), told, ", "));
}

std::string figures(const DecideView& view, const DecisionRow& row) {
  const std::string ratios = fmt::format(
      "speed-up {:.2f}, efficiency {:.1f} %", row.speedup.value, 100.0 * row.efficiency.value);
  // Times of nothing are not told.
  if (view.decision.relative) return ratios;
  std::string text = row.cost ? cost_text(view, row) + ", " : "";
  if (view.decision.rubric.objective == Objective::energy && row.energy)
    text += fmt::format("{:.4g} kWh, ", row.energy->facility_kwh.value);
  return fmt::format("{}{}{}{}, {}",
                     text,
                     own_time(view.decision, row),
                     limits_of_first_work(view.decision)
                         ? fmt::format(" for the same work as {}", view.decision.rows.front().count)
                         : per_work(view.decision),
                     row.failures ? " with failures" : "",
                     ratios);
}

/// "GPUs" of none or several, "GPU" of one; "ranks" where the table does not say what it counts.
std::string counted_noun(const Decision& decision, int count) {
  const std::string noun = decision.noun.empty() ? "ranks" : decision.noun;
  return count == 1 ? noun.substr(0, noun.size() - 1) : noun;
}

/// How the columns of a table were read: "Read as: 8 to 128 GPUs, hours, $2.50 per GPU-hour, tokens
/// per second of all GPUs, strong scaling."
std::string reading_line(const DecideView& view) {
  const Decision& decision = view.decision;
  const TableReading& read = decision.read;
  if (!read.table) return "";
  const int last = decision.rows.back().count;
  std::vector<std::string> parts;
  parts.push_back(
      fmt::format("{} to {} {}", decision.rows.front().count, last, counted_noun(decision, last)));
  if (decision.axis == Axis::load) parts.front() += " of load";
  if (!read.time_unit.empty())
    parts.push_back(read.time_unit +
                    (decision.basis == TimeBasis::step && !read.of_steps ? " of a step" : ""));
  if (!read.rate_noun.empty() || !read.rate.empty()) {
    const std::string rate = read.rate.empty() ? read.rate_noun + " per second" : read.rate;
    const bool all = decision.axis != Axis::load;
    parts.push_back(rate + (!all               ? ""
                            : read.rate_of_one ? " of one " + counted_noun(decision, 1)
                                               : " of all " + counted_noun(decision, 2)));
  }
  const auto& prices = decision.request.metrics.prices;
  if (prices && prices->per_rank.value() > 0.0) {
    const double least =
        std::ranges::min_element(decision.rows, {}, &DecisionRow::price_factor)->price_factor;
    const auto price = [&](double factor) {
      return format_money(number(Dollars(per_hour(prices->per_rank * factor))),
                          view.options.currency);
    };
    parts.push_back(fmt::format("{}{} per {}-hour",
                                least < 1.0 ? price(least) + " to " : "",
                                price(1.0),
                                counted_noun(decision, 1)));
  }
  const bool labelled =
      decision.basis != TimeBasis::work_unit || decision.scaling != Scaling::strong;
  if (labelled && !decision.growing_models)
    parts.push_back(
        decision.scaling == Scaling::strong ? "the same work at each count (strong scaling)"
        : decision.scaling == Scaling::weak ? "work that grows with the count (weak scaling)"
                                            : word_of(decision.scaling));
  if (!read.left_out.empty())
    parts.push_back(fmt::format("left out: {}", fmt::join(read.left_out, ", ")));
  return fmt::format("Read as: {}.", fmt::join(parts, ", "));
}

/// Of each count asked for by --forecast, without a full stop.
std::vector<std::string> forecast_sentences(const DecideView& view) {
  const Decision& decision = view.decision;
  const auto& asked = decision.request.forecast_counts;
  const auto& forecast = decision.law_forecast;
  std::vector<std::string> sentences;
  if (!forecast) return sentences;
  for (const ForecastPoint& point : forecast->points) {
    if (std::ranges::count(asked, point.count) == 0) continue;
    const double times = static_cast<double>(point.count) / decision.fitted_rows.back().count;
    const double work = point.speedup * point.time.value.value();
    const Interval<double> speedups{work / point.time.high().value(),
                                    work / std::max(point.time.low().value(), 1e-300)};
    sentences.push_back(fmt::format(
        "Forecast for {} {}, {:.3g} times the largest measured{}: {}speed-up {:.1f} [{:.1f}, "
        "{:.1f}], efficiency {:.0f} %",
        point.count,
        counted_noun(decision, point.count),
        times,
        point.far ? ", farther than laws have held" : "",
        decision.relative
            ? ""
            : fmt::format(
                  "{}{}, ", format_quantity(number(point.time), Unit::seconds), per_work(decision)),
        point.speedup,
        speedups.low,
        speedups.high,
        100.0 * point.efficiency));
  }
  return sentences;
}

/// What larger models on more GPUs show: no count, but what each GPU does.
std::string growth_headline(const Decision& decision) {
  const auto of_one = [](const DecisionRow& row) { return *row.throughput / row.count / 1e12; };
  const DecisionRow& first = decision.rows.front();
  const DecisionRow& last = decision.rows.back();
  return fmt::format(
      "Each count runs a larger model: {:.4g} to {:.4g} TFLOP/s per {} from {} to {}, {:+.0f} %.",
      of_one(first),
      of_one(last),
      counted_noun(decision, 1),
      first.count,
      last.count,
      100.0 * (of_one(last) / of_one(first) - 1.0));
}

/// "MFU 44.2 % at 32 GPUs, 52.2 % at 3072, of A100 80GB, 312 TFLOP/s (...)".
std::string utilisation_line(const Decision& decision) {
  const DecisionRow& first = decision.rows.front();
  const DecisionRow& last = decision.rows.back();
  if (!first.trained.mfu_peak || !last.trained.mfu_peak || !last.trained.mfu_basis) return "";
  const std::string basis = said(last.trained.mfu_basis);
  const double most = std::ranges::max(mapped(
      decision.rows, [](const DecisionRow& row) { return row.trained.mfu_peak.value_or(0.0); }));
  if (most > 1.0)
    return fmt::format(
        "{:.0f} % of {} cannot be: check rate, counts and number format.", 100.0 * most, basis);
  return fmt::format("{}{:.1f} % at {}, {:.1f} % at {}, of {}.",
                     decision.read.of_flops ? "" : "MFU ",
                     100.0 * *first.trained.mfu_peak,
                     named_count(decision, first.count),
                     100.0 * *last.trained.mfu_peak,
                     last.count,
                     basis);
}

/// "the cheapest of the 2 counts within every limit".
std::string chosen_as(const RubricResult& rubric) {
  const std::string best = word_of(rubric.objective);
  if (rubric.exclusions.empty()) return best;
  const bool quality_alone = std::ranges::all_of(
      rubric.exclusions, [](const Exclusion& one) { return one.gate == GateKind::quality; });
  const char* const kept = quality_alone ? "of equal quality" : "within every limit";
  if (rubric.passing == 1) return fmt::format("the only count {}", kept);
  return fmt::format("{} of the {} counts {}", best, rubric.passing, kept);
}

/// "; 64 saves 15.0 days for $46,400 more": the next count that is faster and within every limit.
std::string step_up(const DecideView& view, const DecisionRow& chosen) {
  const auto excluded = [&](int count) {
    return std::ranges::any_of(view.decision.rubric.exclusions, [=](const Exclusion& one) {
      return std::ranges::count(one.counts, count) > 0;
    });
  };
  for (const DecisionRow& row : view.decision.rows) {
    const Seconds saved = chosen.wall().value - row.wall().value;
    if (row.count <= chosen.count || saved <= Seconds(0.0) || excluded(row.count)) continue;
    if (view.decision.relative || view.decision.scaling != Scaling::strong) return "";
    std::string text =
        fmt::format("; {} would save {}", row.count, format_quantity(number(saved), Unit::seconds));
    if (!row.cost || !chosen.cost) return text;
    const Dollars more = row.cost->value - chosen.cost->value;
    return text + (more > Dollars(0.0) ? " for " + decision_money(view, more) + " more"
                                       : " and " + decision_money(view, -1.0 * more));
  }
  return "";
}

/// Without a full stop. `before` will stand before it.
std::string headline(const DecideView& view, const DecisionRow& chosen, const std::string& before) {
  const auto as = [&](const std::string& chosen_for) {
    return fmt::format("{}Take {}, {}: {}",
                       before,
                       named_count(view.decision, chosen.count),
                       chosen_for,
                       figures(view, chosen));
  };
  std::string text = as(chosen_as(view.decision.rubric));
  if (word_count(text) > most_first_words) text = as(word_of(view.decision.rubric.objective));
  return if_it_fits(text, step_up(view, chosen)).substr(before.size());
}

/// "8 GPUs are slower than 2 (speed-up 1.21 against 1.94): check topology and settings at 8 before
/// you buy 8. ", where the count that is taken lies before a cliff; else empty.
std::string cliff_sentence(const Decision& decision) {
  if (!decision.cliff || *decision.rubric.chosen >= *decision.cliff) return "";
  const DecisionRow& row = decision.row(*decision.cliff);
  const auto faster = std::ranges::find_if(decision.rows, [&](const DecisionRow& smaller) {
    return smaller.speedup.value > row.speedup.value;
  });
  return fmt::format(
      "{0} are slower than {1} (speed-up {2:.2f} against {3:.2f}): check settings at {4} first. ",
      named_count(decision, row.count),
      faster->count,
      row.speedup.value,
      faster->speedup.value,
      row.count);
}

std::string plateau_line(const Decision& decision) {
  if (!decision.choice || decision.choice->plateau.size() < 2) return "";
  return fmt::format("{} has the least cost; its plateau, the counts within 1 % of that, is {}.",
                     decision.choice->cheapest,
                     count_ranges(decision.choice->plateau));
}

/// The three counts that are always named, with figures where the headline has none of them:
/// "Cheapest 1 (2.000 EUR, 3600 s), balanced and fastest 16".
/// ": 3.88 times the speed for 2.06 times the cost", of the fastest over the cheapest.
std::string exchange_text(const Decision& decision) {
  if (decision.axis == Axis::load || decision.named.cheapest == decision.named.fastest) return "";
  const DecisionRow& cheap = decision.row(decision.named.cheapest);
  const DecisionRow& fast = decision.row(decision.named.fastest);
  const double speed = cheap.wall().value / fast.wall().value;
  const double cost = cheap.cost && fast.cost ? fast.cost->value / cheap.cost->value
                                              : fast.count / (cheap.count * speed);
  return fmt::format(": {}{:.2f} times the speed for {:.2f} times the {}",
                     fast.failures ? "with failures " : "",
                     speed,
                     cost,
                     cheap.cost ? "cost" : counted_noun(decision, 1) + "-seconds");
}

std::string counts_line(const DecideView& view, bool brief) {
  const Decision& decision = view.decision;
  if (decision.rows.size() < 2) return "";
  const bool by_time = !decision.choice && decision.axis != Axis::load;
  const auto& [cheapest, balanced, fastest] = decision.named;
  const std::string least = by_time ? fmt::format(" in {}-seconds", counted_noun(decision, 1)) : "";
  const std::array named{std::pair("cheapest" + least, cheapest),
                         std::pair(std::string("balanced"), balanced),
                         std::pair(std::string("fastest"), fastest)};
  std::string text;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, count] = named[i];
    text += name;
    if (i + 1 < named.size() && named[i + 1].second == count) {
      text += i + 2 < named.size() && named[i + 2].second == count ? ", " : " and ";
      continue;
    }
    text += fmt::format(" {}", count);
    const DecisionRow& row = decision.row(count);
    if (decision.rubric.chosen != count && !decision.relative) {
      text += fmt::format(" ({}{})",
                          row.cost ? decision_money(view, row.cost->value) + ", " : "",
                          own_time(decision, row));
    }
    if (i + 1 < named.size()) text += ", ";
  }
  text[0] = 'C';
  if (!decision.regimes.empty()) text += ", at the price given";
  return text + (brief ? "" : exchange_text(decision)) + ".";
}

std::string equivalent_line(const Decision& decision) {
  if (decision.rubric.equivalent_counts.empty()) return "";
  return fmt::format("Not distinguishable from it by the 95 % intervals: {}.",
                     count_ranges(decision.rubric.equivalent_counts));
}

std::string rule_line(const DecideView& view) {
  const bool asked = view.decision.request.rubric.objective.has_value();
  if (asked || view.decision.rubric.objective != Objective::balanced) return "";
  return fmt::format("Rule: balanced, because no {} asks otherwise.",
                     view.words("--fixed, --value-of-time, limit or --objective",
                                "price of the wall clock, limit or objective"));
}

std::string quality_line(const Decision& decision) {
  const auto& rubric = decision.rubric;
  std::string text;
  if (rubric.quality_held && rubric.quality_drift) {
    text = fmt::format("Quality {} ({:.3g} {} at most).",
                       *rubric.quality_held ? "held" : "did not hold",
                       *rubric.quality_drift,
                       decision.rows.front().better_quality != 0 ? "worse" : "apart");
  }
  if (!rubric.unproven.empty()) {
    text += fmt::format("{}Unproven, for they have no quality: {}.",
                        text.empty() ? "" : " ",
                        count_ranges(rubric.unproven));
  }
  return text;
}

/// What an hour of waiting must be worth for larger counts to be the choice, where the bill has no
/// price per hour and the cheapest count is asked for; else empty.
std::string value_of_waiting_line(const DecideView& view) {
  const auto& decision = view.decision;
  const auto& worth = decision.waiting;
  const auto objective = decision.rubric.objective;
  const bool asked = objective == Objective::cost || objective == Objective::balanced;
  if (worth.size() < 2 || !asked || !decision.choice->price_cancels) return "";
  std::string text = fmt::format("With a price of waiting{}{} the choice would be {}, ",
                                 view.words(" (--value-of-time)", ""),
                                 decision.regimes.empty() ? "" : ", at the price given,",
                                 worth[0].count);
  for (std::size_t i = 1; i < worth.size(); ++i) {
    text +=
        fmt::format("{}{} from {} an hour",
                    i == 1 ? "" : ", ",
                    worth[i].count,
                    format_money(number(Dollars(per_hour(worth[i].from))), view.options.currency));
  }
  return text + ".";
}

/// As it was typed.
std::string deadline_text(const Rubric& rubric) {
  return rubric.deadline_typed.empty() ? format_quantity(number(*rubric.deadline), Unit::seconds)
                                       : rubric.deadline_typed;
}

/// The first three digits, of what is more so that the amount suffices.
double rounded_up(double amount) {
  const double step = std::pow(10.0, std::floor(std::log10(amount)) - 2.0);
  return step * std::ceil(amount / step - 1e-9);
}

/// What is paid at most: no waiting.
Dollars bill_of(const Decision& decision, const DecisionRow& row) {
  const Prices prices = decision.request.metrics.prices.value_or(Prices{});
  return row.cost->high() - prices.value_of_time * row.wall().high();
}

/// Where no count meets both deadline and budget, what would: "No count meets both limits: $3,040
/// makes 24 h with 64 GPUs; $2,500 takes 30 h with 32."; else empty.
std::string conflict_sentence(const DecideView& view) {
  const Decision& decision = view.decision;
  const Rubric& rubric = decision.request.rubric;
  const auto deadline = deadline_of(rubric);
  if (!deadline || !rubric.budget) return "";
  const auto billed = [&](const DecisionRow& row) { return bill_of(decision, row); };
  const DecisionRow* in_time = nullptr;  // the cheapest of those
  const DecisionRow* paid = nullptr;     // the fastest of those
  for (const DecisionRow& row : decision.rows) {
    if (row.in_time(*deadline) && (!in_time || billed(row) < billed(*in_time))) in_time = &row;
    if (billed(row) <= *rubric.budget && (!paid || row.wall().value < paid->wall().value))
      paid = &row;
  }
  if (!in_time || !paid) return "";
  const auto money = [&](double amount) {
    return format_money(number(amount), view.options.currency);
  };
  const double needed = billed(*in_time).value();
  return fmt::format(
      "No count meets both limits: {} makes {} with {}; {} takes {} with {}.",
      money(needed < 100.0 ? rounded_up(needed) : std::ceil(needed - 1e-6)),
      deadline_text(rubric),
      named_count(decision, in_time->count),
      money(rubric.budget->value()),
      format_quantity(number(rounded_up(paid->latest(deadline->probability).value())),
                      Unit::seconds),
      paid->count);
}

/// That no count meets the deadline, and how near the fastest comes; else empty.
std::string deadline_line(const DecideView& view) {
  const auto& decision = view.decision;
  const auto& deadline = view.decision.request.rubric.deadline;
  if (decision.rubric.chosen || !deadline) return "";
  const DecisionRow& fastest = decision.row(decision.named.fastest);
  const double probability = decision.request.rubric.deadline_probability;
  const Seconds latest = fastest.latest(probability);
  if (fastest.in_time({*deadline, probability})) return "";
  if (const auto& failures = fastest.failures) {
    return fmt::format(
        "No count meets the deadline of {} with {:g} %: with failures {} does with {:.1f} %.",
        deadline_text(decision.request.rubric),
        100.0 * probability,
        fastest.count,
        100.0 * chance_in_time(failures->terms, fastest.count, latest, *deadline));
  }
  return fmt::format(
      "No {}count meets the deadline of {}: the fastest, {}, takes {}{}; allow that, or {}.",
      decision.coefficients ? "" : "measured ",
      deadline_text(decision.request.rubric),
      named_count(decision, fastest.count),
      latest > fastest.same_work.value ? "up to " : "",
      format_quantity(number(latest), Unit::seconds),
      decision.coefficients ? "do less work" : "measure more");
}

/// That no count is within the budget, and what the cheapest needs; else empty.
std::string budget_line(const DecideView& view) {
  const Decision& decision = view.decision;
  const auto& exclusions = decision.rubric.exclusions;
  const auto over = std::ranges::find(exclusions, GateKind::budget, &Exclusion::gate);
  if (over == exclusions.end() || over->counts.size() != decision.rows.size()) return "";
  const auto bill = [&](const DecisionRow& row) { return bill_of(decision, row); };
  const DecisionRow& cheapest = *std::ranges::min_element(decision.rows, {}, bill);
  return fmt::format(
      "No count is within the budget of {}: the cheapest, {}, costs up to {}; allow that.",
      format_money(number(*decision.request.rubric.budget), view.options.currency),
      named_count(decision, cheapest.count),
      format_money(number(rounded_up(bill(cheapest).value())), view.options.currency));
}

/// What another way to pay does better; else empty.
std::string better_way_sentence(const DecideView& view) {
  const Decision& decision = view.decision;
  const auto& way = decision.better_way;
  if (!way) return "";
  const std::string text = fmt::format("Take {} as {}, {} within every limit: {} in {}",
                                       named_count(decision, way->count),
                                       way->regime,
                                       word_of(decision.rubric.objective),
                                       decision_money(view, way->cost),
                                       format_quantity(number(way->time), Unit::seconds));
  if (!decision.rubric.chosen) return text + "; at the price given no count would do.";
  const DecisionRow& row = decision.row(*decision.rubric.chosen);
  return fmt::format("{}; at the price given take {} ({}, {}).",
                     text,
                     row.count,
                     decision_money(view, row.cost->value),
                     own_time(decision, row));
}

/// What would pass where no count does.
std::string no_count_sentence(const DecideView& view) {
  for (const std::string& sentence :
       {better_way_sentence(view), conflict_sentence(view), deadline_line(view), budget_line(view)})
    if (!sentence.empty()) return sentence;
  const auto reason = [](const Exclusion& one) { return said(one.reason); };
  const std::string reasons = listed(view.decision.rubric.exclusions, reason, "; ");
  const std::string start = "No count is within every limit: relax ";
  return if_it_fits(start + (view.decision.rubric.exclusions.size() == 1 ? "it" : "one"),
                    " (" + reasons + ")") +
         ".";
}

/// Of models that grow with the count: none of the counts is best.
Verdict judge_growth(const DecideView& view) {
  Verdict verdict;
  verdict.headline = growth_headline(view.decision);
  verdict.lines = {
      reading_line(view),
      utilisation_line(view.decision),
      "No count is best: other models are other work. Two counts of one model would say."};
  std::erase(verdict.lines, "");
  return verdict;
}

/// The count to take, or the forecast that was asked for, and what belongs to it.
void take_count(const DecideView& view, bool brief, Verdict& verdict) {
  const Decision& decision = view.decision;
  std::vector<std::string>& lines = verdict.lines;
  const DecisionRow& chosen = decision.row(*decision.rubric.chosen);
  const std::string take = headline(view, chosen, brief ? "Yes: " : "");
  const std::string other = better_way_sentence(view);
  verdict.headline = other.empty() ? cliff_sentence(decision) + take + "." : other;
  verdict.answer = Answer::yes;
  const std::vector<std::string> forecasts = forecast_sentences(view);
  if (!forecasts.empty()) {
    lines.push_back(verdict.headline);
    verdict.headline =
        if_it_fits(forecasts.front(),
                   "; of those measured take " + named_count(decision, chosen.count)) +
        ".";
    for (const std::string& further : std::span(forecasts).subspan(1))
      lines.push_back(further + ".");
  } else if (!decision.request.forecast_counts.empty() && decision.law_forecast) {
    lines.push_back(fmt::format("No forecast: {}.", said(decision.law_forecast->basis)));
  }
  for (const Finding& remark : decision.remarks)
    if (remark.id == FindingId::columns_may_say_work)
      lines.push_back(capitalised(said(remark, view.options.audience)) + ".");
  const std::string next = step_up(view, chosen);
  if (!next.empty() && other.empty() && !take.ends_with(next))
    lines.push_back(next.substr(2) + ".");
  if (!decision.attributed() && decision.rows.back().efficiency.value < 1.0) {
    // Threads and processes are of programs that `trace` need not know.
    const bool traced =
        decision.ledgers.empty() &&
        (decision.noun.empty() || decision.noun == "GPUs" || decision.noun == "nodes");
    lines.push_back(fmt::format("Cause of the loss unknown: {}{}.",
                                said(decision.diagnosis.no_cause),
                                !traced
                                    ? ""
                                    : view.words(", or record two counts with `scaleworth trace`",
                                                 ", or recordings of two counts")));
  }
}

/// What follows the headline of any answer: cause, counts, limits, costs.
void add_lines(const DecideView& view, bool brief, std::vector<std::string>& lines) {
  const Decision& decision = view.decision;
  if (!brief) lines.push_back(utilisation_line(decision));
  // What to do about it comes before the figures.
  lines.push_back(cause_line(view));
  std::ranges::copy(sentences(decision.edge), std::back_inserter(lines));
  if (!brief)
    lines.insert(lines.end(),
                 {overtaking_line(decision), scaled_work_line(decision), remedy_line(view)});
  lines.insert(
      lines.end(),
      {straggler_line(view), counts_line(view, brief), rule_line(view), equivalent_line(decision)});
  std::ranges::copy(deadline_lines(view), std::back_inserter(lines));
  for (const Exclusion& exclusion : decision.rubric.exclusions) {
    lines.push_back(
        fmt::format("Excluded, {}: {}.", said(exclusion.reason), count_ranges(exclusion.counts)));
  }
  lines.push_back(sentence(decision.diagnosis.factor_note));
  if (!brief) {
    lines.insert(lines.end(),
                 {latency_line(view),
                  bounds_line(decision),
                  plateau_line(decision),
                  value_of_waiting_line(view)});
  }
  lines.push_back(quality_line(decision));
  std::ranges::copy(cost_lines(view), std::back_inserter(lines));
}
}  // namespace

std::string named_count(const Decision& decision, int count) {
  return fmt::format(
      "{}{}", count, decision.noun.empty() ? "" : " " + counted_noun(decision, count));
}

std::string straggler_line(const DecideView& view) {
  if (const auto& straggler = view.decision.straggler) {
    return fmt::format("At {} the others wait for rank {}, {} of each step in all.",
                       straggler->count,
                       straggler->rank,
                       format_quantity(number(straggler->cost), Unit::seconds));
  }
  const auto& straggler = view.decision.diagnosis.straggler;
  if (!straggler) return "";
  return fmt::format(
      "At {} the others wait for {}.", view.decision.rows.back().count, said(straggler));
}

std::string figures_alone(const DecideView& view) {
  const Decision& decision = view.decision;
  if (!decision.rubric.chosen || decision.rows.size() < 2) return "";
  return fmt::format("By the figures alone {} would be {}.",
                     named_count(decision, *decision.rubric.chosen),
                     chosen_as(decision.rubric));
}

bool limits_of_first_work(const Decision& decision) {
  const Rubric& asked = decision.request.rubric;
  return decision.scaling != Scaling::strong && decision.basis != TimeBasis::work_unit &&
         (asked.budget || asked.deadline);
}

std::optional<double> million_work_scale(const Decision& decision) {
  constexpr double million = 1e6;
  // The hours of work that grows are of more than the first row's, whose price this would be.
  const bool grows = decision.scaling != Scaling::strong && !limits_of_first_work(decision);
  std::optional<double> scale;
  for (const DecisionRow& row : decision.rows) {
    const double cost = row.cost ? row.cost->value.value() : 0.0;
    if (!row.cost_per_work || !(cost > 0.0) || (cost >= cent && !grows)) return std::nullopt;
    scale = million * (*row.cost_per_work / row.cost->value);
  }
  return scale;
}

std::string million_work(const Decision& decision) {
  return "million " + (decision.work_noun.empty() ? "units of work" : decision.work_noun);
}

std::string decision_money(const DecideView& view, Dollars money) {
  const std::string& currency = view.options.currency;
  const auto scale = million_work_scale(view.decision);
  return scale ? format_money(number(money * *scale), currency) + " per " +
                     million_work(view.decision)
               : format_money(number(money), currency);
}

Verdict judge_decision(const DecideView& view, bool brief) {
  const Decision& decision = view.decision;
  if (decision.growing_models) return judge_growth(view);
  Verdict verdict;
  std::vector<std::string>& lines = verdict.lines;
  if (!decision.warnings.empty()) {
    verdict.headline = not_reliable(decision.warnings);
    lines = told_below(decision.warnings, view.options.audience);
    lines.push_back(figures_alone(view));
  } else if (!decision.rubric.chosen) {
    verdict.answer = Answer::no;
    verdict.headline = no_count_sentence(view);
  } else if (decision.rows.size() == 1) {
    const DecisionRow& row = decision.rows.front();
    verdict.headline = fmt::format("One count decides nothing ({} at {}): measure a second one.",
                                   figures(view, row),
                                   row.count);
  } else {
    take_count(view, brief, verdict);
  }
  lines.insert(lines.begin(), {reading_line(view), scatter_line(decision)});
  add_lines(view, brief, lines);
  std::erase(lines, "");
  return verdict;
}
}  // namespace scaleworth::report
