// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/core/statistics/sample_statistics.h"

#include <array>
#include <cmath>

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

/// "communication 54.7 %, idle 45.3 %".
std::string mixture_text(const ScalingCause& cause) {
  return listed(cause.mixture, [](const auto& part) {
    return fmt::format("{} {:.1f} %", part.first, 100.0 * part.second);
  });
}

/// " per million tokens", of times that are of some units of work; else empty.
std::string per_work(const Decision& decision) {
  if (decision.basis != TimeBasis::work_unit || !decision.rows.front().work) return "";
  // A weak table's rows have as much more as they are more; of them the first one's counts.
  const double exponent = std::round(std::log10(*decision.rows.front().work));
  constexpr std::array names{"unit", "thousand", "million", "billion", "trillion"};
  const auto thousands = static_cast<std::size_t>(std::max(0.0, exponent / 3.0));
  const std::string amount =
      thousands < names.size() ? names[thousands] : fmt::format("10^{:.0f}", exponent);
  const std::string noun = decision.work_noun.empty() ? "units of work" : decision.work_noun;
  return thousands == 0 ? " per unit of work" : fmt::format(" per {} {}", amount, noun);
}

std::string figures(const DecideView& view, const DecisionRow& row) {
  const std::string ratios = fmt::format(
      "speed-up {:.2f}, efficiency {:.1f} %", row.speedup.value, 100.0 * row.efficiency.value);
  // Times of nothing are not told.
  if (view.decision.relative) return ratios;
  std::string text = row.cost ? decision_money(view, row.cost->value) + ", " : "";
  text += fmt::format("{}{}, {}",
                      format_quantity(number(row.wall().value), Unit::seconds),
                      per_work(view.decision),
                      ratios);
  return text;
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
  if (prices && prices->per_rank.value() > 0.0)
    parts.push_back(fmt::format(
        "{} per {}-hour",
        format_money(number(Dollars(per_hour(prices->per_rank))), view.options.currency),
        counted_noun(decision, 1)));
  const bool labelled =
      decision.basis != TimeBasis::work_unit || decision.scaling != Scaling::strong;
  if (labelled && !decision.growing_models) parts.emplace_back(scaling_name(decision.scaling));
  if (!read.left_out.empty())
    parts.push_back(fmt::format("left out: {}", fmt::join(read.left_out, ", ")));
  return fmt::format("Read as: {}.", fmt::join(parts, ", "));
}

/// Of counts asked for by --forecast, which come first; else empty.
std::string forecast_sentences(const DecideView& view) {
  const Decision& decision = view.decision;
  const auto& asked = decision.request.forecast_counts;
  const auto& forecast = decision.law_forecast;
  if (asked.empty() || !forecast) return "";
  if (forecast->points.empty()) return fmt::format("No forecast: {}. ", forecast->basis);
  std::string text;
  for (const ForecastPoint& point : forecast->points) {
    if (std::ranges::count(asked, point.count) == 0) continue;
    const double times = static_cast<double>(point.count) / decision.fitted_rows.back().count;
    const double work = point.speedup * point.time.value.value();
    const Interval<double> speedups{work / point.time.high().value(),
                                    work / std::max(point.time.low().value(), 1e-300)};
    text += fmt::format(
        "At {} {} a forecast, {:.3g} times the largest measured{}: {}speed-up {:.1f} [{:.1f}, "
        "{:.1f}], "
        "efficiency {:.0f} %. ",
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
        100.0 * point.efficiency);
  }
  return text;
}

/// What larger models on more GPUs show: no count, but what each GPU does.
std::string growth_headline(const Decision& decision) {
  constexpr double loss = 0.9;   // of the first
  constexpr double gain = 1.25;  // what larger products bring
  const auto of_one = [](const DecisionRow& row) { return *row.throughput / row.count / 1e12; };
  const DecisionRow& first = decision.rows.front();
  const DecisionRow& last = decision.rows.back();
  const double change = of_one(last) / of_one(first);
  const double least = std::ranges::min(mapped(decision.rows, of_one));
  return fmt::format(
      "Each count runs a larger model: {:.4g} to {:.4g} TFLOP/s per {} from {} to {} (least "
      "{:.4g}): "
      "{}.",
      of_one(first),
      of_one(last),
      counted_noun(decision, 1),
      first.count,
      last.count,
      least,
      change < loss   ? fmt::format("falls by {:.0f} %", 100.0 * (1.0 - change))
      : change > gain ? fmt::format("rises by {:.0f} %", 100.0 * (change - 1.0))
                      : "flat");
}

