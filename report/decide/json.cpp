// SPDX-License-Identifier: Apache-2.0
#include "report/currency.h"
#include "report/decide/deadline_forecast.h"
#include "report/decide/decide_view.h"
#include "report/decide/knee_json.h"
#include "report/decide/laws/law_json.h"
#include "report/decide/ledger/ledger_json.h"
#include "report/decide/row_json.h"
#include "report/json/parts.h"

namespace scaleworth::report {
namespace {

using decide::Decision;

const char* answer_name(Answer answer) {
  return answer == Answer::yes ? "recommended" : answer == Answer::no ? "none" : "not attributed";
}

Json parts(const decide::PartTimes& times) {
  return {{"compute_s", json_value(times[0])},
          {"communication_s", json_value(times[1])},
          {"idle_s", json_value(times[2])},
          {"io_s", json_value(times[3])},
          {"host_s", json_value(times[4])}};
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

Json waiting(const decide::WaitingWorth& one) {
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

Json rubric(const decide::RubricResult& one) {
  const auto exclusion = [](const decide::Exclusion& e) {
    return Json{{"reason", e.reason}, {"mark", e.mark}, {"counts", e.counts}};
  };
  return {{"objective", decide::objective_name(one.objective)},
          {"chosen", json_value(one.chosen)},
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
          {"missing_folds", json_value(one.missing)},
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
      {"rubric", rubric(decision.rubric)},
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
      {"bill", decision.bill ? bill(*decision.bill) : Json(nullptr)},
      {"regimes", json_array(decision.regimes, regime)},
      {"spot", decision.spot ? spot(*decision.spot) : Json(nullptr)},
      {"grid", json_note(view.options.grid)},
      {"sensitivities", json_array(decision.sensitivities, sensitivity)},
      {"spot_sensitivities", json_array(decision.spot_sensitivities, sensitivity)},
      {"losses", json_array(decision.losses, loss)},
      {"laws", laws(decision)},
      {"law_evidence", law_evidence_json(decision.evidence)},
      {"further_laws", further_laws_json(decision.further)},
      {"outlook", outlook_json(decision.outlook)},
      {"bake_off",
       decision.bake_off ? json_array(decision.bake_off->laws, candidate) : Json(nullptr)},
      {"remarks", decision.remarks}};
  return json_text(json, view.options.currency);
}

}  // namespace scaleworth::report
