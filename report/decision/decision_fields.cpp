// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/json_values.h"
#include "report/render.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/laws/classic_laws.h"
#include "src/model/laws/law_evidence.h"
#include "src/model/laws/model_selection.h"

#include <chrono>

namespace scaleworth::report {
namespace {
const char* kind_name(decide::KneeKind kind) {
  switch (kind) {
    case decide::KneeKind::efficiency:
      return "efficiency threshold";
    case decide::KneeKind::slope:
      return "slope threshold";
    case decide::KneeKind::speed_per_rank:
      return "speed-up x efficiency";
    case decide::KneeKind::cost:
      return "cost";
    case decide::KneeKind::peak:
      break;
  }
  return "peak";
}

Json knee(const decide::Knee& one) {
  return {{"definition", kind_name(one.kind)},
          {"count", json_value(one.count)},
          {"position", json_value(one.position)},
          {"low", json_value(one.low)},
          {"high", json_value(one.high)},
          {"beyond_measured", one.beyond}};
}

Json reading(const decide::KneedleReading& one) {
  return {{"from", one.from}, {"to", one.to}, {"count", json_value(one.knee)}};
}

Json interval(const std::optional<Interval<double>>& one) {
  return one ? Json{json_value(one->low), json_value(one->high)} : Json(nullptr);
}

/// One gap from ideal, by cause.
Json gap_json(const decide::Gap& one) {
  const auto loss = [](const decide::CauseLoss& each) {
    return Json{{"cause", decide::cause_name(each.cause)},
                {"lost_s", json_value(each.lost_s)},
                {"share", json_value(each.share)},
                {"share_by_fits", interval(each.spread)}};
  };
  return {{"count", one.count},
          {"lost_s", json_value(one.lost_s)},
          {"causes", json_array(one.losses, loss)},
          {"latency_share_of_communication", json_value(one.latency_share)}};
}

Json fit(const decide::LawReading& one) {
  return {{"fit", one.fit},
          {"serial", json_value(one.serial)},
          {"serial_folds", json_value(one.serial_folds)},
          {"overhead_folds", json_value(one.overhead_folds)},
          {"unexplained_folds", json_value(one.unexplained_folds)},
          {"serial_share_of_seconds", json_value(one.serial_share)},
          {"residual", json_value(one.residual)},
          {"holds", one.holds}};
}

Json spread(const decide::LawSpread& one) {
  return {{"count", one.count},
          {"folds_without_forecast", json_value(one.missing)},
          {"serial_share_by_fits", interval(one.by_fits)},
          {"serial_share_with_noise", interval(one.serial_share)},
          {"fits", json_array(one.readings, fit)}};
}

Json remedy(const decide::Remedy& one, const std::optional<double>& latency_share) {
  return {{"cause", decide::cause_name(one.cause)},
          {"change", decide::remedy_change(one.cause)},
          {"means", decide::remedy_means(one.cause, latency_share)},
          {"before", knee(one.before)},
          {"after", knee(one.after)},
          {"saves", json_value(one.saved)},
          {"moves", one.moves ? Json(*one.moves) : Json(nullptr)}};
}

Json knees_json(const decide::KneeSet& set) {
  return {{"basis", set.basis},
          {"threshold", json_value(set.request.threshold)},
          {"threshold_given", set.request.threshold_given},
          {"definitions", json_array(set.knees, knee)},
          {"kneedle_for_comparison", json_array(set.kneedle, reading)}};
}

Json diagnosis_json(const decide::Diagnosis& diagnosis) {
  const auto one_remedy = [&](const decide::Remedy& one) {
    return remedy(one, diagnosis.decisive ? diagnosis.decisive->latency_share : std::nullopt);
  };
  return {{"by_law_alone", diagnosis.by_law},
          {"gaps", json_array(diagnosis.gaps, gap_json)},
          {"fits", diagnosis.spread ? spread(*diagnosis.spread) : Json(nullptr)},
          {"remedies", json_array(diagnosis.remedies, one_remedy)}};
}

constexpr double seconds_per_hour = 3600.0;

Json layout_json(const decide::Layout& layout) {
  if (layout.empty()) return nullptr;
  return {{"tensor", json_value(layout.tensor)},
          {"pipeline", json_value(layout.pipeline)},
          {"context", json_value(layout.context)},
          {"data", json_value(layout.data)},
          {"expert", json_value(layout.expert)}};
}

Json latencies_json(const std::vector<decide::Latency>& latencies) {
  Json json = Json::object();
  for (const decide::Latency& latency : latencies) {
    json[latency.name] = json_value(latency.seconds);
  }
  return json;
}

/// Members of a row: Gustafson's fraction, layout, batch, price, power, latencies.
Json row_facts_json(const decide::DecisionRow& row) {
  const decide::RowFacts& facts = row.facts;
  Json json{{"gustafson_serial", json_value(row.gustafson_serial)},
            {"layout", layout_json(facts.layout)},
            {"batch", json_value(facts.batch)},
            {"sequence_length", json_value(facts.sequence_length)},
            {"microbatches", json_value(facts.microbatches)},
            {"rate_usd_per_hour", nullptr},
            {"power_w", json_value(facts.power_w)},
            {"latencies_s", latencies_json(facts.latencies)}};
  if (facts.price) {
    json["rate_usd_per_hour"] = json_value(facts.price->value() * seconds_per_hour);
  }
  return json;
}

/// "run", "step", "units of work".
const char* times_of_name(decide::TimeBasis basis) {
  switch (basis) {
    case decide::TimeBasis::run:
      return "run";
    case decide::TimeBasis::step:
      return "step";
    case decide::TimeBasis::work_unit:
      break;
  }
  return "units of work";
}

/// "ranks", "nodes", "load".
const char* counts_of_name(decide::Axis axis) {
  switch (axis) {
    case decide::Axis::ranks:
      return "ranks";
    case decide::Axis::nodes:
      return "nodes";
    case decide::Axis::load:
      break;
  }
  return "load";
}

Json law_row(const decide::LawRow& row) {
  return {{"count", row.count},
          {"measured_s", json_value(row.measured)},
          {"fitted_s", json_value(row.fitted)},
          {"residual", json_value(row.residual)},
          {"left_out_error", json_value(row.left_out)}};
}

Json count_estimate(const std::optional<model::CountEstimate>& at) {
  if (!at) return nullptr;
  return {{"value", json_value(at->count)},
          {"low", json_value(at->low)},
          {"high", json_value(at->high)}};
}

Json next_measurement(const std::optional<model::NextMeasurement>& next) {
  if (!next) return nullptr;
  return {{"count", next->count},
          {"optimum_width_before", json_value(next->width_before)},
          {"optimum_width_after", json_value(next->width_after)},
          {"cost_usd", json_value(next->cost)}};
}

Json parameter(const model::ThroughputParameter& one) {
  Json json{{"value", json_value(one.value)},
            {"standard_error", json_value(one.standard_error)},
            {"low", nullptr},
            {"high", nullptr}};
  if (one.interval) {
    json["low"] = json_value(one.interval->low);
    json["high"] = json_value(one.interval->high);
  }
  return json;
}

Json throughput(const std::optional<model::ThroughputFit>& fit) {
  if (!fit) return nullptr;
  return {{"contention", parameter(fit->contention)},
          {"coherency", parameter(fit->coherency)},
          {"single_per_s", parameter(fit->single)},
          {"residual_sd_per_s", json_value(fit->residual_sd)},
          {"degrees_of_freedom", fit->degrees},
          {"peak_count", json_value(fit->peak_load)},
          {"limit_per_s", json_value(fit->limit)}};
}

Json gustafson(const std::optional<model::GustafsonFit>& fit) {
  if (!fit) return nullptr;
  return {{"serial", json_value(fit->serial)},
          {"single_s", json_value(fit->single)},
          {"residual", json_value(fit->residual)},
          {"amdahl_serial", json_value(fit->amdahl_serial)},
          {"amdahl_serial_at", json_value(fit->largest_count)}};
}

Json micro_batches(const std::optional<model::MicroBatchFit>& fit) {
  if (!fit) return nullptr;
  return {{"per_micro_batch_s", json_value(fit->per_micro_batch)},
          {"fixed_s", json_value(fit->fixed)},
          {"lost_micro_batches", json_value(fit->lost_micro_batches)},
          {"residual", json_value(fit->residual)}};
}

Json informed(const std::optional<model::InformedFit>& fit) {
  if (!fit) return nullptr;
  return {{"single_s", json_value(fit->single)},
          {"serial", json_value(fit->serial)},
          {"residual", json_value(fit->residual)}};
}

Json ring_row(const decide::RingRow& row) {
  return {{"count", row.count},
          {"latency_s", json_value(row.communication.latency)},
          {"bandwidth_s", json_value(row.communication.bandwidth)},
          {"share_of_time", json_value(row.share)}};
}

Json bound_row(const decide::BoundRow& row) {
  return {{"count", row.count},
          {"measured_s", json_value(row.measured)},
          {"least_s", json_value(row.bounds.low)},
          {"most_s", json_value(row.bounds.high)},
          {"above", json_value(row.above)}};
}

Json forecast_point(const decide::ForecastPoint& point) {
  return {{"count", point.count},
          {"time_s", json_value(point.time)},
          {"speedup", json_value(point.speedup)},
          {"efficiency", json_value(point.efficiency)},
          {"far", point.far}};
}

Json further_laws_json(const decide::FurtherLaws& laws) {
  return {{"gustafson", gustafson(laws.gustafson)},
          {"micro_batches", micro_batches(laws.micro_batches)},
          {"informed", informed(laws.informed)},
          {"ring", json_array(laws.ring, ring_row)},
          {"work_depth", json_array(laws.bounds, bound_row)}};
}

/// null without one.
Json forecast_json(const std::optional<decide::LawForecast>& law_forecast) {
  if (!law_forecast) return nullptr;
  return {{"law", law_forecast->law},
          {"formula", law_forecast->formula},
          {"basis", law_forecast->basis},
          {"held_out_error", json_value(law_forecast->held_out)},
          {"points", json_array(law_forecast->points, forecast_point)}};
}

/// Numbers in base units, null for what is absent.
Json law_evidence_json(const decide::LawEvidence& evidence) {
  return {{"rows", json_array(evidence.rows, law_row)},
          {"least_time_count", count_estimate(evidence.least_time)},
          {"least_cost_count", count_estimate(evidence.least_cost)},
          {"next_measurement", next_measurement(evidence.next)},
          {"throughput_fit", throughput(evidence.throughput)}};
}

double seconds(attribution::Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

Json factors(const attribution::Efficiency& one) {
  return {{"parallel", json_value(one.parallel)},
          {"load_balance", json_value(one.load_balance)},
          {"host", json_value(one.host)},
          {"dependency", json_value(one.dependency)},
          {"transfer", json_value(one.transfer)},
          {"step_s", json_value(seconds(one.runtime))},
          {"useful_s_by_rank", json_array(one.useful, [](auto time) { return seconds(time); })},
          {"of", json_note(one.window)}};
}

Json ledger(const decide::LedgerFacts& one) {
  return {{"count", one.count},
          {"factors", one.factors ? factors(*one.factors) : Json(nullptr)},
          {"no_factors", json_note(one.no_factors)},
          {"straggler", json_note(one.straggler)}};
}

/// POP factors and straggler by count, the gaps by factors and how they differ from the parts; null
/// without recordings.
Json ledgers_json(const decide::Decision& decision) {
  if (decision.ledgers.empty()) return nullptr;
  return {{"counts", json_array(decision.ledgers, ledger)},
          {"gaps_by_factors", json_array(decision.diagnosis.factor_gaps, gap_json)},
          {"cause_by_factors", decision.diagnosis.by_factors},
          {"note", json_note(decision.diagnosis.factor_note)}};
}

using decide::Decision;

const char* answer_name(Answer answer) {
  return answer == Answer::yes ? "recommended" : answer == Answer::no ? "none" : "not attributed";
}

Json parts(const GroupTimes& times) {
  return {{"compute_s", json_value(times[index_of(PartGroup::compute)])},
          {"communication_s", json_value(times[index_of(PartGroup::communication)])},
          {"idle_s", json_value(times[index_of(PartGroup::idle)])},
          {"io_s", json_value(times[index_of(PartGroup::io)])},
          {"host_s", json_value(times[index_of(PartGroup::host)])}};
}

Json sensitivity(const decide::Sensitivity& one) {
  return {{"input", one.name},
          {"unit", json_note(one.unit)},
          {"value", json_value(one.value)},
          {"stays_from", json_value(one.low)},
          {"stays_to", json_value(one.high)},
          {"elasticity", json_value(one.elasticity)}};
}

Json energy(const model::JobEnergy& one) {
  return {{"machines_j", json_value(one.joules)},
          {"building_kwh", json_value(one.facility_kwh)},
          {"co2e_g", json_value(one.grams)},
          {"origin", one.metered ? "meter" : "rating"}};
}

Json row(const decide::DecisionRow& one) {
  Json json{{"count", one.count},
            {"time_s", json_value(one.time)},
            {"same_work_s", json_value(one.same_work)},
            {"speedup", json_value(one.speedup)},
            {"efficiency", json_value(one.efficiency)},
            {"karp_flatt", json_value(one.karp_flatt)},
            {"cost_usd", json_value(one.cost)},
            {"cost_per_work_usd", json_value(one.cost_per_work)},
            {"work_per_usd", json_value(one.work_per_dollar)},
            {"work_per_s", json_value(one.throughput)},
            {"energy_per_work_j", json_value(one.energy_per_work)},
            {"energy", one.energy ? energy(*one.energy) : Json(nullptr)},
            {"quality", json_value(one.quality)},
            {"parts", parts(one.parts_s)}};
  json.update(row_facts_json(one));
  return json;
}

Json step(const decide::MarginalStep& one) {
  return {{"from", one.from},
          {"to", one.to},
          {"kind", decide::step_kind_name(one.kind)},
          {"speedup_gain", json_value(one.speedup_gain)},
          {"time_saved_s", json_value(one.time_saved)},
          {"cost_added_usd", json_value(one.cost_added)},
          {"speedup_per_usd", json_value(one.speedup_per_dollar)},
          {"usd_per_hour_saved", json_value(one.dollars_per_hour_saved)}};
}

Json waiting(const decide::ValueOfWaiting& one) {
  return {{"count", one.count}, {"from_usd_per_hour", json_value(hourly_price(one.from))}};
}

Json choice(const model::CostChoice& one) {
  return {{"cheapest", one.cheapest},
          {"plateau", one.plateau},
          {"fastest", one.fastest},
          {"price_of_speed_usd", json_value(one.price_of_speed)},
          {"price_cancels", one.price_cancels}};
}

Json regime(const decide::RegimeResult& one) {
  const auto* part = std::get_if<decide::PricePart>(&one.regime.terms);
  return {{"name", one.regime.name},
          {"terms", regime_terms(one.regime)},
          {"price_part", part ? json_value(part->part) : Json(nullptr)},
          {"price_per_used_hour_usd", json_value(hourly_price(one.per_rank))},
          {"break_even_utilisation", json_value(one.break_even)},
          {"costs_usd", json_array(one.costs, [](auto cost) { return json_value(cost); })},
          {"choice", one.choice ? choice(*one.choice) : Json(nullptr)},
          {"cheapest_in_time", json_value(one.cheapest_in_time)}};
}

Json spot_count(const model::SpotCount& one) {
  Json json{{"count", one.ranks},
            {"expected_usd", json_value(one.cost)},
            {"probability_in_time", json_value(one.in_time)}};
  json["expected_s"] = one.plan ? json_value(one.plan->expected) : Json(nullptr);
  json["interval_s"] = one.plan ? json_value(one.plan->interval) : Json(nullptr);
  json["segments"] = one.plan ? Json(one.plan->segments) : Json(nullptr);
  return json;
}

Json spot(const model::SpotChoice& one) {
  return {{"cheapest", json_value(one.cheapest)},
          {"fastest", json_value(one.fastest)},
          {"cheapest_in_time", json_value(one.cheapest_in_time)},
          {"surest", json_value(one.surest)},
          {"counts", json_array(one.counts, spot_count)}};
}

Json bill(const model::BillTerms& one) {
  return {{"per_rank_hour_usd", json_value(hourly_price(one.per_rank))},
          {"fixed_per_hour_usd", json_value(hourly_price(one.fixed))},
          {"storage_per_hour_usd", json_value(hourly_price(one.storage))},
          {"value_of_time_per_hour_usd", json_value(hourly_price(one.value_of_time))},
          {"egress_per_run_usd", json_value(one.egress)}};
}

Json rubric(const decide::RubricResult& one, const decide::NamedCounts& named) {
  const auto exclusion = [](const decide::Exclusion& e) {
    return Json{{"reason", e.reason}, {"mark", e.mark}, {"counts", e.counts}};
  };
  return {{"objective", decide::objective_name(one.objective)},
          {"chosen", json_value(one.chosen)},
          {"level", one.level},
          {"cheapest", named.cheapest},
          {"balanced", named.balanced},
          {"fastest", named.fastest},
          {"largest_efficient", json_value(one.largest_efficient)},
          {"exclusions", json_array(one.exclusions, exclusion)},
          {"unproven", one.unproven},
          {"quality_held", one.quality_held ? Json(*one.quality_held) : Json(nullptr)},
          {"quality_drift", json_value(one.quality_drift)}};
}

Json cause(const Decision& decision) {
  if (!decision.cause) return nullptr;
  Json mixture = Json::object();
  for (const auto& [name, share] : decision.cause->mixture) mixture[name] = json_value(share);
  return {{"count", decision.cause_count},
          {"owner", json_note(decision.cause->owner)},
          {"explained", json_value(decision.cause->explained)},
          {"mixture", mixture}};
}

Json loss(const decide::RowLoss& one) {
  return {{"count", one.count},
          {"folds_without_forecast", json_value(one.missing)},
          {"lost", parts(one.lost_s)},
          {"speedup_without_communication", json_value(one.without_communication)},
          {"speedup_without_idle", json_value(one.without_idle)}};
}

Json laws(const Decision& decision) {
  Json json = Json::array();
  if (decision.fit && decision.law) {
    const auto& law = *decision.law;
    json.push_back({{"name", law.name},
                    {"single_s", json_value(decision.fit->single)},
                    {"serial", json_value(decision.fit->serial)},
                    {"coherency", json_value(decision.fit->coherency)},
                    {"serial_interval", json_value(law.serial)},
                    {"coherency_interval", json_value(law.coherency)},
                    {"correlation", json_value(law.correlation)},
                    {"residual", json_value(decision.fit->residual)},
                    {"not_identifiable", json_note(law.not_identifiable)},
                    {"next_count", json_value(law.next_count)},
                    {"fastest", json_value(law.fastest)},
                    {"cost_optimal", json_value(law.cost_optimal)}});
  }
  if (decision.amdahl) {
    json.push_back({{"name", "Amdahl, plain least squares"},
                    {"serial", json_value(decision.amdahl->serial)},
                    {"ceiling", json_value(decision.amdahl->ceiling)}});
  }
  return json;
}

Json coefficients(const Decision& decision) {
  const auto& law = decision.coefficients;
  if (!law) return nullptr;
  return {{"serial", json_value(law->serial)},
          {"communication", json_value(law->communication)},
          {"single_s", json_value(law->single)},
          {"continuous_optimum", json_value(decision.continuous_optimum)}};
}

Json candidate(const model::CandidateLaw& law) {
  return {{"name", law.name},
          {"formula", law.formula},
          {"coefficients", law.fitted.coefficients},
          {"held_out_error", json_value(law.held_out)},
          {"worst_error", json_value(law.worst)},
          {"residual", json_value(law.residual)}};
}
}  // namespace

std::string decision_json(const DecideView& view) {
  const Decision& decision = view.decision;
  const Verdict judged = judge_decision(view);
  const Json json{
      {"schema_version", decision_schema_version},
      {"kind", "scaleworth decision"},
      {"tool_version", json_note(view.options.tool_version)},
      {"git_revision", json_note(view.options.git_revision)},
      {"input", json_note(view.options.input)},
      {"coefficients", coefficients(decision)},
      {"scaling", decide::scaling_name(decision.scaling)},
      {"times_of", times_of_name(decision.basis)},
      {"counts_of", counts_of_name(decision.axis)},
      {"currency", view.options.currency},  // of every amount, whatever the key says
      {"verdict",
       {{"answer", answer_name(judged.answer)},
        {"headline", judged.headline},
        {"lines", judged.lines}}},
      {"rubric", rubric(decision.rubric, decision.named)},
      {"deadline_forecast", deadline_forecast_json(decision.deadline_forecast)},
      {"cost_choice", decision.choice ? choice(*decision.choice) : Json(nullptr)},
      {"knees", knees_json(decision.knees)},
      {"cause", cause(decision)},
      {"diagnosis", diagnosis_json(decision.diagnosis)},
      {"ledgers", ledgers_json(decision)},
      {"no_cause", json_note(decision.no_cause)},
      {"rows", json_array(decision.rows, row)},
      {"marginal", json_array(decision.steps, step)},
      {"value_of_waiting", json_array(decision.waiting, waiting)},
      {"bill", decision.request.bill ? bill(*decision.request.bill) : Json(nullptr)},
      {"regimes", json_array(decision.regimes, regime)},
      {"spot", decision.spot ? spot(*decision.spot) : Json(nullptr)},
      {"grid", json_note(decision.request.metrics.power.grid)},
      {"sensitivities", json_array(decision.sensitivities, sensitivity)},
      {"spot_sensitivities", json_array(decision.spot_sensitivities, sensitivity)},
      {"losses", json_array(decision.losses, loss)},
      {"laws", laws(decision)},
      {"law_evidence", law_evidence_json(decision.evidence)},
      {"further_laws", further_laws_json(decision.further)},
      {"forecast", forecast_json(decision.law_forecast)},
      {"model_selection",
       decision.select_model ? json_array(decision.select_model->laws, candidate) : Json(nullptr)},
      {"remarks", decision.remarks}};
  return json_text(json, view.options.currency);
}
}  // namespace scaleworth::report
