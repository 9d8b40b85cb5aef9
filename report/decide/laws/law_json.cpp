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

}  // namespace

Json law_evidence_json(const decide::LawEvidence& evidence) {
  return {{"rows", json_array(evidence.rows, law_row)},
          {"least_time_count", count_estimate(evidence.least_time)},
          {"least_cost_count", count_estimate(evidence.least_cost)},
          {"next_measurement", next_measurement(evidence.next)},
          {"throughput_fit", throughput(evidence.throughput)}};
}

}  // namespace scaleworth::report
