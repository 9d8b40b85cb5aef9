// SPDX-License-Identifier: Apache-2.0
/// The rate that a GPU cannot pass: what is measured above it is a broken clock or a wrong result.
#pragma once

#include "probes/gpu/description.h"
#include "probes/gpu/number_format.h"
#include "src/core/units.h"

#include <optional>
#include <string>

namespace scaleworth::probes {

/// Dense FLOP per clock and multiprocessor with fp32 (int8: int32) accumulation; fp64 through the
/// tensor cores where there are any. Absent where no source is known.
/// Source: NVIDIA's architecture papers of GA100, AD102, GH100 and GB100.
std::optional<double> flops_per_clock(NumberFormat format, int compute_capability);

/// Multiprocessors x FLOP per clock x maximum clock. Absent when one of them is unknown.
std::optional<FlopPerSecond> greatest_rate(const DeviceDescription& device, NumberFormat format);

/// Why `rate` cannot be: it exceeds greatest_rate by more than 0.5 %. Absent when it can, or when
/// nobody knows.
std::optional<std::string> impossible_rate(const DeviceDescription& device,
                                           NumberFormat format,
                                           FlopPerSecond rate);

}  // namespace scaleworth::probes
