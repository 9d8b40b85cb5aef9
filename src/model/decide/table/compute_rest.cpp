// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/compute_rest.h"

#include "src/core/error.h"
#include "src/model/decide/table/work.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr auto compute = static_cast<std::size_t>(TimePart::compute);
constexpr auto communication = static_cast<std::size_t>(TimePart::communication);

bool lacks_compute_alone(const Observation& at) {
  return at.time_s && at.parts_s[communication] && !at.parts_s[compute];
}

}  // namespace

std::string leave_rest_to_compute(std::vector<Observation>& observations) {
  if (!std::all_of(observations.begin(), observations.end(), lacks_compute_alone)) return "";
  for (Observation& at : observations) {
    const double others = *sum_of(at.parts_s);
    if (others > (1.0 + parts_tolerance) * *at.time_s) {
      throw UserError(fmt::format("{}: the parts add up to {:g} s, more than the time of {:g} s",
                                  at.place,
                                  others,
                                  *at.time_s));
    }
    at.parts_s[compute] = std::max(0.0, *at.time_s - others);
  }
  return "no column says what compute took: it is what the other parts leave of the time, with all "
         "waiting that none of them holds";
}

}  // namespace scaleworth::decide
