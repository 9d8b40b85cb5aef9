// SPDX-License-Identifier: Apache-2.0
/// A measured setting as a point of the record.
#pragma once

#include "probes/machine.h"
#include "src/core/run/record.h"

#include <map>
#include <string>

namespace scaleworth::probes {

/// Samples wall_s and cpu_s, amounts flops, bytes and bytes_real (those that are not zero).
Point point_of(std::map<std::string, Value> parameters, const Measured& measured);

}  // namespace scaleworth::probes
