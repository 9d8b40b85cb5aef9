// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/point.h"

#include "src/core/run/fields.h"

#include <utility>

namespace scaleworth::probes {

Point point_of(std::map<std::string, Value> parameters, const Measured& measured) {
  Point point;
  point.parameters = std::move(parameters);
  if (measured.flops.value() > 0.0) point.amounts[fields::flops] = measured.flops.value();
  if (measured.bytes.value() > 0.0) {
    point.amounts[fields::bytes] = measured.bytes.value();
    point.amounts[fields::bytes_real] = measured.bytes_real.value();
  }
  point.samples = {{fields::wall_s, measured.samples.wall_s},
                   {fields::cpu_s, measured.samples.cpu_s}};
  point.stop_reason = measured.samples.stop_reason;
  point.warnings = measured.samples.warnings;
  return point;
}

}  // namespace scaleworth::probes
