// SPDX-License-Identifier: Apache-2.0
/// The analysis as JSON, part by part: base units with the unit in the key, null for absent.
#pragma once

#include "src/core/units.h"
#include "src/model/analysis.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace scaleworth::report {
using Json = nlohmann::ordered_json;

/// A number, or null when it is not finite.
inline Json json_value(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
template <int S, int B, int F, int D>
Json json_value(Quantity<S, B, F, D> quantity) {
  return json_value(quantity.value());
}
inline Json json_value(int value) {
  return value;
}

/// A sentence, or null when there is none.
inline Json json_note(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// {"value", "low", "high", "samples"}; low and high null without interval.
template <class T>
Json json_value(const Estimate<T>& estimate) {
  Json json{{"value", json_value(estimate.value)}, {"low", nullptr}, {"high", nullptr}};
  if (estimate.interval) {
    json["low"] = json_value(estimate.interval->low);
    json["high"] = json_value(estimate.interval->high);
  }
  json["samples"] = estimate.samples;
  return json;
}

template <class T>
Json json_value(const std::optional<T>& value) {
  return value ? json_value(*value) : Json(nullptr);
}

/// An array with `convert` applied to each element.
template <class T, class Convert>
Json json_array(const std::vector<T>& values, Convert convert) {
  Json array = Json::array();
  for (const T& value : values) {
    array.push_back(convert(value));
  }
  return array;
}

Json json_roofline(const model::RooflineResult& roofline);
Json json_placed_gemm(const model::PlacedGemm& gemm);
Json json_gpu(const model::GpuResult& gpu);
Json json_gpus_together(const model::GpusTogether& together);
Json json_collective(const model::CollectiveResult& collective);
Json json_algorithms(const model::AlgorithmResult& result);
Json json_scaling(const model::ScalingResult& scaling);
}  // namespace scaleworth::report
