// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/classic_laws.h"

#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/law_evidence.h"

namespace scaleworth::model {
std::optional<double> plain_amdahl_serial(const std::vector<SpeedupPoint>& rows) {
  double products = 0.0;
  double squares = 0.0;
  for (const SpeedupPoint& row : rows) {
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

namespace {
constexpr std::size_t least_counts = 3;  // one more than g and s
constexpr int bisections = 60;           // beyond the 53 bits of a double

/// The relative squares that the best g leaves for a given s.
double squares_at(const std::vector<TimePoint>& points, double serial) {
  double products = 0.0;
  double columns = 0.0;
  for (const TimePoint& at : points) {
    const double column = at.count * at.time * (1.0 - serial + serial / at.count);
    products += column;
    columns += column * column;
  }
  return std::max(0.0, static_cast<double>(points.size()) - products * products / columns);
}

LawFamily ring_family(const RingCost& cost) {
  return informed_family([cost](double k) { return ring_time(cost, k).total().value(); });
}

std::optional<MicroBatchFit> micro_batch_fit(const std::vector<DecisionRow>& rows) {
  std::vector<TimePoint> points;
  const Layout replica = layout_of_replica(rows.front().facts.layout);
  for (const DecisionRow& row : rows) {
    const RowFacts& facts = row.facts;
    if (!facts.microbatches || !(layout_of_replica(facts.layout) == replica)) return std::nullopt;
    points.push_back({*facts.microbatches, row.time.value.value()});
  }
  return fit_micro_batches(points);
}

/// That all rows have within 1 %, by `value`.
template <class Value>
bool constant_over(const std::vector<DecisionRow>& rows, Value value) {
  const double first = value(rows.front());
  // Equal but for rounding: tables print three digits.
  return std::ranges::all_of(
      rows, [&](const DecisionRow& row) { return std::abs(value(row) / first - 1.0) <= 0.01; });
}

std::vector<LawFamily> families_of_micro_batches(const std::vector<DecisionRow>& rows) {
  const Layout replica = layout_of_replica(rows.front().facts.layout);
  if (rows.size() < 2 || !std::ranges::all_of(rows, [&](const DecisionRow& row) {
        return row.facts.microbatches && layout_of_replica(row.facts.layout) == replica;
      })) {
    return {};
  }
  const auto number = [](const DecisionRow& row) { return *row.facts.microbatches; };
  const auto in_all = [&](const DecisionRow& row) { return number(row) * row.count; };
  const auto growth = [](const DecisionRow& row) { return row.work_growth(); };
  const auto per_count = [&](const DecisionRow& row) { return growth(row) / row.count; };
  if (constant_over(rows, in_all) && constant_over(rows, growth)) return {micro_batch_family(true)};
  if (constant_over(rows, number) && constant_over(rows, per_count))
    return {micro_batch_family(false)};
  return {};
}

constexpr int drawn_curves = 200;  // an end is then good to 5 % of an interval's width
/// Clocks and job starts: no run's time is known better than this.
constexpr double least_noise = 1e-4;

double lost_of(const LawTerm& term, double coefficient, double ratio) {
  return coefficient * (term.at(ratio) - term.at(1.0) / ratio);
}

std::optional<double> share_of(const std::vector<LawTerm>& terms,
                               const std::vector<double>& coefficients,
                               double ratio) {
  double level = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double lost = lost_of(terms[i], coefficients[i], ratio);
    all += lost;
    if (terms[i] == terms::level) level += lost;
  }
  return all > 0.0 ? std::optional<double>(level / all) : std::nullopt;
}

double squares_of(const ShapeFit& fit, std::size_t rows) {
  return fit.law.residual * fit.law.residual * static_cast<double>(rows);
}

/// Upper 5 % of F with `terms` (1 or 2; more are judged as 2) and `degrees` degrees of freedom,
/// times `terms`; of chi-squared for `degrees` = 0.
double critical(std::size_t terms, double degrees) {
  if (terms == 0) return 0.0;
  if (terms == 1) {
    const double t = degrees > 0.0 ? student_t_two_sided(confidence, degrees) : normal_reach;
    return t * t;
  }
  // P(F(2, v) > x) = (1 + 2x/v)^(-v/2).
  // 1 - `confidence`, here and below.
  if (degrees > 0.0) return degrees * (std::pow(0.05, -2.0 / degrees) - 1.0);
  return -2.0 * std::log(0.05);
}
}  // namespace

std::optional<GustafsonFit> fit_gustafson(const std::vector<TimePoint>& points) {
  for (const TimePoint& at : points) check_time(at.time);
  if (different_counts(points) < least_counts) return std::nullopt;
  // The rate g (K (1 - s) + s) has two terms; with g = 1 / T(1) it is fitted as a time is.
  const auto rates = mapped(points, [](TimePoint at) {
    at.time = 1.0 / at.time;
    return at;
  });
  const LinearLaw rate = fit_linear({terms::proportional, terms::level}, rates);
  const double single = rate.at(1.0);
  const double serial = rate.coefficient(terms::level) / single;
  const auto degrees = static_cast<double>(points.size() - 2);
  const double t = student_t_two_sided(confidence, degrees);
  const double limit = squares_at(points, serial) * (1.0 + t * t / degrees);
  const auto allowed = [&](double s) { return squares_at(points, s) <= limit; };
  GustafsonFit fit;
  fit.single = 1.0 / single;
  fit.serial = {serial,
                Interval<double>{end_towards(serial, 0.0, bisections, allowed),
                                 end_towards(serial, 1.0, bisections, allowed)},
                points.size()};
  fit.residual = rate.residual;
  fit.largest_count = largest_count(points);
  fit.amdahl_serial = serial / (serial + fit.largest_count * (1.0 - serial));
  return fit;
}

std::optional<MicroBatchFit> fit_micro_batches(const std::vector<TimePoint>& points) {
  std::vector<std::vector<double>> rows;
  std::vector<double> times;
  for (const auto& [number, time, sd, repeats] : points) {
    if (!(number > 0.0 && time > 0.0) || !std::isfinite(number) || !std::isfinite(time)) {
      throw UserError("the law of micro-batches needs numbers and step times above zero");
    }
    rows.push_back({number, 1.0});
    times.push_back(time);
  }
  if (different_counts(points) < 2) return std::nullopt;
  const auto line = fit_relative(rows, times);
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
  return fit;
}

RingTime ring_time(const RingCost& cost, double ranks) {
  if (ranks < 1) throw UserError("a ring has one rank or more");
  const auto& [latency, bandwidth, message] = cost.each;
  const double seconds_per_byte = 1.0 / bandwidth.value();
  const bool usable = latency.value() >= 0.0 && seconds_per_byte >= 0.0 && message.value() >= 0.0 &&
                      cost.messages >= 0.0;
  if (!usable) throw UserError("latency, bandwidth and size of a message must be 0 or more");
  const double hops = 2.0 * (ranks - 1.0) * cost.messages;
  return {latency * hops, Seconds(hops / ranks * message.value() * seconds_per_byte)};
}

Interval<Seconds> work_depth_bounds(const WorkDepth& of, int ranks) {
  if (!(of.depth.value() > 0.0) || !(of.work >= of.depth)) {
    throw UserError("work and depth must be above 0, and the depth is a part of the work");
  }
  if (ranks < 1) throw UserError("work is shared among one rank or more");
  const Seconds share = of.work / static_cast<double>(ranks);
  return {std::max(share, of.depth), share + of.depth};
}

FurtherLaws further_laws(const std::vector<DecisionRow>& rows,
                         Scaling scaling,
                         const LawInputs& inputs) {
  FurtherLaws laws;
  if (scaling == Scaling::weak) laws.gustafson = fit_gustafson(points_of_laws(rows));
  laws.micro_batches = micro_batch_fit(rows);
  laws.known_families = families_of_micro_batches(rows);
  for (const DecisionRow& row : rows) {
    if (!inputs.work_depth) break;
    const Interval<Seconds> bounds = work_depth_bounds(*inputs.work_depth, row.count);
    const Seconds measured = row.same_work.value;
    laws.bounds.push_back({row.count, measured, bounds, measured / bounds.high - 1.0});
  }
  if (inputs.ring && scaling == Scaling::strong) laws.families = {ring_family(*inputs.ring)};
  return laws;
}

double ShapeFit::lost(const LawTerm& term, double ratio) const {
  return lost_of(term, law.coefficient(term), ratio);
}

bool ShapeFits::holds(double squares, std::size_t fewer_terms) const {
  if (!relative_sd) return true;
  const double excess = squares - richest_squares;
  return excess <= *relative_sd * *relative_sd * critical(fewer_terms, degrees);
}

ShapeFits fit_shapes(const std::vector<TimePoint>& points,
                     const std::vector<ShapeFamily>& families) {
  ShapeFits result;
  for (const ShapeFamily& family : families) {
    result.fits.push_back({family.name, fit_linear(family.terms, points)});
  }
  result.richest_squares = squares_of(result.fits.back(), points.size());
  const std::size_t most = families.back().terms.size();
  const MeasuredNoise measured = measured_noise(points);
  const bool spare = points.size() > most;
  const double residual = result.fits.back().law.residual;
  // Repeats say nothing of what even the richest family misses.
  const bool misfit = spare && law_noise(points, residual, most).residual_degrees > 0.0;
  if (measured.known && !misfit) {
    result.degrees = measured.degrees;
    result.relative_sd = std::max(least_noise, std::sqrt(measured.variance));
  } else if (spare) {
    result.degrees = static_cast<double>(points.size() - most);
    result.relative_sd = std::max(least_noise, std::sqrt(result.richest_squares / result.degrees));
  }
  for (ShapeFit& fit : result.fits) {
    fit.holds = result.holds(squares_of(fit, points.size()), most - fit.law.terms.size());
  }
  return result;
}

std::optional<double> level_share(const ShapeFit& fit, double ratio) {
  return share_of(fit.law.terms, fit.law.coefficients, ratio);
}

std::optional<Interval<double>> level_share(const std::vector<TimePoint>& points,
                                            const ShapeFits& fits,
                                            double ratio) {
  if (!fits.relative_sd) return std::nullopt;
  std::optional<Interval<double>> range;
  const auto include = [&](double low, double high) {
    range = hull(range, Interval<double>{low, high});
  };
  std::vector<LinearLaw> laws;
  for (const ShapeFit& fit : fits.fits) {
    if (!fit.holds) continue;
    if (const auto own = level_share(fit, ratio)) include(*own, *own);
    // Without a second term of loss the share is the same in every draw.
    if (fit.law.terms.size() > 2) laws.push_back(fit.law);
  }
  LawNoise noise;
  noise.residual_degrees = fits.degrees;
  for (const TimePoint& point : points) {
    noise.relative_sd.push_back(fits.degrees > 0.0 ? *fits.relative_sd : *point.relative_sd);
  }
  add_draws(laws, points, noise, 1, drawn_curves);
  for (const LinearLaw& law : laws) {
    std::vector<double> shares;
    for (const std::vector<double>& drawn : law.draws) {
      if (const auto share = share_of(law.terms, drawn, ratio)) shares.push_back(*share);
    }
    const auto low = quantile(shares, 0.025);
    const auto high = quantile(shares, 0.975);
    if (low && high) include(*low, *high);
  }
  return range;
}
}  // namespace scaleworth::model