/// "the cheapest of the 2 counts that pass every gate".
std::string chosen_as(const RubricResult& rubric) {
  const std::string best = objective_words(rubric.objective);
  if (rubric.exclusions.empty()) return best;
  if (rubric.passing == 1) return "the only count that passes every gate";
  return fmt::format("{} of the {} counts that pass every gate", best, rubric.passing);
}

/// "; 64 saves 15.0 days for $46,400 more": the next count that is faster and passes every gate.
std::string step_up(const DecideView& view, const DecisionRow& chosen) {
  const auto excluded = [&](int count) {
    return std::ranges::any_of(view.decision.rubric.exclusions, [=](const Exclusion& one) {
      return std::ranges::count(one.counts, count) > 0;
    });
  };
  for (const DecisionRow& row : view.decision.rows) {
    const Seconds saved = chosen.wall().value - row.wall().value;
    if (row.count <= chosen.count || saved <= Seconds(0.0) || excluded(row.count)) continue;
    if (view.decision.relative) return "";
    std::string text =
        fmt::format("; {} saves {}", row.count, format_quantity(number(saved), Unit::seconds));
    if (!row.cost || !chosen.cost) return text;
    const Dollars more = row.cost->value - chosen.cost->value;
    return text + (more > Dollars(0.0) ? " for " + decision_money(view, more) + " more"
                                       : " and " + decision_money(view, -1.0 * more));
  }
  return "";
}

std::string headline(const DecideView& view, const DecisionRow& chosen) {
  const std::string& noun = view.decision.noun;
  return fmt::format(
      "Take {}{}, {}: {}{}.",
      chosen.count,
      noun.empty() ? "" : " " + noun.substr(0, noun.size() - (chosen.count == 1 ? 1 : 0)),
      chosen_as(view.decision.rubric),
      figures(view, chosen),
      step_up(view, chosen));
}

std::string cause_line(const Decision& decision) {
  if (decision.diagnosis.no_loss)
    return fmt::format("No cause to name: {}.", decision.diagnosis.no_cause);
  if (!decision.diagnosis.cause || decision.diagnosis.cause->mixture.empty()) return "";
  const std::string origin =
      decision.coefficients           ? "by the coefficients given"
      : decision.diagnosis.by_law     ? "by every fit that the totals allow, not "
                                        "by a measurement of the parts"
      : decision.diagnosis.by_factors ? "by the POP factors of the recordings"
                                      : "from the parts of the table";
  const ScalingCause& cause = *decision.diagnosis.cause;
  const std::string text =
      cause.owner.empty()
          ? "has no single owner (none explains 80 %): " + mixture_text(cause)
          : fmt::format("is {}, {:.1f} % of it", cause.owner, 100.0 * cause.explained);
  return fmt::format("The gap from ideal at {} {} ({}).", decision.cause_count, text, origin);
}

std::string plateau_line(const Decision& decision) {
  if (!decision.choice || decision.choice->plateau.size() < 2) return "";
  return fmt::format("{} has the least cost; its plateau, the counts within 1 % of that, is {}.",
                     decision.choice->cheapest,
                     count_ranges(decision.choice->plateau));
}

