// SPDX-License-Identifier: Apache-2.0
#include "report/json/parts.h"

namespace scaleworth::report {
namespace {

Json share(const model::StepShare& value) {
  return {
      {"part", value.part}, {"time_s", json_value(value.time)}, {"share", json_value(value.share)}};
}

Json rank_share(const model::RankShare& value) {
  return {{"rank", value.rank}, {"parts", json_array(value.parts, share)}};
}

Json row(const model::ScalingRow& value) {
  return {{"ranks", value.ranks},
          {"global_batch_sequences", value.global_batch},
          {"tokens_per_step", json_value(value.tokens)},
          {"step_time_s", json_value(value.step)},
          {"speedup", json_value(value.speedup)},
          {"efficiency", json_value(value.efficiency)},
          {"karp_flatt", json_value(value.karp_flatt)},
          {"tokens_per_second", json_value(value.tokens_per_second)},
          {"final_loss", json_value(value.final_loss)},
          {"mfu_measured", json_value(value.mfu_measured)},
          {"mfu_basis", json_note(value.mfu_basis)},
          {"mfu_peak", json_value(value.mfu_peak)},
          {"cost_per_million_tokens_usd", json_value(value.cost_per_million_tokens)},
          {"cost_per_run_usd", json_value(value.cost_per_run)},
          {"cost_plateau", value.cost_plateau},
          {"shares", json_array(value.shares, share)},
          {"per_rank", json_array(value.per_rank, rank_share)}};
}

Json curve_point(const model::CurvePoint& value) {
  return {{"ranks", value.ranks},
          {"step_time_s", json_value(value.step)},
          {"efficiency", json_value(value.efficiency)},
          {"cost_per_million_tokens_usd", json_value(value.cost_per_million_tokens)},
          {"extrapolated", value.extrapolated}};
}

Json law(const model::ScalingLaw& value) {
  Json json{{"name", value.name},
            {"prediction", value.prediction},
            {"basis", value.basis},
            {"serial", json_value(value.serial)},
            {"coherency", json_value(value.coherency)},
            {"not_identifiable", json_note(value.not_identifiable)},
            {"correlation", json_value(value.correlation)},
            {"next_count", json_value(value.next_count)},
            {"single_rank_step_time_s", json_value(value.single)},
            {"residual", json_value(value.residual)},
            {"reproduces_measured", value.reproduces_measured},
            {"fastest_ranks", json_value(value.fastest)},
            {"cost_optimal_ranks", json_value(value.cost_optimal)},
            {"cost_optimal_ranks_low", nullptr},
            {"cost_optimal_ranks_high", nullptr},
            {"curve", json_array(value.curve, curve_point)}};
  if (value.cost_optimal_range) {
    json["cost_optimal_ranks_low"] = value.cost_optimal_range->low;
    json["cost_optimal_ranks_high"] = value.cost_optimal_range->high;
  }
  return json;
}

Json cost(const std::optional<model::CostChoice>& value) {
  if (!value) {
    return nullptr;
  }
  return {{"cheapest_ranks", value->cheapest},
          {"plateau_ranks", value->plateau},
          {"fastest_ranks", value->fastest},
          {"price_of_speed_usd_per_million_tokens", json_value(value->price_of_speed)},
          {"price_cancels", value->price_cancels}};
}

Json cause(const std::optional<model::ScalingCause>& value) {
  if (!value) {
    return nullptr;
  }
  Json mixture = Json::array();
  for (const auto& [part, part_share] : value->mixture) {
    mixture.push_back({{"part", part}, {"share_of_loss", json_value(part_share)}});
  }
  return {{"owner", value->owner.empty() ? Json(nullptr) : Json(value->owner)},
          {"explained", json_value(value->explained)},
          {"mixture", mixture},
          {"culprit_rank", json_value(value->culprit_rank)},
          {"culprit_cost_s", json_value(value->culprit_cost)}};
}

}  // namespace

Json json_scaling(const model::ScalingResult& scaling) {
  return {{"mode", scaling.mode},
          {"rows", json_array(scaling.rows, row)},
          {"laws", json_array(scaling.laws, law)},
          {"cost", cost(scaling.cost)},
          {"cause", cause(scaling.cause)},
          {"cause_note", json_note(scaling.cause_note)},
          {"quality_held", scaling.quality_held},
          {"quality_note", scaling.quality_note}};
}

}  // namespace scaleworth::report
