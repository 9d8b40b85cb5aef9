// SPDX-License-Identifier: Apache-2.0
/// The law's word on a deadline as JSON.
#pragma once

#include "report/json/parts.h"
#include "src/model/decide/choice/deadline_forecast.h"

#include <optional>

namespace scaleworth::report {

/// Null without a deadline.
Json deadline_forecast_json(const std::optional<decide::DeadlineForecast>& forecast);

}  // namespace scaleworth::report
