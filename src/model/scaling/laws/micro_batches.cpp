// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/laws/micro_batches.h"

#include "src/core/error.h"
#include "src/core/statistics/regression.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace scaleworth::model {

std::optional<MicroBatchFit> fit_micro_batches(const std::vector<MicroBatchPoint>& points) {
  std::set<double> numbers;
  std::vector<std::vector<double>> rows;
  std::vector<double> times;
  for (const MicroBatchPoint& at : points) {
    if (!(at.micro_batches > 0.0 && at.time > 0.0) || !std::isfinite(at.micro_batches) ||
        !std::isfinite(at.time)) {
      throw UserError("the law of micro-batches needs numbers and step times above zero");
    }
    numbers.insert(at.micro_batches);
    rows.push_back({at.micro_batches, 1.0});
    times.push_back(at.time);
  }
  if (numbers.size() < 2) return std::nullopt;
  RegressionOptions options;
  options.non_negative = true;
  const auto line = fit_relative(rows, times, options);
  if (!line) return std::nullopt;
  MicroBatchFit fit;
  fit.per_micro_batch = line->coefficients[0];
  fit.fixed = line->coefficients[1];
  if (fit.per_micro_batch.value > 0.0) {
    fit.lost_micro_batches = fit.fixed.value / fit.per_micro_batch.value;
  }
  double squares = 0.0;
  for (const double residual : line->relative_residuals) squares += residual * residual;
  fit.residual = std::sqrt(squares / static_cast<double>(points.size()));
  fit.least_measured = *numbers.begin();
  return fit;
}

double micro_batch_time(const MicroBatchFit& fit, double micro_batches) {
  return fit.per_micro_batch.value * micro_batches + fit.fixed.value;
}

}  // namespace scaleworth::model
