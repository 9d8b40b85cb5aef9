// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/laws/ring.h"

#include "src/core/error.h"
#include "src/model/scaling/forecast/family.h"

#include <cmath>

namespace scaleworth::model {

RingTime ring_time(const RingCost& cost, int ranks) {
  if (ranks < 1) throw UserError("a ring has one rank or more");
  const bool usable = cost.latency.value() >= 0.0 && cost.seconds_per_byte >= 0.0 &&
                      cost.message.value() >= 0.0 && cost.messages >= 0.0;
  if (!usable) throw UserError("latency, bandwidth and size of a message must be 0 or more");
  const double hops = 2.0 * (ranks - 1.0) * cost.messages;
  return {cost.latency * hops,
          Seconds(hops / ranks * cost.message.value() * cost.seconds_per_byte)};
}

std::optional<InformedFit> fit_informed(const std::vector<LawPoint>& points, const RingCost& cost) {
  if (different_counts(points) < 2) return std::nullopt;
  for (const LawPoint& at : points) {
    if (!(at.time > 0.0) || !std::isfinite(at.time)) {
      throw UserError("a scaling law needs step times above zero; measure again");
    }
  }
  const FittedLaw law = informed_family([cost](double k) {
                          return ring_time(cost, static_cast<int>(k)).total().value();
                        }).fit(points);
  InformedFit fit;
  fit.single = law.coefficients[0] + law.coefficients[1];
  if (!(fit.single > 0.0)) return std::nullopt;
  fit.serial = law.coefficients[1] / fit.single;
  double squares = 0.0;
  for (const LawPoint& at : points) squares += std::pow(law.time(at.ranks) / at.time - 1.0, 2);
  fit.residual = std::sqrt(squares / static_cast<double>(points.size()));
  return fit;
}

double informed_time(const InformedFit& fit, const RingCost& cost, int ranks) {
  return fit.single * relative_time(fit.serial, 0.0, ranks) +
         ring_time(cost, ranks).total().value();
}

}  // namespace scaleworth::model
