// SPDX-License-Identifier: Apache-2.0
#include "report/json/parts.h"

namespace scaleworth::report {
namespace {

Json way(const std::string& algorithm, const std::string& protocol) {
  return {{"algorithm", json_note(algorithm)}, {"protocol", json_note(protocol)}};
}

Json chosen(const model::ChosenPoint& value) {
  return {{"message_bytes", json_value(value.point.message)},
          {"time_s", json_value(value.point.time)},
          {"algbw_bytes_per_s", json_value(value.point.algorithm_bandwidth)},
          {"busbw_bytes_per_s", json_value(value.point.bus_bandwidth)},
          {"wire_bytes_per_s", json_value(value.wire_bandwidth)},
          {"ran", way(value.algorithm, value.protocol)},
          {"library_prediction_s", json_value(value.library_prediction)},
          {"fastest_line_s", json_value(value.fastest_line)}};
}

Json line(const model::AlgorithmLine& value) {
  Json json = way(value.algorithm, value.protocol);
  const bool fitted = !value.fit.segments.empty();
  json["alpha_s"] = fitted ? json_value(value.fit.segments.front().alpha) : Json(nullptr);
  json["beta_s_per_byte"] = fitted ? json_value(value.fit.segments.front().beta) : Json(nullptr);
  json["held_out_error"] = json_value(value.fit.held_out_error);
  json["library_error"] = json_value(value.library_error);
  json["points"] = json_array(value.points, [](const model::CollectivePoint& point) {
    return Json{{"message_bytes", json_value(point.message)}, {"time_s", json_value(point.time)}};
  });
  return json;
}

Json regime(const model::AlgorithmRegime& value) {
  Json json = way(value.algorithm, value.protocol);
  json["smallest_bytes"] = json_value(value.smallest);
  json["largest_bytes"] = json_value(value.largest);
  return json;
}

}  // namespace

Json json_algorithms(const model::AlgorithmResult& result) {
  return {{"topology", result.topology},
          {"collective", result.collective},
          {"mode", result.mode},
          {"ranks", result.ranks},
          {"in_place", result.in_place},
          {"registered", result.registered},
          {"shared_gpu", result.shared_gpu},
          {"held_out_error", json_value(result.held_out_error)},
          {"library_error", json_value(result.library_error)},
          {"regimes", json_array(result.regimes, regime)},
          {"lines", json_array(result.lines, line)},
          {"chosen", json_array(result.chosen, chosen)}};
}

}  // namespace scaleworth::report
