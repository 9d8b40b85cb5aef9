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

struct Exponents {
  double power = 0.0;
  int logarithm = 0;
};

constexpr Exponents pairs[]{
    {0, 1},       {0, 2},       {1.0 / 4, 0}, {1.0 / 3, 0},  {1.0 / 4, 1}, {1.0 / 3, 1},
    {1.0 / 4, 2}, {1.0 / 3, 2}, {1.0 / 2, 0}, {1.0 / 2, 1},  {1.0 / 2, 2}, {2.0 / 3, 0},
    {3.0 / 4, 0}, {2.0 / 3, 1}, {3.0 / 4, 1}, {4.0 / 5, 0},  {2.0 / 3, 2}, {3.0 / 4, 2},
    {1, 0},       {1, 1},       {1, 2},       {5.0 / 4, 0},  {5.0 / 4, 1}, {4.0 / 3, 0},
    {4.0 / 3, 1}, {3.0 / 2, 0}, {3.0 / 2, 1}, {3.0 / 2, 2},  {5.0 / 3, 0}, {7.0 / 4, 0},
    {2, 0},       {2, 1},       {2, 2},       {9.0 / 4, 0},  {7.0 / 3, 0}, {5.0 / 2, 0},
    {5.0 / 2, 1}, {5.0 / 2, 2}, {8.0 / 3, 0}, {11.0 / 4, 0}, {3, 0},       {3, 1}};
static_assert(std::size(pairs) == 42);
constexpr std::size_t least_points = 5;

double term_at(const Exponents& term, double k) {
  return std::pow(k, term.power) * std::pow(std::log2(k), term.logarithm);
}

/// Sums of the normal equations of y ~ a + b g, relative.
struct Sums {
  double ones = 0.0;   // 1 / y^2
  double terms = 0.0;  // g / y^2
  double squares = 0.0;
  double one_target = 0.0;  // 1 / y
  double term_target = 0.0;

  void add(double y, double g, double sign) {
    ones += sign / (y * y);
    terms += sign * g / (y * y);
    squares += sign * g * g / (y * y);
    one_target += sign / y;
    term_target += sign * g / y;
  }
};

struct Line {
  double constant = 0.0;
  double factor = 0.0;
};

Line solve(const Sums& sums) {
  const double determinant = sums.ones * sums.squares - sums.terms * sums.terms;
  if (determinant > 1e-12 * sums.ones * sums.squares) {
    const Line line{(sums.squares * sums.one_target - sums.terms * sums.term_target) / determinant,
                    (sums.ones * sums.term_target - sums.terms * sums.one_target) / determinant};
    if (line.constant >= 0.0 && line.factor >= 0.0) return line;
    if (line.constant < 0.0) return {0.0, sums.term_target / sums.squares};
  }
  return {sums.one_target / sums.ones, 0.0};
}

/// One way to write K T(K), with each point's own value.
struct Hypothesis {
  Sums sums;
  std::vector<double> y;
  std::vector<double> g;
};

Hypothesis hypothesis_of(std::span<const TimePoint> points, const Exponents* term) {
  Hypothesis made;
  for (const TimePoint& at : points) {
    made.y.push_back(at.count * at.time);
    made.g.push_back(term != nullptr ? term_at(*term, at.count) : 0.0);
    made.sums.add(made.y.back(), made.g.back(), 1.0);
  }
  return made;
}

/// Symmetric error summed over the points, each predicted from the others.
double left_out_error(const Hypothesis& made) {
  double error = 0.0;
  for (std::size_t i = 0; i < made.y.size(); ++i) {
    Sums others = made.sums;
    others.add(made.y[i], made.g[i], -1.0);
    const Line line = solve(others);
    const double predicted = line.constant + line.factor * made.g[i];
    error += 2.0 * std::abs(predicted - made.y[i]) / (predicted + made.y[i]);
  }
  return error;
}
}  // namespace

std::vector<LawFamily> law_families() {
  using namespace terms;
  return {
      of_terms(constant_efficiency_family, "a/K", {ideal}),
      of_terms("constant", "a", {level}),
      of_terms(amdahl_family, "a/K + b", {ideal, level}),
      of_terms(logarithmic_family, "(a + b log2 K)/K", {ideal, falling_short}),
      {"power loss", "a K^b / K", 2, fit_power},
      of_terms("square-root loss", "(a + b sqrt K)/K", {ideal, root}),
      of_terms("constant and logarithm", "a + b log2 K", {level, logarithm}),
      of_terms("Amdahl and logarithm", "a/K + b + c log2 K", {ideal, level, logarithm}),
      of_terms("contention-coherency", "a/K + b + c (K-1)", {ideal, level, linear}),
      of_terms("all four terms", "a/K + b + c log2 K + d (K-1)", {ideal, level, logarithm, linear}),
      {"normal form", "(a + b K^i log2(K)^j)/K", 4, fit_normal_form}};
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

FittedLaw fit_normal_form(std::span<const TimePoint> points) {
  Exponents chosen;
  Hypothesis best = hypothesis_of(points, nullptr);
  if (points.size() >= least_points) {
    double least = left_out_error(best);
    for (const Exponents& term : pairs) {
      Hypothesis made = hypothesis_of(points, &term);
      const double error = left_out_error(made);
      if (!(error < least)) continue;
      least = error;
      chosen = term;
      best = std::move(made);
    }
  }
  const Line line = solve(best.sums);
  return {
      {line.constant, line.factor, chosen.power, static_cast<double>(chosen.logarithm)},
      [line, chosen](double k) { return (line.constant + line.factor * term_at(chosen, k)) / k; }};
}
}  // namespace scaleworth::model