/// The three counts that are always named, with figures where the headline has none of them:
/// "Cheapest 1 (2.000 EUR, 3600 s), balanced and fastest 16".
std::string counts_line(const DecideView& view) {
  const Decision& decision = view.decision;
  if (decision.rows.size() < 2) return "";
  const bool by_time = !decision.choice && decision.axis != Axis::load;
  const auto& [cheapest, balanced, fastest] = decision.named;
  const std::array named{std::pair(by_time ? "cheapest in rank-seconds" : "cheapest", cheapest),
                         std::pair("balanced", balanced),
                         std::pair("fastest", fastest)};
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
                          format_quantity(number(row.wall().value), Unit::seconds));
    }
    if (i + 1 < named.size()) text += ", ";
  }
  text[0] = 'C';
  return text + ".";
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
                     view.words("--fixed, --value-of-time, gate or --objective",
                                "price of the wall clock, gate or objective"));
}

std::string quality_line(const Decision& decision) {
  const auto& rubric = decision.rubric;
  std::string text;
  if (rubric.quality_held && rubric.quality_drift) {
    text = fmt::format("Quality {} (largest difference {:.3g}).",
                       *rubric.quality_held ? "held" : "did not hold",
                       *rubric.quality_drift);
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
  const bool balanced = objective == Objective::balanced;
  if (worth.size() < 2 || (objective != Objective::cost && !balanced) ||
      !decision.choice->price_cancels)
    return "";
  const char* flag = view.words(" (--value-of-time)", "");
  std::string text =
      balanced
          ? fmt::format("With a price of waiting{} the choice would be {}, ", flag, worth[0].count)
          : fmt::format(
                "Waiting counts for nothing in this choice. Were it worth "
                "something{}, the choice would be ",
                flag);
  for (std::size_t i = 1; i < worth.size(); ++i) {
    text +=
        fmt::format("{}{} from {} an hour",
                    i == 1 ? "" : ", ",
                    worth[i].count,
                    format_money(number(Dollars(per_hour(worth[i].from))), view.options.currency));
  }
  return text + ".";
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
        "No count meets the deadline of {} with a probability of {:g} %: with failures the "
        "fastest, "
        "{}, does with {:.1f} %.",
        format_quantity(number(*deadline), Unit::seconds),
        100.0 * probability,
        fastest.count,
        100.0 * chance_in_time(failures->terms, fastest.count, latest, *deadline));
  }
  return fmt::format("No {}count meets the deadline of {}: the fastest, {}, takes {}{}.",
                     decision.coefficients ? "" : "measured ",
                     format_quantity(number(*deadline), Unit::seconds),
                     fastest.count,
                     latest > fastest.same_work.value ? "up to " : "",
                     format_quantity(number(latest), Unit::seconds));
}

std::string count_or_never(const Knee& knee, const KneeSet& set) {
  if (knee.count) return fmt::format("{}", *knee.count);
  return set.laws ? fmt::format("beyond {:g}", set.request.reach) : "beyond every count";
}

/// A whole count of the kind: the threshold is still met below its position.
int whole(double position, KneeKind kind) {
  return saturated<int>(kind == KneeKind::efficiency ? std::floor(position) : std::round(position));
}

/// "11 [10, 12], beyond what was measured"; no interval where it is one count.
std::string with_range(const Knee& knee, const KneeSet& set) {
  std::string text = count_or_never(knee, set);
  if (set.exact() || !knee.count) return text;
  const int low = whole(knee.low, knee.kind);
  const auto high = knee.high ? std::optional<int>(whole(*knee.high, knee.kind)) : std::nullopt;
  if (low != high) {
    text += fmt::format(" [{}, {}]", low, high ? fmt::format("{}", *high) : "open");
  }
  return text + (knee.beyond ? ", beyond what was measured" : "");
}

std::string saving(const Remedy& remedy) {
  if (!remedy.saved || *remedy.saved < 0.0005) return "";
  const bool cost = remedy.before.kind == KneeKind::cost;
  return fmt::format(" ({:.1f} % {})", 100.0 * *remedy.saved, cost ? "cheaper" : "less time at it");
}

/// Of a knee that may lie beyond the largest count, with or without a change.
std::string open_line(const DecideView& view) {
  const auto& remedies = view.decision.diagnosis.remedies;
  const auto saved = [](const Remedy& remedy) {
    const std::string part = saving(remedy);
    return part.empty() ? "" : remedy_change(remedy.cause) + part;
  };
  const std::string savings = listed(remedies, saved, "; ");
  const int largest = *remedies.front().before.count;
  const std::string text = fmt::format(
      "The {} is {} or beyond it, the largest count: what would move it needs a larger one.",
      judged_knee(view.decision.knees),
      largest);
  return savings.empty() ? text : fmt::format("{} At {}: {}.", text, largest, savings);
}

