// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/causes.h"

namespace scaleworth::model {
namespace {
/// Shares of the losses above zero, the largest first.
void complete(Gap& gap) {
  std::erase_if(gap.losses, [](const CauseLoss& loss) { return !(loss.lost_s > 0.0); });
  double all = 0.0;
  for (const CauseLoss& loss : gap.losses) all += loss.lost_s;
  for (CauseLoss& loss : gap.losses) loss.share = loss.lost_s / all;
  std::ranges::stable_sort(gap.losses, std::ranges::greater{}, &CauseLoss::lost_s);
}

/// The spread of the two causes that a fit separates, as shares of the whole gap.
void add_spread(Gap& gap, double ratio, const ComputeSplit& split) {
  const double compute = gap.share(Cause::serial) + gap.share(Cause::slowdown);
  const auto range =
      compute > 0.0 ? level_share_profile(split.points, split.fits, ratio) : std::nullopt;
  if (!range) return;
  for (CauseLoss& loss : gap.losses) {
    if (loss.cause == Cause::serial) {
      loss.spread = Interval<double>{compute * range->low, compute * range->high};
    } else if (loss.cause == Cause::slowdown) {
      loss.spread = Interval<double>{compute * (1.0 - range->high), compute * (1.0 - range->low)};
    }
  }
}

double logarithm_of(double factor) {
  if (!(factor > 0.0) || !std::isfinite(factor)) {
    throw UserError("an efficiency factor is not positive; attribute the recording again");
  }
  return std::log(factor);
}

double useful_time(const Efficiency& efficiency) {
  double sum = 0.0;
  for (const auto& time : efficiency.useful) sum += static_cast<double>(time.count());
  return sum;
}

constexpr std::size_t fewest_fitted_rows = 4;
constexpr std::size_t most_fitted_rows = 64;

/// The last row, against which every reading is made.
struct End {
  double ratio;
  double speedup;
  double lost_s;
};

/// Of a law without an overhead term: whatever it leaves is counted as overhead.
LawReading amdahl_reading(const std::string& name, double single, double serial, const End& end) {
  LawReading reading;
  reading.fit = name;
  reading.serial = serial;
  const double speedup = amdahl_speedup(serial, end.ratio);
  reading.serial_folds = end.ratio - speedup;
  reading.overhead_folds = speedup - end.speedup;
  const double lost = single * serial * (1.0 - 1.0 / end.ratio);
  reading.serial_share = end.lost_s > 0.0 ? std::clamp(lost / end.lost_s, 0.0, 1.0) : 0.0;
  return reading;
}

LawReading reading_of(const ShapeFit& fit, const End& end) {
  const double single = fit.law.at(1.0);
  const double serial = single > 0.0 ? fit.law.coefficient(terms::level) / single : 0.0;
  LawReading reading = amdahl_reading(fit.name, single, serial, end);
  reading.residual = fit.law.residual;
  reading.holds = fit.holds;
  if (fit.law.terms.size() == 2) return reading;
  const double speedup = single / fit.law.at(end.ratio);
  reading.overhead_folds = end.ratio - reading.serial_folds - speedup;
  reading.unexplained_folds = speedup - end.speedup;
  reading.serial_share = level_share(fit, end.ratio).value_or(0.0);
  return reading;
}

LawReading plain_reading(const std::vector<TimePoint>& points,
                         const ShapeFits& fits,
                         const End& end) {
  const double single = points.front().time;
  std::vector<SpeedupPoint> rows;
  for (const TimePoint& point : points) rows.push_back({point.count, single / point.time});
  const double serial = plain_amdahl_serial(rows).value_or(0.0);
  LawReading reading = amdahl_reading("Amdahl, plain", single, serial, end);
  double squares = 0.0;
  for (const TimePoint& point : points) {
    const double fitted = single / amdahl_speedup(serial, point.count);
    squares += std::pow(fitted / point.time - 1.0, 2);
  }
  reading.residual = std::sqrt(squares / static_cast<double>(points.size()));
  reading.holds = fits.holds(squares, 2);
  return reading;
}

Gap gap_of(const ShapeFit& fit, const LawSpread& spread, double ratio) {
  Gap gap;
  gap.count = spread.count;
  const double flat = fit.lost(terms::level, ratio);
  const double overhead = fit.lost(terms::linear, ratio) + fit.lost(terms::logarithm, ratio);
  gap.lost_s = flat + overhead;
  if (!(gap.lost_s > 0.0)) return gap;
  gap.losses = {{Cause::level, flat, flat / gap.lost_s, spread.serial_share},
                {Cause::overhead, overhead, overhead / gap.lost_s}};
  if (spread.serial_share) {
    gap.losses[1].spread =
        Interval<double>{1.0 - spread.serial_share->high, 1.0 - spread.serial_share->low};
  }
  if (overhead > flat) std::swap(gap.losses[0], gap.losses[1]);
  return gap;
}

constexpr int halvings = 40;
constexpr double share_error = 0.1;           // each end is passed by so many tables at random
constexpr double normal_quantile = 1.281552;  // of 1 - share_error

/// The two losses, each 1 at a ratio, over the time, with the ideal term fitted first: what it
/// leaves of |X x - 1|^2 is |level a + falling_short b - target|^2 + a constant.
class Losses {
 public:
  Losses(const std::vector<TimePoint>& points, double ratio) {
    using namespace terms;
    const LawProblem problem = law_problem({ideal, level, falling_short}, points);
    const auto rest = [](const Vector3& column, double whole) {
      return Vector3{column[1] / whole, column[2] / whole};
    };
    level_ = rest(problem.columns[1], 1.0 - 1.0 / ratio);
    short_ = rest(problem.columns[2], falling_short.at(ratio));
    target_ = rest(problem.q, 1.0);
  }

