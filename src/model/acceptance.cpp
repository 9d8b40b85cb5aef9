// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/comparison.h"

#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double family_error = 0.05;  // chance that a healthy machine fails
/// Chance of a gain this far below 1 where there is no difference.
double chance_of_loss(const ComparedFigure& figure) {
  if (figure.noise != NoiseBasis::repeats) return 1.0;
  const double log = std::log(figure.gain.value);
  if (!(figure.spread.variance > 0.0)) return log < 0.0 ? 0.0 : 1.0;
  return student_t_below(log / figure.error(), figure.spread.degrees);
}

/// Runs of each side with which a loss of the tolerance is seen with 80 %: z = 1.645 + 0.842.
std::optional<int> runs_needed(const ComparedFigure& figure, double tolerance) {
  if (figure.noise != NoiseBasis::repeats || !(figure.spread.variance > 0.0)) return std::nullopt;
  const double needed =
      2.0 * figure.spread.variance * std::pow(2.487 / -std::log1p(-tolerance), 2.0);
  return std::max(2, saturated<int>(std::ceil(needed)));
}

CheckStatus judge(const ComparedFigure& figure, double tolerance, bool holds_among_all) {
  if (figure.noise != NoiseBasis::repeats) return CheckStatus::cannot_tell;
  const double loss = 1.0 - figure.gain.value;
  if (holds_among_all && loss >= tolerance) return CheckStatus::fail;
  if (chance_of_loss(figure) < family_error && loss > 0.0) return CheckStatus::warn;
  return figure.gain.low() > 1.0 - tolerance ? CheckStatus::pass : CheckStatus::cannot_tell;
}
}  // namespace

CheckResult check(const Comparison& comparison, double tolerance, std::size_t wrong_results) {
  std::vector<ComparedFigure> figures = judged(comparison);
  std::ranges::stable_sort(figures, {}, chance_of_loss);
  // Holm: the k-th smallest chance is held against 5 % over the figures that are left.
  const auto repeated = std::ranges::count(figures, NoiseBasis::repeats, &ComparedFigure::noise);
  CheckResult result;
  result.wrong_results = wrong_results;
  bool holds = true;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const double left =
        std::max<double>(1.0, static_cast<double>(repeated) - static_cast<double>(i));
    holds = holds && chance_of_loss(figures[i]) < family_error / left;
    CheckedFigure& one = result.figures.emplace_back();
    one.figure = figures[i];
    one.status = judge(figures[i], tolerance, holds);
    if (one.status == CheckStatus::cannot_tell)
      one.runs_needed = runs_needed(one.figure, tolerance);
  }
  result.measured_once = figures.size() - static_cast<std::size_t>(repeated);
  const auto any = [&](CheckStatus status) {
    return std::ranges::any_of(result.figures, [&](const CheckedFigure& one) {
      return one.status == status && one.figure.noise == NoiseBasis::repeats;
    });
  };
  for (const CheckStatus status :
       {CheckStatus::pass, CheckStatus::warn, CheckStatus::cannot_tell, CheckStatus::fail}) {
    if (any(status)) result.status = status;
  }
  if (wrong_results > 0) result.status = CheckStatus::fail;
  return result;
}
}  // namespace scaleworth::model
