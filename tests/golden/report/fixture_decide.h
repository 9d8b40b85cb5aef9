// SPDX-License-Identifier: Apache-2.0
/// The three published worked examples, decided, and a table of steps.
#pragma once

#include "report/decision/decision_report.h"

#include <string>

namespace scaleworth::report::fixture {

/// s = .03, c = .0015, 2.10 USD per node-hour, 9 USD per wall-clock hour, with a deadline and spot.
model::Decision curve_decision();
/// Compute, communication and idle time at 1 to 16 nodes under three price lists.
model::Decision breakdown_decision();
/// Times and quality at 1 to 32 workers.
model::Decision rubric_decision();
/// Steps of milliseconds at 1 to 8 ranks: each costs next to nothing, a million tokens do not.
model::Decision steps_decision();
/// Repeated runs at 1 to 16 ranks; prices per hour, a deadline of 0 hours is none.
model::Decision priced_decision(double price, double value_of_time, double deadline_hours);
/// How a decision on this input is rendered.
RenderOptions table_options(const std::string& input, Format format = Format::text);

}  // namespace scaleworth::report::fixture