std::string remedy_line(const DecideView& view) {
  const auto& diagnosis = view.decision.diagnosis;
  const KneeSet& set = view.decision.knees;
  if (diagnosis.remedies.empty()) return "";
  const Remedy& best = diagnosis.remedies.front();
  const std::string knee = judged_knee(set);
  const auto other = [&](const Remedy& remedy) -> std::string {
    if (remedy.moves != true || &remedy == &best) return "";
    const std::string change = remedy_change(remedy.cause);
    return fmt::format("{} (to {})", change, with_range(remedy.after, set));
  };
  const auto useless_change = [](const Remedy& remedy) {
    return remedy.moves == false ? remedy_change(remedy.cause) : "";
  };
  const std::string others = listed(diagnosis.remedies, other, "; ");
  const std::string useless = listed(diagnosis.remedies, useless_change, "; ");
  if (!best.moves) return open_line(view);
  if (!*best.moves) {
    return fmt::format(
        "No single change moves the {} from {}: {}.", knee, *best.before.count, useless);
  }
  const auto latency = diagnosis.decisive ? diagnosis.decisive->latency_share : std::nullopt;
  std::string text = capitalised(fmt::format("{} would move the {} from {} to {}{}: {}.",
                                             remedy_change(best.cause),
                                             knee,
                                             *best.before.count,
                                             with_range(best.after, set),
                                             saving(best),
                                             remedy_means(best.cause, latency)));
  if (!others.empty()) text += fmt::format(" Next: {}.", others);
  if (!useless.empty()) text += fmt::format(" Would not: {}.", useless);
  return text;
}