  /// Of the best fit, of either sign.
  std::pair<double, double> best() const {
    const double falling = target_[1] / short_[1];
    return {(target_[0] - falling * short_[0]) / level_[0], falling};
  }

  /// By how much the sum of squares exceeds that of the best fit.
  double excess(double share) const {
    const Vector3 mixed{share * level_[0] + (1.0 - share) * short_[0], (1.0 - share) * short_[1]};
    const double size = dot(mixed, target_) / dot(mixed, mixed);
    const Vector3 left{size * mixed[0] - target_[0], size * mixed[1] - target_[1]};
    return dot(left, left);
  }

 private:
  Vector3 level_;  // its second entry is 0
  Vector3 short_;
  Vector3 target_;
};
}  // namespace

double Gap::share(Cause cause) const {
  const CauseLoss* found = find_in(losses, cause, &CauseLoss::cause);
  return found ? found->share : 0.0;
}

std::vector<Gap> part_gaps(const std::vector<DecisionRow>& rows,
                           const std::vector<RowLoss>& losses,
                           const std::optional<ComputeSplit>& split,
                           const std::optional<MessageTerms>& message) {
  std::vector<Gap> gaps;
  auto row = rows.begin();
  for (const RowLoss& loss : losses) {
    while (row->count != loss.count) ++row;
    Gap gap;
    gap.count = loss.count;
    for (const auto& lost : loss.lost_s) gap.lost_s += lost.value_or(0.0);
    for (const auto& [cause, part] : part_causes) {
      gap.losses.push_back({cause, loss.lost_s[index_of(part)].value_or(0.0)});
    }
    complete(gap);
    // Draws at every count of a long table would cost more than they are worth.
    divide_slowdown(gap, row->count_ratio, split, &loss == &losses.back());
    if (message) gap.latency_share = latency_share(*message, loss.count);
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

Gap ring_gap(const DecisionRow& row,
             const DecisionRow& baseline,
             const RingCost& ring,
             Cause rest) {
  Gap gap;
  gap.count = row.count;
  const double time = row.time.value.value();
  const double ideal = time * row.efficiency.value;
  gap.lost_s = std::max(0.0, time - ideal);
  const Seconds before =
      ring_time(ring, baseline.count).total() * (ideal / baseline.time.value.value());
  const double lost = (ring_time(ring, row.count).total() - before).value();
  const double communication = std::clamp(lost, 0.0, gap.lost_s);
  gap.losses = {{Cause::communication, communication}, {rest, gap.lost_s - communication}};
  complete(gap);
  if (row.count > 1) gap.latency_share = latency_share(ring.each, row.count);
  return gap;
}

void divide_slowdown(Gap& gap,
                     double ratio,
                     const std::optional<ComputeSplit>& split,
                     bool spread) {
  const auto slow = std::ranges::find(gap.losses, Cause::slowdown, &CauseLoss::cause);
  if (!split || slow == gap.losses.end()) return;
  const double lost = slow->lost_s;
  const double serial = level_share(split->fits.fits.back(), ratio).value_or(0.0);
  slow->lost_s = (1.0 - serial) * lost;
  gap.losses.push_back({Cause::serial, serial * lost});
  complete(gap);
  if (spread) add_spread(gap, ratio, *split);
}

Gap coefficient_gap(const Coefficients& law,
                    int count,
                    const std::optional<MessageTerms>& message) {
  Gap gap;
  gap.count = count;
  const double single = law.single.value();
  gap.losses = {{Cause::serial, single * law.serial * (1.0 - 1.0 / count)},
                {Cause::communication, single * law.communication * (count - 1.0)}};
  for (const CauseLoss& loss : gap.losses) gap.lost_s += loss.lost_s;
  complete(gap);
  if (message && count > 1) gap.latency_share = latency_share(*message, count);
  return gap;
}

Gap pop_gap(const Efficiency& at, int count, const Efficiency& baseline, double work_growth) {
  const auto relative = [&](double Efficiency::*factor) {
    return logarithm_of(at.*factor) - logarithm_of(baseline.*factor);
  };
  const double growth = useful_time(at) / (useful_time(baseline) * work_growth);
  Gap gap;
  gap.count = count;
  gap.losses = {
      {Cause::idle, -relative(&Efficiency::load_balance) - relative(&Efficiency::dependency)},
      {Cause::host, -relative(&Efficiency::host)},
      {Cause::communication, -relative(&Efficiency::transfer)},
      {Cause::slowdown, logarithm_of(growth)}};
  double product = 0.0;
  for (const CauseLoss& loss : gap.losses) product += loss.lost_s;
  complete(gap);
  gap.lost_s = std::chrono::duration<double>(at.runtime).count() * (1.0 - std::exp(-product));
  if (!(gap.lost_s > 0.0)) gap.losses.clear();
  for (CauseLoss& loss : gap.losses) loss.lost_s = loss.share * gap.lost_s;
  return gap;
}

std::optional<ScalingCause> gap_cause(const Gap& gap) {
  if (gap.losses.empty()) return std::nullopt;
  ScalingCause cause;
  for (const CauseLoss& loss : gap.losses) cause.mixture.emplace_back(loss.cause, loss.share);
  const CauseLoss& first = gap.losses.front();
  cause.explained = first.share;
  const double least = first.spread ? std::min(first.share, first.spread->low) : first.share;
  if (least >= explains_enough) cause.owner = first.cause;
  return cause;
}

std::optional<LawSpread> law_spread(const std::vector<DecisionRow>& rows) {
  std::vector<TimePoint> points = thinned(knee_rows(rows), most_fitted_rows);
  if (points.size() < fewest_fitted_rows) return std::nullopt;
  const double baseline = points.front().count;
  for (TimePoint& point : points) point.count /= baseline;
  const DecisionRow& last = rows.back();
  const End end{last.count_ratio,
                last.speedup.value,
                points.back().time - points.front().time / last.count_ratio};
  LawSpread spread;
  spread.count = last.count;
  spread.missing = end.ratio - end.speedup;
  using namespace terms;
  const ShapeFits fits = fit_shapes(points,
                                    {{"Amdahl", {ideal, level}},
                                     {"Amdahl and c (K-1)", {ideal, level, linear}},
                                     {"Amdahl and log K", {ideal, level, logarithm}},
                                     {"all terms", {ideal, level, logarithm, linear}}});
  spread.readings.push_back(plain_reading(points, fits, end));
  for (std::size_t i = 0; i + 1 < fits.fits.size(); ++i) {
    spread.readings.push_back(reading_of(fits.fits[i], end));
  }
  spread.serial_share = level_share(points, fits, end.ratio);
  for (const LawReading& reading : spread.readings) {
    if (!reading.holds) continue;
    const Interval<double> own{reading.serial_share, reading.serial_share};
    spread.by_fits = hull(spread.by_fits, own);
    if (spread.serial_share) spread.serial_share = hull(spread.serial_share, own);
  }
  const bool by_logarithm = fits.fits[2].law.residual < fits.fits[1].law.residual;
  spread.fit = fits.fits[by_logarithm ? 2 : 1];
  spread.gap = gap_of(spread.fit, spread, end.ratio);
  return spread;
}

std::optional<Interval<double>> level_share_profile(const std::vector<TimePoint>& points,
                                                    const ShapeFits& fits,
                                                    double ratio) {
  if (!fits.relative_sd || points.size() < 3 || !(ratio > 1.0)) return std::nullopt;
  const double t = fits.degrees > 0.0 ? student_t_two_sided(1.0 - 2.0 * share_error, fits.degrees)
                                      : normal_quantile;
  const double allowance = std::pow(t * *fits.relative_sd, 2);
  const Losses losses(points, ratio);
  const auto [level, falling_short] = losses.best();
  if (!(level + falling_short > 0.0)) return Interval<double>{0.0, 1.0};
  const double best = std::clamp(level / (level + falling_short), 0.0, 1.0);
  const auto allowed = [&](double share) { return losses.excess(share) <= allowance; };
  if (!allowed(best)) return Interval<double>{best, best};
  return Interval<double>{end_towards(best, 0.0, halvings, allowed),
                          end_towards(best, 1.0, halvings, allowed)};
}
}  // namespace scaleworth::model
