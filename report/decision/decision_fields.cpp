// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/render.h"
#include "src/core/files/fields.h"

#include <array>
#include <chrono>

#include <nlohmann/json.hpp>

namespace scaleworth::report {
namespace {

constexpr JsonHead head{
    "decision.schema.json",
    "scaleworth decide --format json",
    "Which count to buy, and why. Units stand in the keys: _s seconds, _usd US dollars, _j joules, "
    "_w watts; shares and efficiencies are fractions of 1. An estimate is {value, low, high, "
    "samples}, with its 95 % interval. What does not exist or could not be had is null.",
    4,
    "scaleworth decision"};

constexpr FieldOptions one_cause = one_of(
    "serial work|communication|serial work or communication that does not shrink|growing "
    "overhead|idle|host|I/O|compute slow-down");

std::optional<std::vector<double>> ends(const std::optional<Interval<double>>& one) {
  return one ? std::optional(std::vector<double>{one->low, one->high}) : std::nullopt;
}

double seconds(Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

constexpr VerdictWords verdict_words{.yes = "recommended",
                                     .no = "none",
                                     .unknown = "not reliable",
                                     .answers = "recommended|none|not reliable",
                                     .headline = "",
                                     .sentence = "In words."};

void put_rubric(Fields& json, const Decision& decision) {
  const RubricResult& rubric = decision.rubric;
  json.object("asked", decision.request.rubric, [](Fields& of, const Rubric& asked) {
    const auto& objective = asked.objective;
    of("objective", objective ? objective_name(*objective) : "", "null: by the others.", or_null);
    FIELDS(of, asked.efficiency_threshold, asked.deadline, asked.deadline_probability);
    of("budget_usd", asked.budget);
    FIELDS(of, asked.energy_budget_kwh, asked.max_latency, asked.min_throughput);
  });
  json("objective", objective_name(rubric.objective));
  json("chosen", rubric.chosen);
  json("level",
       rubric.equivalent_counts,
       "Other counts that are not worse beyond the 95 % intervals.");
  json.sentence("The count of least cost; without prices of least rank-seconds.");
  json("cheapest", decision.named.cheapest);
  json("balanced", decision.named.balanced, "The count of least cost x time.");
  json("fastest", decision.named.fastest);
  json.sentence("The largest count that reaches the efficiency threshold.");
  json("largest_efficient", rubric.largest_efficient);
  json.sentence("Counts beyond one limit.");
  json.array("exclusions", rubric.exclusions, [](Fields& of, const Exclusion& one) {
    of("reason", one.reason);
    of("mark", gate_mark(one.gate), "The reason in a word or two.");
    of("counts", one.counts);
  });
  json("unproven", rubric.unproven, "Counts without quality where the rubric asks for it.");
  json("quality_held", rubric.quality_held);
  json("quality_drift", rubric.quality_drift, "Largest difference from the baseline's quality.");
}

void put_predicted(Fields& json, const PredictedCount& one) {
  json.named("predicted", "A count by the law; null where there is none.");
  json("count", one.count);
  json("expected_s", one.expected, "By the best fit.");
  json("upper_s",
       one.upper,
       "One run takes no longer with `probability`: over the draws of the fit and the noise of "
       "one run.");
  json("probability_in_time", one.in_time, "That one run meets the deadline.");
  json("expected_usd", one.expected_cost, "USD in expected_s; null without prices.");
  json("upper_usd", one.upper_cost, "USD in upper_s; null without prices.");
  json("beyond_measured", one.beyond, "Larger than every measured count.");
}

void put_deadline_forecast(Fields& json, const DeadlineForecast& forecast) {
  const auto if_available = [&](const auto& value) {
    return forecast.unavailable.empty() ? std::optional(value) : std::nullopt;
  };
  const char* measured_noise = forecast.noise_measured ? "repeats" : "repeats and residuals";
  json("deadline_s", forecast.deadline.latest, "For the work of the rows.");
  json("probability", forecast.deadline.probability, "With which one run is to meet it.");
  json("cheapest_measured",
       forecast.measured,
       "Cheapest measured count that meets the deadline with `probability` by the spread of "
       "repeats, and the efficiency threshold and the budget; null: none.");
  json("cheapest_measured_in_time",
       forecast.measured_in_time,
       "Probability that one more run there meets it, too, by run_noise and the uncertainty of the "
       "median; null where the noise is not known.");
  json.sentence("Why no law gives more: then the predictions below are null.");
  json("unavailable", forecast.unavailable.whole(), or_null);
  json.sentence("Relative standard deviation of one run; null without repeats and law.");
  json("run_noise", forecast.noise);
  json("noise_from",
       forecast.noise ? measured_noise : "",
       "residuals: together with what the law misses the rows by.",
       {.or_null = true, .one_of = "repeats|repeats and residuals"});
  json.sentence("Smallest count that was looked at: the smallest measured one.");
  json("looked_from", if_available(forecast.from));
  json("looked_to", if_available(forecast.to), "Largest: 4 times the largest measured one.");
  json("looked_step",
       if_available(forecast.step),
       "Counts between them were looked at in multiples of this, the greatest common divisor of "
       "the measured ones.");
  json.object("cheapest_predicted", forecast.cheapest, put_predicted);
  json.object("fastest", if_available(forecast.fastest), put_predicted);
  json("probability_at_any_count",
       if_available(forecast.in_time_anywhere),
       "No count looked at meets the deadline more probably.");
}

void put_choice(Fields& json, const CostChoice& one) {
  json.named("choice", "By cost alone; null without prices.");
  json("cheapest", one.cheapest, "The one count of least cost.");
  json("plateau", one.plateau, "All counts within 1 % of the least cost.");
  json("fastest", one.fastest);
  json.sentence("No wall-clock rate: the cheapest count is the same at every price per rank.");
  json("price_cancels", one.price_cancels);
}

/// By KneeKind.
constexpr std::array knee_kinds{"efficiency threshold", "speed-up x efficiency", "cost", "peak"};

void put_knee(Fields& json, const Knee& one) {
  json.named("knee", "Where the curve bends, by one definition.");
  json("definition",
       knee_kinds[static_cast<std::size_t>(one.kind)],
       one_of("efficiency threshold|speed-up x efficiency|cost|peak"));
  json("count", one.count, "Whole; null where the curve never gets there.");
  json("position", one.position, "Continuous; null where rows alone do not show it.");
  json("low", one.low, "Interval, of the meaning that `basis` states.", or_null);
  json("high", one.high, "null: no upper end.");
  json("beyond_measured", one.beyond);
}

void put_knees(Fields& json, const KneeSet& set) {
  json("basis", set.basis);
  json("threshold", set.request.threshold, "Of the efficiency.");
  json("threshold_given", set.request.threshold_given, "false: the default.");
  json.array("definitions", set.knees, put_knee);
}

void put_gap(Fields& json, const Gap& one) {
  json.named("gap", "The gap from ideal at one count, by cause, the largest first.");
  FIELDS(json, one.count, or_null(one.lost_s));
  json.array("causes", one.losses, [](Fields& cause, const CauseLoss& each) {
    cause("cause", cause_name(each.cause), one_cause);
    FIELDS(cause, or_null(each.lost_s), or_null(each.share));
    cause.sentence("Least and greatest over the fits that hold, where a fit decides it.");
    cause("share_by_fits", ends(each.spread));
  });
  json.sentence("Of a ring, by --alpha-us, --beta-gbs and --message-mb.");
  json("latency_share_of_communication", one.latency_share);
}

void put_diagnosis(Fields& json, const Diagnosis& diagnosis) {
  const auto remedy = [&](Fields& each, const Remedy& one) {
    const auto latency = diagnosis.decisive ? diagnosis.decisive->latency_share : std::nullopt;
    each("cause", cause_name(one.cause), one_cause);
    each("change", remedy_change(one.cause));
    each("means", remedy_means(one.cause, latency));
    each.object("before", one.before, put_knee);
    each.object("after", one.after, put_knee);
    each("saves", one.saved, "Of the cost at the optimum, else of the time at the knee.");
    each(
        "moves", one.moves, "null: not known, the knee is the table's largest count or beyond it.");
  };
  json.sentence("The cause stands on fits of the totals, not on measured parts.");
  json("by_law_alone", diagnosis.by_law && !diagnosis.by_terms);
  json.sentence("By parts or coefficients; empty where the table has only totals.");
  json.array("gaps", diagnosis.gaps, put_gap);
  json.sentence(
      "The missing speed-up at the largest count by the choice of fit; null below four rows.");
  json.object("fits", diagnosis.spread, [](Fields& of, const LawSpread& one) {
    of("count", one.count);
    of("lost_speedup", one.missing, or_null);
    of("serial_share_by_fits", ends(one.by_fits), "Least and greatest.");
    of("serial_share_with_noise", ends(one.serial_share), "Least and greatest.");
    of.array("fits", one.readings, [](Fields& fit, const LawReading& reading) {
      FIELDS(fit, reading.fit, or_null(reading.serial), or_null(reading.serial_folds));
      FIELDS(fit, or_null(reading.overhead_folds), or_null(reading.unexplained_folds));
      fit("serial_share_of_seconds", reading.serial_share, or_null);
      fit("residual", reading.residual, "Root mean square, relative.", or_null);
      fit("holds", reading.holds, "Not refuted by the rows (5 %).");
    });
  });
  json.sentence("The knee with one cause taken away; the most effective first.");
  json.array("remedies", diagnosis.remedies, remedy);
}

void put_ledgers(Fields& json, const Decision& decision) {
  json.array("counts", decision.ledgers, [](Fields& ledger, const LedgerFacts& one) {
    ledger("count", one.count);
    ledger.sentence(
        "POP factors: parallel = load_balance * host * dependency * transfer; null for the reason "
        "in no_factors.");
    ledger.object("factors", one.factors, [](Fields& of, const Efficiency& factors) {
      const auto useful = mapped(factors.useful, [](auto time) { return seconds(time); });
      FIELDS(of, or_null(factors.parallel), or_null(factors.load_balance), or_null(factors.host));
      FIELDS(of, or_null(factors.dependency), or_null(factors.transfer));
      of("step_s", seconds(factors.runtime), "Mean step of the slowest rank, s.");
      of("useful_s_by_rank", useful, "Of one step, s.");
      of("of", factors.window, "Which time the factors are of.", or_null);
    });
    ledger("no_factors", one.no_factors, or_null);
    ledger.sentence("For whom the others wait, and why; null: no rank with 95 % confidence.");
    ledger("straggler", one.straggler, or_null);
  });
  json.sentence("Relative to the baseline's factors, s of one step.");
  json.array("gaps_by_factors", decision.diagnosis.factor_gaps, put_gap);
  json.sentence("`cause` is that of the last gap by factors, not of `diagnosis.gaps`.");
  json("cause_by_factors", decision.diagnosis.by_factors);
  json.sentence(
      "Where the factors and the parts differ by more than 10 points, or why there are no "
      "factors.");
  json("note", decision.diagnosis.factor_note, or_null);
}

void put_parts(Fields& json, const GroupTimes& times) {
  json.named("parts", "Seconds; null where the table has no such column.");
  json("compute_s", times[index_of(PartGroup::compute)]);
  json("communication_s", times[index_of(PartGroup::communication)]);
  json("idle_s", times[index_of(PartGroup::idle)]);
  json("io_s", times[index_of(PartGroup::io)]);
  json.sentence("Processors without work because their host was late.");
  json("host_s", times[index_of(PartGroup::host)]);
}

void put_row(Fields& json, const DecisionRow& row) {
  const RowFacts& facts = row.facts;
  std::vector<std::pair<std::string, Seconds>> latencies;
  for (const Latency& one : facts.latencies) latencies.emplace_back(one.name, one.seconds);
  json("count", row.count, "Ranks, nodes or load: `counts_of`.");
  json("time_s", row.time, "As measured, s.");
  json("same_work_s", row.same_work, "What the baseline's work takes, s.");
  json("speedup",
       row.speedup,
       "Baseline's same_work_s over this one's; scaled speed-up where the work grows with the "
       "count.");
  json("efficiency", row.efficiency, "Speed-up over the ratio of counts, of 1; above 1 is kept.");
  json("mfu", row.trained.mfu_peak, "Of the peak that was named; null without one.");
  json("karp_flatt",
       row.karp_flatt,
       "(1/S - 1/K) / (1 - 1/K) of strong scaling; null at the baseline and below.");
  json("cost_usd", row.cost, "USD of the baseline's work, in its expected time.");
  json.sentence("Null where failures are not counted.");
  json.object("failures", row.failures, [&](Fields& of, const FailurePlan& one) {
    of("mean_time_between_s", mean_time_between_interruptions(one.terms, row.count));
    of("interval_s", one.plan.interval, "Work between checkpoints.");
    of("goodput", one.plan.goodput(), "Useful part of the expected wall time.", or_null);
    of("expected_s", row.wall(), "`same_work_s` with failures.");
  });
  json("cost_per_work_usd", row.cost_per_work, "USD per unit of work.");
  json("work_per_usd", row.work_per_dollar, "Units of work per USD.");
  json("work_per_s", row.throughput, "Units of work per second, all ranks together.");
  json("energy_per_work_j", row.energy_per_work, "J per unit of work.");
  json.sentence("Of the baseline's work; null where not known.");
  json.object("energy", row.energy, [](Fields& of, const JobEnergy& one) {
    of("machines_j", one.joules);
    of("building_kwh", one.facility_kwh);
    of("co2e_g", one.grams);
    of("origin", one.metered ? "meter" : "rating", one_of("meter|rating"));
  });
  json("quality", row.quality, "In the table's own unit.");
  json.object("parts", row.parts_s, put_parts);
  json("gustafson_serial",
       row.gustafson_serial,
       "(K - S) / (K - 1) of the scaled speed-up; null unless the work grows with the count.");
  json.sentence("Degrees of parallelism; null where the table has none.");
  json.object("layout",
              facts.layout.empty() ? std::nullopt : std::optional(facts.layout),
              [](Fields& of, const Layout& layout) {
                FIELDS(of, layout.tensor, layout.pipeline, layout.context, layout.data);
                of("expert", layout.expert);
              });
  json("batch", facts.batch, "Of one step and all ranks, in the table's unit (sequences).");
  json("sequence_length", facts.sequence_length, "Tokens.");
  json("microbatches", facts.microbatches, "Of one step and data-parallel replica.");
  json("rate_usd_per_hour", per_hour(facts.price), "The row's own price, USD per rank and hour.");
  json("power_w", facts.power_w, "W per rank.");
  json("latencies_s", latencies, "Seconds by name, as ttft_p99.");
}

void put_step(Fields& json, const MarginalStep& one) {
  FIELDS(json, one.from, one.to);
  json("kind",
       step_kind_name(one.kind),
       one_of("free|paid|slower and cheaper|slower and more expensive"));
  FIELDS(json, or_null(one.speedup_gain), or_null(one.time_saved));
  json("cost_added_usd", one.cost_added, or_null);
  json.sentence("null where money is saved: no ratio ranks a free step.");
  json("speedup_per_usd", one.speedup_per_dollar);
  json("usd_per_hour_saved", one.dollars_per_hour_saved, "null but for a paid step.");
}

void put_bill(Fields& json, const Prices& one) {
  json("per_rank_hour_usd", per_hour(one.per_rank));
  json("fixed_per_hour_usd", per_hour(one.fixed));
  json("value_of_time_per_hour_usd", per_hour(one.value_of_time));
}

void put_regime(Fields& json, const RegimeResult& one, const std::string& currency) {
  const auto* part = std::get_if<PricePart>(&one.regime.terms);
  json("name", one.regime.name);
  json("terms", regime_terms(one.regime, currency), "Its prices in words.");
  json.sentence("Of the given price; null for a price of its own.");
  json("price_part", part ? std::optional(part->part) : std::nullopt);
  json("price_per_used_hour_usd", per_hour(one.per_rank), "Of a rank.", or_null);
  json.sentence("From which it is cheaper than the price; above 1: never.");
  json("break_even_utilisation", one.break_even);
  json("costs_usd", one.costs, "Row by row, of the same work; null: does not finish.");
  json.object("choice", one.choice, put_choice);
  json("cheapest_in_time", one.cheapest_in_time, "With a deadline: that meets it.");
  json.sentence("Useful part of the wall time at its cheapest count; null: never interrupted.");
  json("goodput", one.goodput);
}

void put_spot(Fields& json, const SpotChoice& one) {
  json("cheapest", one.cheapest, "By expected cost.");
  json("fastest", one.fastest);
  json("cheapest_in_time", one.cheapest_in_time, "Of those that meet the deadline.");
  json("surest", one.most_likely, "The count that meets the deadline most probably.");
  json.array("counts", one.counts, [](Fields& of, const SpotCount& at) {
    const SpotPlan plan = at.plan.value_or(SpotPlan{});
    const auto if_finished = [&](const auto& value) {
      return at.plan ? std::optional(value) : std::nullopt;
    };
    of("count", at.ranks);
    of("expected_usd", at.cost, "null: does not finish.");
    of("probability_in_time", at.in_time, "null without a deadline.");
    of("expected_s", if_finished(plan.expected));
    of("billed_s", if_finished(plan.billed), "Of it, that machines are held and paid.");
    of("interval_s", if_finished(plan.interval), "Work between checkpoints.");
    of("segments", if_finished(plan.segments), "Equal parts of the work between checkpoints.");
  });
}

void put_loss(Fields& json, const RowLoss& one) {
  json("count", one.count);
  json("lost_speedup", one.missing, "Ratio of counts less speed-up.", or_null);
  json.object("lost", one.lost_s, put_parts);
  json("speedup_without_communication", one.without_communication, "Had it taken no time.");
  json("speedup_without_idle", one.without_idle);
}

void put_next_measurement(Fields& json, const NextMeasurement& one) {
  json("count", one.count);
  json.sentence("Of the interval of the count of least cost; null without prices.");
  json("optimum_width_before", one.width_before);
  json("optimum_width_after", one.width_after);
  json("cost_usd", one.cost, "Of that run.");
}

void put_further_laws(Fields& json, const FurtherLaws& laws) {
  json.array("ring", laws.ring, [](Fields& row, const RingRow& one) {
    FIELDS(row, one.count, one.communication.latency, one.communication.bandwidth);
    row("share_of_time", one.share, or_null);
  });
  json.array("work_depth", laws.bounds, [](Fields& row, const BoundRow& one) {
    FIELDS(row, one.count, one.measured);
    row("least_s", one.bounds.low, or_null);
    row("most_s", one.bounds.high, or_null);
    row("above", one.above, "Of measured_s over most_s, less 1.", or_null);
  });
}

void put_forecast(Fields& json, const LawForecast& forecast) {
  json("basis", forecast.basis, "The laws by weight, or why there is no point.");
  json.array("points", forecast.points, [](Fields& point, const ForecastPoint& one) {
    FIELDS(point, one.count, one.time, or_null(one.speedup), or_null(one.efficiency));
    point("far", one.far, "Beyond 4 times the largest measured count.");
  });
}

void put_weighted_law(Fields& json, const WeightedLaw& law) {
  FIELDS(json, law.family.name, law.family.formula, law.fitted.coefficients);
  json("weight", law.weight, "All weights add up to 1.");
  json("held_out_error", law.held_out, "Mean, relative, one count ahead.");
  json("worst_error", law.worst);
  json("residual", law.residual, "Root mean square, relative.", or_null);
}

void put_decision(Fields& json, const DecideView& view, const Verdict& judged) {
  const Decision& decision = view.decision;
  // By TimeBasis and by Axis.
  constexpr std::array bases{"run", "step", "units of work"};
  constexpr std::array axes{"ranks", "nodes", "load"};
  const char* times_of = bases[static_cast<std::size_t>(decision.basis)];
  const char* counts_of = axes[static_cast<std::size_t>(decision.axis)];
  put_versions(json, view.options);
  json.sentence(
      "The table and how rows were chosen, as on the command line; null for coefficients.");
  json("input", view.options.input, or_null);
  json.sentence("T(K) = T1 (s + (1-s)/K + c (K-1)); null for a table.");
  json.object("coefficients", decision.coefficients, [&](Fields& law, const Coefficients& one) {
    law("serial", one.serial, "s");
    law("communication", one.communication, "c");
    law("single_s", one.single, "T1");
    law.sentence("Count of least cost, not rounded; null without prices.");
    law("continuous_optimum", decision.continuous_optimum);
  });
  json("scaling",
       scaling_name(decision.scaling),
       "How the work grows with the count.",
       one_of("strong scaling|weak scaling|work that grows otherwise"));
  json("times_of", times_of, "What one time of a row is of.", one_of("run|step|units of work"));
  json.sentence("What the counts count; prices are per one of these, but for a load.");
  json("counts_of", counts_of, one_of("ranks|nodes|load"));
  json("load_unit", decision.load_unit, "The load that a count of 1 is; 1 for ranks and nodes.");
  const auto& read = decision.read;
  json.object(
      "read_as",
      read.table ? std::optional(read) : std::nullopt,
      [&](Fields& as, const TableReading& one) {
        as.named("reading", "How the columns of a table were read; null for anything else.");
        as("counted", decision.noun, "null: not known.", or_null);
        as("time_unit", one.time_unit, "As the table states it; null without a time.", or_null);
        as("rate_of", one.rate_noun, "What a rate counts; null without one.", or_null);
        as("rate_of_one", one.rate_of_one, "Of one GPU, not of all.");
        as("left_out", one.left_out, "Rows that are no count, each with what it has.");
      });
  json("growing_models",
       decision.growing_models,
       "Each count runs a larger model: only rates of one GPU compare, and no count is chosen.");
  put_currency(json, view.options);
  put_verdict(json, judged, verdict_words);
  json.object(
      "rubric", decision, put_rubric, "The limits, and the choice among the counts within them.");
  json.sentence(
      "What the fitted law says of counts that were not measured and would meet the deadline: a "
      "reason to measure them, never the verdict. Null without a deadline, for coefficients and "
      "for loads.");
  json.object("deadline_forecast", decision.deadline_forecast, put_deadline_forecast);
  json.object("cost_choice", decision.choice, put_choice);
  json.sentence(
      "The knees by every definition, none of which depends on the range that was measured.");
  json.object("knees", decision.knees, put_knees);
  json.sentence(
      "What causes the gap from ideal at `count`; null where nothing shows it, for `no_cause`.");
  json.object("cause", decision.diagnosis.cause, [&](Fields& cause, const ScalingCause& one) {
    cause("count", decision.cause_count);
    cause("owner", one.owner, "null: none explains 80 %.", or_null);
    cause("explained", one.explained, "Share of the largest.", or_null);
    cause("mixture", one.mixture, "Share by name.", or_null);
  });
  json.sentence("Why the curve bends and what would move it.");
  json.object("diagnosis", decision.diagnosis, put_diagnosis);
  json.sentence("What recordings show of each count; null without recordings.");
  json.object_if(!decision.ledgers.empty(), "ledgers", [&](Fields& ledgers) {
    put_ledgers(ledgers, decision);
  });
  json("no_cause", decision.diagnosis.no_cause, or_null);
  json.sentence(
      "The counts of the table, or of the coefficients' curve. Times and money of `same_work_s` "
      "and `cost_usd` are those of the baseline's work.");
  json.array("rows", decision.rows, [&](Fields& row, const DecisionRow& one) {
    put_row(row, one);
    const Seconds latest = one.latest(decision.request.rubric.deadline_probability);
    row("latest_s", latest, "What a run takes at most with that probability, failures apart.");
  });
  json.array("marginal", decision.steps, put_step, "From each count to the next.");
  json.sentence(
      "The counts that are best for some value of an hour of waiting (on top of the bill), by "
      "rising value, of those within every limit; empty without costs.");
  json.array("value_of_waiting", decision.waiting, [](Fields& waiting, const ValueOfWaiting& one) {
    waiting("count", one.count);
    waiting.sentence("The count is best from this value on, up to that of the next.");
    waiting("from_usd_per_hour", per_hour(one.from));
  });
  json.object(
      "bill", decision.request.metrics.prices, put_bill, "The prices; null without a price.");
  json.sentence("The same work under several price lists.");
  json.array("regimes", decision.regimes, [&](Fields& regime, const auto& one) {
    put_regime(regime, one, view.options.currency);
  });
  json.sentence("On machines that may be taken away; null unless asked for.");
  json.object("spot", decision.spot, put_spot);
  json.sentence("Where the carbon intensity comes from.");
  json("grid", view.decision.request.metrics.power.grid, or_null);
  json.sentence(
      "What each row beyond the baseline lost against the ideal, where the table has parts.");
  json.array("losses", decision.losses, put_loss);
  json.array(
      "laws",
      law_parameters(decision),
      [](Fields& of, const LawParameter& one) {
        of("law", one.law);
        of("parameter", one.key);
        of("value", one.value);
      },
      "Parameters of the fitted laws, those that there are.");
  json("not_identifiable",
       decision.law ? decision.law->not_identifiable : "",
       "Why contention and coherency have no intervals.",
       or_null);
  json.sentence(
      "The contention-coherency law row by row, its counts of least time and cost, the count to "
      "measure next.");
  json.object("next_measurement", decision.next_measurement, put_next_measurement);
  json.sentence(
      "What the measured latency and bandwidth ask for, and what work and depth allow; empty where "
      "neither is given.");
  json.object("further_laws", decision.further, put_further_laws);
  json.sentence(
      "What the laws that hold say of 2, 4 and 8 times the largest count and of counts asked for. "
      "Null for one row.");
  json.object("forecast", decision.law_forecast, put_forecast);
  json.array("laws_compared",
             decision.laws ? std::optional(decision.laws->laws) : std::nullopt,
             put_weighted_law,
             "Laws that a forecast is made of, by weight; null for one row.");
  json("doubts",
       said(decision.doubts, Audience::terminal),
       "Why the counts may not be held against each other.");
  json("remarks", said(decision.remarks, Audience::terminal));
}
}  // namespace

void put_decision(Fields& json, const DecideView& view) {
  put_decision(json, view, judge_decision(view));
}

std::string decision_json(const DecideView& view) {
  return json_of(head, [&](Fields& json) { put_decision(json, view); });
}

std::string decision_schema() {
  return schema_of(head, [](Fields& json) { put_decision(json, {{}, {}}, {}); });
}
}  // namespace scaleworth::report