std::string latency_line(const DecideView& view) {
  const auto& diagnosis = view.decision.diagnosis;
  const auto& message = view.decision.request.message;
  if (!message || !diagnosis.decisive || !diagnosis.decisive->latency_share) return "";
  const Gap& gap = *diagnosis.decisive;
  const Bytes balanced = balanced_message(*message, gap.count);
  return fmt::format(
      "A ring's communication at {} is {:.0f} % latency and {:.0f} % bandwidth by the terms given; "
      "they are equal at messages of {:.3g} MB.",
      gap.count,
      100.0 * *gap.latency_share,
      100.0 * (1.0 - *gap.latency_share),
      balanced.value() / 1e6);
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

bool comparable(const Estimate<Seconds>& step) {
  return std::isfinite(step.value.value()) && step.value > Seconds(0.0);
}

/// Largest count up to which every doubling along the curve is worth it; `whole_band` asks that of
/// the whole interval. 1 when the first doubling is not.
int doubling_pays_up_to(const ScalingLaw& law, bool whole_band) {
  const auto at = [&law](int ranks) {
    return std::ranges::find(law.curve, ranks, &CurvePoint::ranks);
  };
  int ranks = 1;
  for (auto to = at(2); to != law.curve.end() && to->doubling; to = at(2 * ranks)) {
    const double at_least = to->doubling->interval ? to->doubling->interval->low : 0.0;
    if (!((whole_band ? at_least : to->doubling->value) > std::sqrt(2.0))) break;
    ranks = to->ranks;
  }
  return ranks;
}

std::string optimum_line(const ScalingLaw& law, int most_measured) {
  const int central = doubling_pays_up_to(law, false);
  const int sure = doubling_pays_up_to(law, true);
  std::string line = law.prediction ? "Predicted: " : "By the laws that hold: ";
  line += central == 1 ? "no doubling pays" : "doubling pays up to " + ranks_phrase(central);
  line += sure < central ? fmt::format(" (with 95 % confidence up to {})", sure) : "";
  if (const auto fastest = law.inside(law.fastest))
    line += fmt::format("; fastest at {}", ranks_phrase(*fastest));
  if (law.inside(law.cost_optimal)) line += "; cheapest at " + cost_optimal_text(law);
  line += fmt::format("; extrapolated beyond {}.", ranks_phrase(most_measured));
  return law.reproduces_measured ? line
                                 : line + " It misses the measured counts: use it with care.";
}

/// Whether more ranks than the fewest are worth it: the chosen count against the others, unknown
/// where the intervals do not separate them.
Answer worth_it(const Decision& decision) {
  const auto& rubric = decision.rubric;
  if (!rubric.chosen) return Answer::unknown;
  const int fewest = decision.rows.front().count;
  const auto exact = [](const DecisionRow& row) { return !row.time.interval; };
  if (!decision.doubts.empty() || std::ranges::any_of(decision.rows, exact)) return Answer::unknown;
  if (*rubric.chosen == fewest)
    return rubric.equivalent_counts.empty() ? Answer::no : Answer::unknown;
  return std::ranges::count(rubric.equivalent_counts, fewest) == 0 ? Answer::yes : Answer::unknown;
}

Verdict judge_scaling(const Analysis& analysis,
                      const std::string& doubts,
                      const RenderOptions& options) {
  const auto unanswered = [](const std::string& why) { return Verdict{Answer::unknown, why, {}}; };
  if (!shows_scaling(analysis)) {
    Verdict verdict = machine_verdict(analysis, options.audience);
    if (!doubts.empty()) verdict.headline.insert(0, "Not reliable: " + doubts + ". ");
    for (const ScalingResult& scaling : analysis.scaling)
      if (scaling.mode == BatchScaling::strong && scaling.decision)
        verdict.lines.push_back(straggler_line({*scaling.decision, options}));
    std::erase(verdict.lines, "");
    return verdict;
  }
  const auto strong =
      std::ranges::find(analysis.scaling, BatchScaling::strong, &ScalingResult::mode);
  if (!std::ranges::all_of(strong->rows, comparable, &DecisionRow::time)) {
    return unanswered("Not known: a step time is not a positive number.");
  }
  if (!strong->quality_held) {
    const std::string& note = strong->quality_note;
    return unanswered("Not known: the counts did not do the same work" +
                      (note.empty() ? "." : " (" + note + ")."));
  }
  Verdict verdict = judge_decision({*strong->decision, options}, true);
  verdict.answer = worth_it(*strong->decision);
  const char* answer = verdict.answer == Answer::yes  ? "Yes"
                       : verdict.answer == Answer::no ? "No"
                                                      : "Not known";
  if (!doubts.empty()) verdict.answer = Answer::unknown;
  const std::string begin = !doubts.empty()                    ? "Not reliable: " + doubts + ". "
                            : strong->decision->doubts.empty() ? fmt::format("{}. ", answer)
                                                               : "";
  verdict.headline.insert(0, begin);
  for (const auto& law : strong->laws) {
    if (law.curve.empty()) continue;
    verdict.lines.push_back(optimum_line(law, strong->rows.back().count));
  }
  if (!strong->decision->choice) {
    verdict.lines.push_back(fmt::format("Cost: {} rank-seconds into money.",
                                        words_for(options.audience,
                                                  "add --price USD_PER_RANK_HOUR to turn",
                                                  "a price per rank and hour would turn")));
  }
  return verdict;
}
}  // namespace

const char* objective_words(Objective objective) {
  constexpr std::array words{"the cheapest",
                             "the balanced count (least cost x time)",
                             "the fastest",
                             "the count with the lowest energy"};
  return words[static_cast<std::size_t>(objective)];
}

