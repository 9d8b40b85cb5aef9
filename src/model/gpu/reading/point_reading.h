// SPDX-License-Identifier: Apache-2.0
/// Points of one GPU: selection, rates, clock, and parameters that a point may lack.
#pragma once

#include "src/core/estimate.h"
#include "src/core/run/record.h"
#include "src/core/units.h"

#include <optional>
#include <set>
#include <string>

namespace scaleworth::model {

/// The probe's points with that `gpu`; a record without points when the run has no such probe.
/// Throws UserError when a point names no GPU.
ProbeRecord points_of_gpu(const Run& run, const char* probe, int ordinal);

/// Ordinals that any roofline.gpu.* probe has points of.
std::set<int> measured_gpus(const Run& run);

/// Text, whole number or truth value of a point; absent when the point has none of that type.
std::optional<std::string> text_of(const Point& point, const std::string& name);
std::optional<std::int64_t> integer_of(const Point& point, const std::string& name);
bool flag_of(const Point& point, const std::string& name);

/// amount / median time with its interval; absent without usable times or without the amount.
std::optional<Estimate<FlopPerSecond>> flop_rate_of(const Point& point);
std::optional<Estimate<BytesPerSecond>> byte_rate_of(const Point& point);

/// Median of the clock counted during the samples.
std::optional<double> counted_clock(const Point& point);

}  // namespace scaleworth::model
