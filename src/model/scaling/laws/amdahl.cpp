// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/laws/amdahl.h"

namespace scaleworth::model {

std::optional<double> plain_amdahl_serial(const std::vector<MeasuredSpeedup>& rows) {
  double products = 0.0;
  double squares = 0.0;
  for (const MeasuredSpeedup& row : rows) {
    const double column = 1.0 - 1.0 / row.count;
    products += (1.0 / row.speedup - 1.0 / row.count) * column;
    squares += column * column;
  }
  if (!(squares > 0.0)) return std::nullopt;
  return products / squares;
}

double amdahl_speedup(double serial, double count) {
  return 1.0 / (serial + (1.0 - serial) / count);
}

std::optional<double> amdahl_ceiling(double serial) {
  if (!(serial > 0.0)) return std::nullopt;
  return 1.0 / serial;
}

}  // namespace scaleworth::model
