// SPDX-License-Identifier: Apache-2.0
/// Values of a chart as JSON: base units, null for what is not finite.
#pragma once

#include "src/core/units.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace scaleworth::report {
using Json = nlohmann::ordered_json;

inline Json json_value(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
template <int S, int B, int F, int D>
Json json_value(Quantity<S, B, F, D> quantity) {
  return json_value(quantity.value());
}
}  // namespace scaleworth::report
