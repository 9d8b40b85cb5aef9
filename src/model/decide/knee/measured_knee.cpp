// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/knee/knee.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

/// Between the rows next to `best`, open above after the last.
Knee around(KneeKind kind, const std::vector<KneeRow>& rows, std::size_t best) {
  Knee knee{kind, rows[best].count, std::nullopt, 1.0, std::nullopt, false};
  knee.low = rows[best == 0 ? 0 : best - 1].count;
  if (best + 1 < rows.size()) knee.high = rows[best + 1].count;
  return knee;
}

std::size_t least(const std::vector<KneeRow>& rows,
                  const std::function<double(const KneeRow&)>& measure) {
  const auto best =
      std::min_element(rows.begin(), rows.end(), [&](const KneeRow& a, const KneeRow& b) {
        return measure(a) < measure(b);
      });
  return static_cast<std::size_t>(best - rows.begin());
}

Knee efficiency_knee(const std::vector<KneeRow>& rows, double threshold) {
  const KneeRow& base = rows.front();
  const auto efficiency = [&](const KneeRow& row) {
    return base.time * base.count / (row.time * row.count);
  };
  std::size_t reached = 0;
  while (reached + 1 < rows.size() && efficiency(rows[reached + 1]) >= threshold) ++reached;
  Knee knee{KneeKind::efficiency,
            rows[reached].count,
            std::nullopt,
            static_cast<double>(rows[reached].count),
            std::nullopt,
            false};
  if (reached + 1 == rows.size()) return knee;
  const double above = efficiency(rows[reached]);
  const double below = efficiency(rows[reached + 1]);
  knee.high = rows[reached + 1].count;
  knee.position = knee.low * std::pow(*knee.high / knee.low, (above - threshold) / (above - below));
  return knee;
}

Knee slope_knee(const std::vector<KneeRow>& rows, double threshold) {
  const KneeRow& base = rows.front();
  const auto worth = [&](const KneeRow& from, const KneeRow& to) {
    const double faster = base.time / to.time - base.time / from.time;
    return faster * base.count >= threshold * (to.count - from.count);
  };
  std::size_t reached = 0;
  while (reached + 1 < rows.size() && worth(rows[reached], rows[reached + 1])) ++reached;
  return around(KneeKind::slope, rows, reached);
}

}  // namespace

std::vector<Knee> measured_knees(const std::vector<KneeRow>& all, const KneeRequest& request) {
  std::vector<KneeRow> rows;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows), [&](const KneeRow& row) {
    return row.count >= request.baseline;
  });
  std::vector<Knee> knees;
  if (rows.size() < 2) return knees;
  if (request.threshold > 0.0 && request.threshold <= 1.0) {
    knees.push_back(efficiency_knee(rows, request.threshold));
    knees.push_back(slope_knee(rows, request.threshold));
  }
  knees.push_back(around(KneeKind::speed_per_rank, rows, least(rows, [](const KneeRow& row) {
                           return row.time * row.time * row.count;
                         })));
  const auto& prices = request.prices;
  if (prices && prices->per_rank.value() + prices->fixed.value() > 0.0) {
    knees.push_back(around(KneeKind::cost, rows, least(rows, [&](const KneeRow& row) {
                             return model::job_cost(*prices, row.count, Seconds(row.time)).value();
                           })));
  }
  knees.push_back(
      around(KneeKind::peak, rows, least(rows, [](const KneeRow& row) { return row.time; })));
  return knees;
}

std::string knee_name(KneeKind kind, const KneeRequest& request) {
  const char* origin = request.threshold_given ? "" : " (default threshold)";
  switch (kind) {
    case KneeKind::efficiency:
      return fmt::format("efficiency >= {:g}{}", request.threshold, origin);
    case KneeKind::slope:
      return fmt::format("one more rank adds {:g} of a rank{}", request.threshold, origin);
    case KneeKind::speed_per_rank:
      return "largest speed-up x efficiency";
    case KneeKind::cost:
      return "least cost";
    case KneeKind::peak:
      break;
  }
  return "fastest";
}

const Knee* find_knee(const std::vector<Knee>& knees, KneeKind kind) {
  const auto found =
      std::find_if(knees.begin(), knees.end(), [&](const Knee& knee) { return knee.kind == kind; });
  return found == knees.end() ? nullptr : &*found;
}

}  // namespace scaleworth::decide
