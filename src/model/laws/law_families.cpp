// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/model_selection.h"

namespace scaleworth::model {
namespace {
constexpr double steepest_power = 2.0;

LawFamily of_terms(std::string name,
                   std::string formula,
                   const std::vector<LawTerm>& terms,
                   TimeAt known = {}) {
  const auto fit = [terms, known = std::move(known)](std::span<const TimePoint> points) {
    const LinearLaw law = fit_linear(terms, points, known);
    return FittedLaw{law.coefficients, [law](double k) { return law.at(k); }};
  };
  return {std::move(name), std::move(formula), terms.size(), fit, 1.0, terms};
}

/// ln(K T) = ln a + b ln K.
FittedLaw fit_power(std::span<const TimePoint> points) {
  std::vector<double> counts;
  std::vector<double> losses;
  for (const TimePoint& at : points) {
    counts.push_back(std::log(at.count));
    losses.push_back(std::log(at.count * at.time));
  }
  const PlainLine line = plain_line(counts, losses);
  const double power = std::clamp(line.slope, 0.0, steepest_power);
  const double factor = std::exp(line.mean_y - power * line.mean_x);
  return {{factor, power}, [=](double k) { return factor * std::pow(k, power - 1.0); }};
}
}  // namespace

std::vector<LawFamily> law_families() {
  using namespace terms;
  return {of_terms(constant_efficiency_family, "a/K", {ideal}),
          of_terms("constant", "a", {level}),
          of_terms(amdahl_family, "a/K + b", {ideal, level}),
          of_terms(logarithmic_family, "(a + b log2 K)/K", {ideal, falling_short}),
          {"power loss", "a K^b / K", 2, fit_power},
          of_terms("square-root loss", "(a + b sqrt K)/K", {ideal, root}),
          of_terms("constant and logarithm", "a + b log2 K", {level, logarithm}),
          of_terms("Amdahl and logarithm", "a/K + b + c log2 K", {ideal, level, logarithm}),
          of_terms("contention-coherency", "a/K + b + c (K-1)", {ideal, level, linear}),
          of_terms(
              "all four terms", "a/K + b + c log2 K + d (K-1)", {ideal, level, logarithm, linear})};
}

LawFamily micro_batch_family(bool fixed_batch) {
  using namespace terms;
  return fixed_batch ? of_terms("micro-batches", "a m + b with m = M/K", {ideal, level})
                     : of_terms("micro-batches", "(a m + b)/K, m fixed", {ideal});
}

LawFamily informed_family(TimeAt communication) {
  return of_terms("Amdahl and measured communication",
                  "a/K + b + communication(K)",
                  {terms::ideal, terms::level},
                  std::move(communication));
}
}  // namespace scaleworth::model