std::optional<double> million_work_scale(const Decision& decision) {
  constexpr double million = 1e6;
  std::optional<double> scale;
  for (const DecisionRow& row : decision.rows) {
    const double cost = row.cost ? row.cost->value.value() : 0.0;
    if (!row.cost_per_work || !(cost > 0.0) || cost >= cent) return std::nullopt;
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

std::string judged_knee(const KneeSet& knees) {
  const KneeKind kind = judged_by(knees.request);
  if (kind == KneeKind::cost) return "cost optimum";
  return "knee at " + knee_name(kind, knees.request);
}

Verdict judge_decision(const DecideView& view, bool brief) {
  const Decision& decision = view.decision;
  Verdict verdict;
  std::vector<std::string>& lines = verdict.lines;
  if (decision.growing_models) {
    verdict.headline = growth_headline(decision);
    lines = {reading_line(view),
             "No count is best: other models are other work. Two counts of one model would say "
             "what more GPUs gain."};
    return verdict;
  }
  if (!decision.rubric.chosen) {
    verdict.answer = Answer::no;
    verdict.headline = "No count passes every gate.";
  } else if (decision.rows.size() == 1) {
    const DecisionRow& row = decision.rows.front();
    verdict.headline = fmt::format("One count decides nothing ({} at {}): measure a second one.",
                                   figures(view, row),
                                   row.count);
  } else {
    verdict.headline =
        forecast_sentences(view) + headline(view, decision.row(*decision.rubric.chosen));
    verdict.answer = decision.doubts.empty() ? Answer::yes : Answer::unknown;
    if (!decision.attributed()) {
      lines.push_back(fmt::format("Cause of the loss unknown: {}{}.",
                                  decision.diagnosis.no_cause,
                                  !decision.ledgers.empty()
                                      ? ""
                                      : view.words(", or record two counts with `scaleworth trace`",
                                                   ", or recordings of two counts")));
    }
  }
  if (!decision.doubts.empty())
    verdict.headline = fmt::format("Not reliable: {}. {}",
                                   fmt::join(said(decision.doubts, view.options.audience), "; "),
                                   verdict.headline);
  lines.insert(lines.begin(), reading_line(view));
  // What to do about it comes before the figures.
  lines.push_back(cause_line(decision));
  if (!brief) lines.push_back(remedy_line(view));
  lines.insert(lines.end(),
               {straggler_line(view),
                counts_line(view),
                rule_line(view),
                equivalent_line(decision),
                deadline_line(view)});
  std::ranges::copy(deadline_lines(view), std::back_inserter(lines));
  for (const Exclusion& exclusion : decision.rubric.exclusions) {
    lines.push_back(
        fmt::format("Excluded, {}: {}.", exclusion.reason, count_ranges(exclusion.counts)));
  }
  const std::string& note = decision.diagnosis.factor_note;
  if (!note.empty()) lines.push_back(capitalised(note) + ".");
  if (!brief) {
    lines.insert(lines.end(),
                 {latency_line(view), plateau_line(decision), value_of_waiting_line(view)});
  }
  lines.push_back(quality_line(decision));
  std::ranges::copy(cost_lines(view), std::back_inserter(lines));
  std::erase(lines, "");
  return verdict;
}

std::string said(const Remark& remark, Audience audience) {
  return audience == Audience::page ? remark.text + remark.rest : remark.whole();
}

std::vector<std::string> said(const std::vector<Remark>& remarks, Audience audience) {
  return mapped(remarks, [=](const Remark& remark) { return said(remark, audience); });
}

bool shows_scaling(const Analysis& analysis) {
  return std::ranges::any_of(analysis.scaling, [](const ScalingResult& one) {
    return one.mode == BatchScaling::strong && one.decision && one.decision->rows.size() > 1;
  });
}

Verdict judge(const Analysis& analysis, const std::vector<Finding>& findings, Audience audience) {
  RenderOptions options;
  options.audience = audience;
  Verdict verdict =
      judge_scaling(analysis, listed(findings, std::mem_fn(&Finding::doubt), "; "), options);
  const auto warnings = std::ranges::count_if(findings, &Finding::warning);
  if (warnings > 0) {
    verdict.lines.push_back(
        fmt::format("{} about this measurement: read {} under Warnings before you rely on it{}.",
                    warnings == 1 ? "1 warning" : fmt::format("{} warnings", warnings),
                    warnings == 1 ? "it" : "them",
                    words_for(audience, " (--details)", "")));
  }
  return verdict;
}
}  // namespace scaleworth::report
