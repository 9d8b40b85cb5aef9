// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/render.h"
#include "src/core/files/fields.h"

#include <array>
#include <chrono>

#include <nlohmann/json.hpp>

namespace scaleworth::report {
namespace {

constexpr JsonHead head{4, "scaleworth decision"};

constexpr FieldOptions one_cause{
    .one_of =
        "serial work|communication|serial work or communication that does not shrink|growing "
        "overhead|idle|host|I/O|compute slow-down",
    .by_word = true};

std::optional<std::vector<double>> ends(const std::optional<Interval<double>>& one) {
  return one ? std::optional(std::vector<double>{one->low, one->high}) : std::nullopt;
}

double seconds(Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

constexpr VerdictWords verdict_words{.yes = "recommended",
                                     .no = "none",
                                     .unknown = "not reliable",
                                     .answers = "recommended|none|not reliable"};

void put_rubric(Fields& json, const Decision& decision) {
  const RubricResult& rubric = decision.rubric;
  json.object("asked", decision.request.rubric, [](Fields& of, const Rubric& asked) {
    of("objective", asked.objective);
    of.members("efficiency_threshold", asked.efficiency_threshold, "deadline_s", asked.deadline);
    of.members("deadline_probability", asked.deadline_probability);
    of("budget_usd", asked.budget);
    of.members("energy_budget_kwh", asked.energy_budget_kwh, "max_latency_s", asked.max_latency);
    of.members("min_throughput", asked.min_throughput);
  });
  json.members("objective", rubric.objective, "chosen", rubric.chosen);
  json.members("level", rubric.equivalent_counts, "cheapest", decision.named.cheapest);
  json.members("balanced", decision.named.balanced, "fastest", decision.named.fastest);
  json("largest_efficient", rubric.largest_efficient);
  json.array("exclusions", rubric.exclusions, [](Fields& of, const Exclusion& one) {
    of.members("reason", said(one.reason), "mark", by_word(one.gate), "counts", one.counts);
  });
  json.members("unproven", rubric.unproven, "quality_held", rubric.quality_held);
  json("quality_drift", rubric.quality_drift);
}

void put_predicted(Fields& json, const PredictedCount& one) {
  json.named("predicted");
  json.members("count", one.count, "expected_s", one.expected, "upper_s", one.upper);
  json.members("probability_in_time", one.in_time, "expected_usd", one.expected_cost);
  json.members("upper_usd", one.upper_cost, "beyond_measured", one.beyond);
}

void put_deadline_forecast(Fields& json, const DeadlineForecast& forecast) {
  const auto if_available = [&](const auto& value) {
    return forecast.unavailable ? std::nullopt : std::optional(value);
  };
  const char* measured_noise = forecast.noise_measured ? "repeats" : "repeats and residuals";
  json("deadline_s", forecast.deadline.latest);
  json("probability", forecast.deadline.probability);
  json("cheapest_measured", forecast.measured);
  json("cheapest_measured_in_time", forecast.measured_in_time);
  json("unavailable", said(forecast.unavailable), or_null);
  json("run_noise", forecast.noise);
  json("noise_from",
       forecast.noise ? measured_noise : "",
       {.or_null = true, .one_of = "repeats|repeats and residuals"});
  json.members("looked_from", if_available(forecast.from), "looked_to", if_available(forecast.to));
  json("looked_step", if_available(forecast.step));
  json.object("cheapest_predicted", forecast.cheapest, put_predicted);
  json.object("fastest", if_available(forecast.fastest), put_predicted);
  json("probability_at_any_count", if_available(forecast.in_time_anywhere));
}

void put_choice(Fields& json, const CostChoice& one) {
  json.named("choice");
  json.members("cheapest", one.cheapest, "plateau", one.plateau, "fastest", one.fastest);
  json("price_cancels", one.price_cancels);
}

void put_knee(Fields& json, const Knee& one) {
  json.named("knee");
  json("definition", one.kind, one_of("efficiency threshold|speed-up x efficiency|cost|peak"));
  json.members("count", one.count, "position", one.position, "low", or_null(one.low));
  json.members("high", one.high, "beyond_measured", one.beyond);
}

void put_knees(Fields& json, const KneeSet& set) {
  json.members("basis", said(set.basis), "threshold", set.request.threshold);
  json("threshold_given", set.request.threshold_given);
  json.array("definitions", set.knees, put_knee);
}

void put_gap(Fields& json, const Gap& one) {
  json.named("gap");
  json.members("count", one.count, "lost_s", or_null(one.lost_s));
  json.array("causes", one.losses, [](Fields& cause, const CauseLoss& each) {
    cause("cause", each.cause, one_cause);
    cause.members("lost_s", or_null(each.lost_s), "share", or_null(each.share));
    cause("share_by_fits", ends(each.spread));
  });
  json("latency_share_of_communication", one.latency_share);
}

void put_diagnosis(Fields& json, const Diagnosis& diagnosis) {
  const auto remedy = [&](Fields& each, const Remedy& one) {
    const auto latency = diagnosis.decisive ? diagnosis.decisive->latency_share : std::nullopt;
    const Words words = words_of(remedy_of(one.cause, latency));
    each("cause", one.cause, one_cause);
    each.members("change", words.text, "means", words.again);
    each.object("before", one.before, put_knee);
    each.object("after", one.after, put_knee);
    each.members("saves", one.saved, "moves", one.moves);
  };
  json("by_law_alone", diagnosis.by_law && !diagnosis.by_terms);
  json.array("gaps", diagnosis.gaps, put_gap);
  json.object("fits", diagnosis.spread, [](Fields& of, const LawSpread& one) {
    of.members("count", one.count, "lost_speedup", or_null(one.missing));
    of("serial_share_by_fits", ends(one.by_fits));
    of("serial_share_with_noise", ends(one.serial_share));
    of.array("fits", one.readings, [](Fields& fit, const LawReading& reading) {
      fit.members("fit", reading.fit, "serial", or_null(reading.serial));
      fit.members("serial_folds", or_null(reading.serial_folds));
      fit.members("overhead_folds", or_null(reading.overhead_folds));
      fit.members("unexplained_folds", or_null(reading.unexplained_folds));
      fit.members("serial_share_of_seconds", or_null(reading.serial_share));
      fit.members("residual", or_null(reading.residual), "holds", reading.holds);
    });
  });
  json.array("remedies", diagnosis.remedies, remedy);
}

void put_ledgers(Fields& json, const Decision& decision) {
  json.array("counts", decision.ledgers, [](Fields& ledger, const LedgerFacts& one) {
    ledger("count", one.count);
    ledger.object("factors", one.factors, [](Fields& of, const Efficiency& factors) {
      const auto useful = mapped(factors.useful, [](auto time) { return seconds(time); });
      of.members("parallel", or_null(factors.parallel));
      of.members("load_balance", or_null(factors.load_balance), "host", or_null(factors.host));
      of.members("dependency", or_null(factors.dependency), "transfer", or_null(factors.transfer));
      of.members("step_s", seconds(factors.runtime), "useful_s_by_rank", useful);
      of("of", said(factors.window), or_null);
    });
    ledger("no_factors", said(one.no_factors), or_null);
    ledger("straggler", said(one.straggler), or_null);
  });
  json.array("gaps_by_factors", decision.diagnosis.factor_gaps, put_gap);
  json("cause_by_factors", decision.diagnosis.by_factors);
  json("note", said(decision.diagnosis.factor_note), or_null);
}

void put_parts(Fields& json, const GroupTimes& times) {
  json.named("parts");
  json("compute_s", times[index_of(PartGroup::compute)]);
  json("communication_s", times[index_of(PartGroup::communication)]);
  json.members("idle_s", times[index_of(PartGroup::idle)], "io_s", times[index_of(PartGroup::io)]);
  json("host_s", times[index_of(PartGroup::host)]);
}

void put_row(Fields& json, const DecisionRow& row) {
  const RowFacts& facts = row.facts;
  std::vector<std::pair<std::string, Seconds>> latencies;
  for (const Latency& one : facts.latencies) latencies.emplace_back(one.name, one.seconds);
  json.members("count", row.count, "time_s", row.time, "same_work_s", row.same_work);
  json.members("speedup", row.speedup, "efficiency", row.efficiency, "mfu", row.trained.mfu_peak);
  json.members("karp_flatt", row.karp_flatt, "cost_usd", row.cost);
  json.object("failures", row.failures, [&](Fields& of, const FailurePlan& one) {
    of("mean_time_between_s", mean_time_between_interruptions(one.terms, row.count));
    of("interval_s", one.plan.interval);
    of("goodput", one.plan.goodput(), or_null);
    of("expected_s", row.wall());
  });
  json.members("cost_per_work_usd", row.cost_per_work, "work_per_usd", row.work_per_dollar);
  json.members("work_per_s", row.throughput, "energy_per_work_j", row.energy_per_work);
  json.object("energy", row.energy, [](Fields& of, const JobEnergy& one) {
    of.members("machines_j", one.joules, "building_kwh", one.facility_kwh, "co2e_g", one.grams);
    of("origin", one.metered ? "meter" : "rating", one_of("meter|rating"));
  });
  json("quality", row.quality);
  json.object("parts", row.parts_s, put_parts);
  json("gustafson_serial", row.gustafson_serial);
  json.object("layout",
              facts.layout.empty() ? std::nullopt : std::optional(facts.layout),
              [](Fields& of, const Layout& layout) {
                of.members("tensor", layout.tensor, "pipeline", layout.pipeline);
                of.members("context", layout.context, "data", layout.data);
                of("expert", layout.expert);
              });
  json.members("batch", facts.batch, "sequence_length", facts.sequence_length);
  json.members("microbatches", facts.microbatches, "rate_usd_per_hour", per_hour(facts.price));
  json.members("power_w", facts.power_w, "latencies_s", latencies);
}

void put_step(Fields& json, const MarginalStep& one) {
  json.members("from", one.from, "to", one.to);
  json("kind",
       one.kind,
       {.one_of = "free|paid|slower and cheaper|slower and more expensive", .by_word = true});
  json.members("speedup_gain", or_null(one.speedup_gain), "time_saved_s", or_null(one.time_saved));
  json.members("cost_added_usd", or_null(one.cost_added));
  json("speedup_per_usd", one.speedup_per_dollar);
  json("usd_per_hour_saved", one.dollars_per_hour_saved);
  json("quality_gained", one.quality_gained);
  json("quality_cost_usd", one.quality_cost);
}

void put_bill(Fields& json, const Prices& one) {
  json("per_rank_hour_usd", per_hour(one.per_rank));
  json("fixed_per_hour_usd", per_hour(one.fixed));
  json("value_of_time_per_hour_usd", per_hour(one.value_of_time));
}

void put_regime(Fields& json, const RegimeResult& one, const std::string& currency) {
  const auto* part = std::get_if<PricePart>(&one.regime.terms);
  json.members("name", one.regime.name, "terms", regime_terms(one.regime, currency));
  json("price_part", part ? std::optional(part->part) : std::nullopt);
  json("price_per_used_hour_usd", per_hour(one.per_rank), or_null);
  json.members("break_even_utilisation", one.break_even, "costs_usd", one.costs);
  json.object("choice", one.choice, put_choice);
  json.members("cheapest_in_time", one.cheapest_in_time, "goodput", one.goodput);
}

void put_spot(Fields& json, const SpotChoice& one) {
  json.members("cheapest", one.cheapest, "fastest", one.fastest);
  json.members("cheapest_in_time", one.cheapest_in_time, "surest", one.most_likely);
  json.array("counts", one.counts, [](Fields& of, const SpotCount& at) {
    const SpotPlan plan = at.plan.value_or(SpotPlan{});
    const auto if_finished = [&](const auto& value) {
      return at.plan ? std::optional(value) : std::nullopt;
    };
    of.members("count", at.ranks, "expected_usd", at.cost, "probability_in_time", at.in_time);
    of.members("expected_s", if_finished(plan.expected), "billed_s", if_finished(plan.billed));
    of.members("interval_s", if_finished(plan.interval), "segments", if_finished(plan.segments));
  });
}

void put_loss(Fields& json, const RowLoss& one) {
  json.members("count", one.count, "lost_speedup", or_null(one.missing));
  json.object("lost", one.lost_s, put_parts);
  json("speedup_without_communication", one.without_communication);
  json("speedup_without_idle", one.without_idle);
}

void put_next_measurement(Fields& json, const NextMeasurement& one) {
  json.members("count", one.count, "optimum_width_before", one.width_before);
  json.members("optimum_width_after", one.width_after, "cost_usd", one.cost);
}

void put_further_laws(Fields& json, const FurtherLaws& laws) {
  json.array("work_depth", laws.bounds, [](Fields& row, const BoundRow& one) {
    row.members("count", one.count, "measured_s", one.measured);
    row.members("least_s", or_null(one.bounds.low), "most_s", or_null(one.bounds.high));
    row("above", one.above, or_null);
  });
}

void put_forecast(Fields& json, const LawForecast& forecast) {
  json("basis", said(forecast.basis));
  json.array("points", forecast.points, [](Fields& point, const ForecastPoint& one) {
    point.members("count", one.count, "time_s", one.time, "speedup", or_null(one.speedup));
    point.members("efficiency", or_null(one.efficiency));
    point("far", one.far);
  });
}

void put_weighted_law(Fields& json, const WeightedLaw& law) {
  json.members("name", law.family.name, "formula", law.family.formula);
  json.members("coefficients", law.fitted.coefficients);
  json.members("weight", law.weight, "held_out_error", law.held_out, "worst_error", law.worst);
  json.members("residual", or_null(law.residual));
}

/// What was asked and how it was read.
void put_input(Fields& json, const DecideView& view) {
  const Decision& decision = view.decision;
  // By TimeBasis and by Axis.
  constexpr std::array bases{"run", "step", "units of work"};
  constexpr std::array axes{"ranks", "nodes", "load"};
  const char* times_of = bases[static_cast<std::size_t>(decision.basis)];
  const char* counts_of = axes[static_cast<std::size_t>(decision.axis)];
  json("input", view.options.input, or_null);
  json.object("coefficients", decision.coefficients, [&](Fields& law, const Coefficients& one) {
    law.members("serial", one.serial, "communication", one.communication, "single_s", one.single);
    law("continuous_optimum", decision.continuous_optimum);
  });
  json("scaling",
       decision.scaling,
       {.one_of = "strong scaling|weak scaling|work that grows otherwise", .by_word = true});
  json("times_of", times_of, one_of("run|step|units of work"));
  json("counts_of", counts_of, one_of("ranks|nodes|load"));
  json("load_unit", decision.load_unit);
  const auto& read = decision.read;
  json.object("read_as",
              read.table ? std::optional(read) : std::nullopt,
              [&](Fields& as, const TableReading& one) {
                as.named("reading");
                as.members("counted", or_null(decision.noun), "time_unit", or_null(one.time_unit));
                as.members("rate_of", or_null(one.rate_noun), "rate_of_one", one.rate_of_one);
                as("left_out", one.left_out);
              });
  json("growing_models", decision.growing_models);
  put_currency(json, view.options);
}

/// Why the curve has its shape, by the parts of the steps where they are known.
void put_causes(Fields& json, const Decision& decision) {
  json.object("cause", decision.diagnosis.cause, [&](Fields& cause, const ScalingCause& one) {
    cause.members("count", decision.cause_count, "owner", by_word(one.owner));
    std::vector<std::pair<std::string, double>> shares;
    for (const auto& [part, share] : one.mixture) shares.emplace_back(word_of(part), share);
    cause.members("explained", or_null(one.explained), "mixture", or_null(shares));
  });
  json.object("diagnosis", decision.diagnosis, put_diagnosis);
  json.object_if(!decision.ledgers.empty(), "ledgers", [&](Fields& ledgers) {
    put_ledgers(ledgers, decision);
  });
  json("no_cause", said(decision.diagnosis.no_cause), or_null);
}

/// What waiting, the ways to pay and interruptions cost.
void put_costs(Fields& json, const Decision& decision, const std::string& currency) {
  json.array("marginal", decision.steps, put_step);
  json.array("value_of_waiting", decision.waiting, [](Fields& waiting, const ValueOfWaiting& one) {
    waiting.members("count", one.count, "from_usd_per_hour", per_hour(one.from));
  });
  json.object("bill", decision.request.metrics.prices, put_bill);
  json.array("regimes", decision.regimes, [&](Fields& regime, const auto& one) {
    put_regime(regime, one, currency);
  });
  json.object("better_way", decision.better_way, [](Fields& of, const PaidWay& one) {
    of.members("regime", one.regime, "count", one.count, "cost_usd", one.cost, "time_s", one.time);
  });
  json.object("spot", decision.spot, put_spot);
  json("grid", decision.request.metrics.power.grid, or_null);
}

void put_decision(Fields& json, const DecideView& view, const Verdict& judged) {
  const Decision& decision = view.decision;
  put_versions(json, view.options);
  put_input(json, view);
  put_verdict(json, judged, verdict_words);
  json.object("rubric", decision, put_rubric);
  json.object("deadline_forecast", decision.deadline_forecast, put_deadline_forecast);
  json.object("cost_choice", decision.choice, put_choice);
  json.object("knees", decision.knees, put_knees);
  put_causes(json, decision);
  json.array("rows", decision.rows, [&](Fields& row, const DecisionRow& one) {
    put_row(row, one);
    const Seconds latest = one.latest(decision.request.rubric.deadline_probability);
    row("latest_s", latest);
  });
  put_costs(json, decision, view.options.currency);
  json.array("losses", decision.losses, put_loss);
  json.array("laws", law_parameters(decision), [](Fields& of, const LawParameter& one) {
    of.members("law", one.law, "parameter", one.key, "value", one.value);
  });
  json("not_identifiable", decision.law ? said(decision.law->not_identifiable) : "", or_null);
  json.object("next_measurement", decision.next_measurement, put_next_measurement);
  json.object("further_laws", decision.further, put_further_laws);
  json.object("forecast", decision.law_forecast, put_forecast);
  json.array("laws_compared",
             decision.laws ? std::optional(decision.laws->laws) : std::nullopt,
             put_weighted_law);
  json("doubts", said(decision.warnings, Audience::terminal));
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
