// SPDX-License-Identifier: Apache-2.0
#include "report/sections/sections.h"

#include <utility>

namespace scaleworth::report {

Column parameter(std::string id, std::string header, Unit unit) {
  Column column{std::move(id), std::move(header), Role::parameter, unit};
  column.own_scale = unit == Unit::bytes;
  return column;
}

Column measure(std::string id, std::string header, Unit unit) {
  return Column{std::move(id), std::move(header), Role::measure, unit};
}

Cell count_cell(std::int64_t value) {
  return number(static_cast<double>(value));
}

}  // namespace scaleworth::report
