// SPDX-License-Identifier: Apache-2.0
/// A setting measured on a GPU as a point of the record.
#pragma once

#include "probes/gpu/device.h"
#include "src/core/run/record.h"

#include <map>
#include <string>

namespace scaleworth::probes {

/// `parameters` and the GPU's ordinal; series wall_s, and clock_hz and telemetry_* where there are
/// any; amounts flops and bytes where not zero. A telemetry reading of which the driver refused a
/// part is left out, and counted in a warning.
Point device_point(int ordinal,
                   std::map<std::string, Value> parameters,
                   const DeviceMeasured& measured);

}  // namespace scaleworth::probes
