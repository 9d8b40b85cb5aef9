// SPDX-License-Identifier: Apache-2.0
#include "report/decide/laws/law_json.h"

namespace scaleworth::report {
namespace {

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

Json outlook_point(const decide::OutlookPoint& point) {
  return {{"count", point.count},
          {"time_s", json_value(point.time)},
          {"speedup", json_value(point.speedup)},
          {"efficiency", json_value(point.efficiency)},
          {"far", point.far}};
}

}  // namespace

Json further_laws_json(const decide::FurtherLaws& laws) {
  return {{"gustafson", gustafson(laws.gustafson)},
          {"micro_batches", micro_batches(laws.micro_batches)},
          {"informed", informed(laws.informed)},
          {"ring", json_array(laws.ring, ring_row)},
          {"work_depth", json_array(laws.bounds, bound_row)}};
}

Json outlook_json(const std::optional<decide::Outlook>& outlook) {
  if (!outlook) return nullptr;
  return {{"law", outlook->law},
          {"formula", outlook->formula},
          {"basis", outlook->basis},
          {"held_out_error", json_value(outlook->held_out)},
          {"points", json_array(outlook->points, outlook_point)}};
}

Json law_evidence_json(const decide::LawEvidence& evidence) {
  return {{"rows", json_array(evidence.rows, law_row)},
          {"least_time_count", count_estimate(evidence.least_time)},
          {"least_cost_count", count_estimate(evidence.least_cost)},
          {"next_measurement", next_measurement(evidence.next)},
          {"throughput_fit", throughput(evidence.throughput)}};
}

}  // namespace scaleworth::report
