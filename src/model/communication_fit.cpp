// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/statistics/sampling.h"
#include "src/model/collectives.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace scaleworth::model {
namespace {
constexpr std::size_t least_points = 3;  // of a line: one more than its coefficients
// With one left out a curve still has its ends and shape.
constexpr std::size_t least_for_held_out = 6;
// Three protocols of NCCL, and a change of algorithm; more would follow noise.
constexpr std::size_t most_segments = 4;
// 2,066 sizes take 0.1 s (docs/accuracy.md), time grows as their square.
constexpr std::size_t most_cuts = 3000;
constexpr double least_noise = 0.01;  // presumed: less would cut a smooth curve by rounded times
constexpr double quarter_octave = 0.1732867951399863;  // ln(2) / 4
constexpr double unreachable = std::numeric_limits<double>::max();

double log_size(const TimedSize& point) {
  return std::log(point.message.value());
}

double log_time(const TimedSize& point) {
  return std::log(point.time.value());
}

double noise_of(std::span<const TimedSize> points) {
  const auto logs = mapped(points, [](const TimedSize& point) { return log_time(point); });
  return std::max(least_noise, curve_noise(logs));
}

/// Sums of the normal equations of sum (1 - (alpha u + beta v))^2, u = 1 / t, v = n / t, over the
/// first points of a table. Extended precision: the sums of a few large sizes are small
/// differences.
struct Sums {
  long double uu = 0.0, uv = 0.0, vv = 0.0, u = 0.0, v = 0.0, count = 0.0;

  Sums with(const TimedSize& point) const {
    const long double a = 1.0L / point.time.value();
    const long double b = point.message.value() * a;
    return {uu + a * a, uv + a * b, vv + b * b, u + a, v + b, count + 1.0L};
  }
  /// The least sum over alpha, beta >= 0 of the points that `before` lacks.
  double least(const Sums& before) const {
    const Sums s{uu - before.uu,
                 uv - before.uv,
                 vv - before.vv,
                 u - before.u,
                 v - before.v,
                 count - before.count};
    const long double determinant = s.uu * s.vv - s.uv * s.uv;
    const long double alpha = s.u * s.vv - s.v * s.uv;
    const long double beta = s.v * s.uu - s.u * s.uv;
    const long double explained = determinant > 0.0L && alpha >= 0.0L && beta >= 0.0L
                                      ? (alpha * s.u + beta * s.v) / determinant
                                      : std::max(s.u * s.u / s.uu, s.v * s.v / s.vv);
    return static_cast<double>(std::max(0.0L, s.count - explained));
  }
};

/// First indices of one to four segments of `points` (ascending sizes, no duplicates), at least
/// three points each. Minimises, by dynamic programming over the boundaries with prefix sums,
///   sum over segments min over alpha, beta >= 0 of sum ((alpha + beta n - t) / (t sigma))^2 / 2
///   + 1.5 ln(points) per segment after the first
/// (half the Bayesian information criterion's price of two coefficients and a boundary); sigma is
/// the curve's noise, at least 1 %. {0} for fewer than six points. Time: the square of the number
/// of points, of longer tables of 3,000 evenly chosen boundaries.
std::vector<std::size_t> segment_starts(std::span<const TimedSize> points) {
  const std::size_t n = points.size();
  if (n < 2 * least_points) return {0};
  const double sigma = noise_of(points);
  // Half of ln(n) for each of three numbers: BIC.
  const double price = 1.5 * std::log(static_cast<double>(n));
  std::vector<Sums> sums(1);
  for (const TimedSize& point : points) sums.push_back(sums.back().with(point));
  std::vector<std::size_t> cuts{0};
  const std::size_t step = 1 + n / most_cuts;
  for (std::size_t at = least_points; at + least_points <= n; at += step) cuts.push_back(at);
  cuts.push_back(n);
  // cost[s][c]: least cost of the points before cut c in s + 1 segments; start: of the last one.
  std::vector cost(most_segments, std::vector(cuts.size(), unreachable));
  std::vector start(most_segments, std::vector<std::size_t>(cuts.size(), 0));
  for (std::size_t end = 1; end < cuts.size(); ++end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      if (cuts[begin] + least_points > cuts[end]) break;
      const double misfit = sums[cuts[end]].least(sums[cuts[begin]]) / (2.0 * sigma * sigma);
      for (std::size_t s = begin == 0 ? 0 : 1; s < (begin == 0 ? 1 : most_segments); ++s) {
        const double before = begin == 0 ? 0.0 : cost[s - 1][begin] + price;
        if (before + misfit >= cost[s][end]) continue;
        cost[s][end] = before + misfit;
        start[s][end] = begin;
      }
    }
  }
  const auto last =
      std::ranges::min_element(cost, {}, [](const auto& ends) { return ends.back(); });
  std::vector<std::size_t> starts;
  std::size_t end = cuts.size() - 1;
  for (auto s = static_cast<std::size_t>(last - cost.begin()) + 1; s-- > 0;) {
    end = start[s][end];
    starts.push_back(cuts[end]);
  }
  std::ranges::reverse(starts);
  return starts;
}

/// The medians of runs of points that lie within `width` of each other's log size; each point where
/// `width` is 0.
std::vector<CurveKnot> medians(std::span<const TimedSize> points, double width) {
  std::vector<CurveKnot> knots;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    std::vector<double> sizes;
    std::vector<double> times;
    do {
      sizes.push_back(log_size(points[end]));
      times.push_back(log_time(points[end]));
    } while (++end < points.size() && log_size(points[end]) < sizes.front() + width);
    knots.push_back({*median(sizes), *median(times)});
  }
  return knots;
}

/// The curve through at least two knots: the mean of the line alpha + beta n through the two
/// nearest and of a cubic in logarithms with the slopes of parabolas, limited so that it is
/// monotone between two knots (Fritsch & Carlson 1980). The first follows a start-up time into a
/// rate, the second other bends. Beyond the ends: the line.
double through(const std::vector<CurveKnot>& knots, double at) {
  const auto width = [&](std::size_t k) { return knots[k + 1].size - knots[k].size; };
  const auto rise = [&](std::size_t k) { return (knots[k + 1].time - knots[k].time) / width(k); };
  const auto slope = [&](std::size_t k) {
    if (k == 0 || k + 1 == knots.size()) return rise(k == 0 ? 0 : k - 1);
    const double before = rise(k - 1);
    const double after = rise(k);
    if (before * after <= 0.0) return 0.0;
    const double parabola = (width(k) * before + width(k - 1) * after) / (width(k - 1) + width(k));
    const double most = 3.0 * std::min(std::abs(before), std::abs(after));
    return std::clamp(parabola, -most, most);
  };
  std::size_t i = 0;
  while (i + 2 < knots.size() && at > knots[i + 1].size) ++i;
  const double share = (at - knots[i].size) / width(i);
  const double rest = 1.0 - share;
  const bool inside = share >= 0.0 && share <= 1.0;
  // alpha, beta >= 0 bends between the slopes 0 and 1 only.
  const bool affine = rise(i) >= 0.0 && rise(i) <= 1.0;
  const CurveKnot& end = share > 1.0 ? knots[i + 1] : knots[i];
  const double line =
      affine ? knots[i].time + std::log1p(std::expm1(knots[i + 1].time - knots[i].time) *
                                          std::expm1(share * width(i)) / std::expm1(width(i)))
             : end.time + (inside ? rise(i) : std::clamp(rise(i), 0.0, 1.0)) * (at - end.size);
  if (!inside) return line;
  const double cubic = knots[i].time * (1.0 + 2.0 * share) * rest * rest +
                       knots[i + 1].time * share * share * (3.0 - 2.0 * share) +
                       width(i) * share * rest * (slope(i) * rest - slope(i + 1) * share);
  return 0.5 * (line + cubic);
}

/// How far the logarithm of a time lies, beyond what is accepted, outside the range of what its
/// neighbours expect: the line through the two before it, the one through the two after it, and the
/// line that joins both sides. A step or a corner of the curve agrees with one of them, an outlier
/// with none. At an end of the table one side is missing, so only a gross misfit counts.
double beyond_neighbours(std::span<const CurveKnot> knots, std::size_t i, double noise) {
  constexpr double accepted = 0.25;        // 28 %: changes of protocol pass, see the neighbours
  constexpr double accepted_at_end = 0.6;  // 82 %: a curve may bend there by as much
  constexpr double sigmas = 3.0;           // in noisy tables: 3 of 1,000 sound rows go
  const bool first = i == 0;
  const bool last = i + 1 == knots.size();
  const auto [at, time] = knots[i];
  const auto expected = [&, at = at](std::size_t a, std::size_t b) {
    return through({knots[a], knots[b]}, at);
  };
  std::vector<double> times;
  if (!first && !last) times.push_back(expected(i - 1, i + 1));
  if (i > 1) times.push_back(expected(i - 2, i - 1));
  if (i + 2 < knots.size()) times.push_back(expected(i + 1, i + 2));
  if (i < 2 && !last) times.push_back(knots[first ? 1 : 0].time);
  // A rate continued: time in proportion to size.
  if (first || last)
    times.push_back(knots[first ? 1 : i - 1].time + at - knots[first ? 1 : i - 1].size);
  const auto [low, high] = std::ranges::minmax(times);
  return std::max(low - time, time - high) -
         std::max(first || last ? accepted_at_end : accepted, sigmas * noise);
}

/// Takes the rows that no neighbour supports out of `points`, at most a fifth: in each pass those
/// that are stranger than the two rows on either side, whose expectations they spoil. Their sizes.
std::vector<Bytes> take_outliers(std::vector<TimedSize>& points) {
  const double noise = noise_of(points);
  const std::size_t most = points.size() / 5;  // more strange rows are the curve
  std::vector<Bytes> outliers;
  for (bool found = true; found && points.size() > least_points;) {
    const std::vector<CurveKnot> knots = medians(points, 0.0);
    std::vector<double> strange(2);
    for (std::size_t i = 0; i < knots.size(); ++i)
      strange.push_back(beyond_neighbours(knots, i, noise));
    strange.resize(strange.size() + 2);
    std::vector<TimedSize> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto window = std::span(strange).subspan(i, 5);  // two rows on either side
      const bool outlier = window[2] > 0.0 && window[2] == std::ranges::max(window);
      if (outlier && outliers.size() < most) {
        outliers.push_back(points[i].message);
      } else {
        kept.push_back(points[i]);
      }
    }
    found = kept.size() < points.size();
    points = std::move(kept);
  }
  std::ranges::sort(outliers);
  return outliers;
}

Seconds time_at(const CommunicationSegment& segment, Bytes message) {
  return segment.alpha.value + segment.beta.value * message;
}

double log_line(const CommunicationSegment& segment, double at) {
  return std::log(time_at(segment, Bytes(std::exp(at))).value());
}

std::optional<CommunicationSegment> fit_line(std::span<const TimedSize> points) {
  constexpr double held = 0.9;  // of the sizes: one in ten may stand aside
  // Of a time; docs/accuracy.md has the errors of the curves that follow.
  constexpr double accepted = 0.1;
  std::vector<std::vector<double>> rows;
  std::vector<double> times;
  for (const TimedSize& point : points) {
    rows.push_back({1.0, point.message.value()});
    times.push_back(point.time.value());
  }
  const std::optional<RegressionFit> fit = fit_relative(rows, times);
  if (!fit) return std::nullopt;
  CommunicationSegment segment{points.front().message,
                               points.back().message,
                               as<Seconds>(fit->coefficients[0]),
                               as<SecondsPerByte>(fit->coefficients[1])};
  std::vector<double> misses;
  for (const CurveKnot& knot : medians(points, quarter_octave)) {
    const Seconds line = time_at(segment, Bytes(std::exp(knot.size)));
    misses.push_back(std::abs(line.value() / std::exp(knot.time) - 1.0));
  }
  segment.holds = *quantile(misses, held) <= accepted;
  return segment;
}

/// The line of the first (or the last) size: `segment` where it holds, else of the longest range of
/// `points` from there in which one does, of lengths that grow by a third; absent where not even
/// three sizes lie on one. A line that misses that size itself says nothing of it.
std::optional<CommunicationSegment> line_at_end(std::span<const TimedSize> points,
                                                const CommunicationSegment& segment,
                                                bool at_end) {
  // A start-up time scatters by per cents; a rate still rises by one from size to size, and a line
  // over a longer range would be too slow.
  const double accepted = at_end ? 0.005 : 0.03;
  const TimedSize& end = at_end ? points.back() : points.front();
  const auto meets = [&](const CommunicationSegment& line) {
    return line.holds && std::abs(time_at(line, end.message) / end.time - 1.0) <= accepted;
  };
  if (meets(segment)) return segment;
  std::optional<CommunicationSegment> longest;
  for (std::size_t count = least_points; count <= points.size(); count = (4 * count + 2) / 3) {
    const auto line = fit_line(at_end ? points.last(count) : points.first(count));
    if (!line || !line->holds || (longest && !meets(*line))) break;
    longest = line;
  }
  return longest;
}

/// How much the line counts beside the curve through `knots`: the weight in [0, 1] of which their
/// sum, in logarithms, comes nearest to knots that are left out (stacking: Breiman, Machine
/// Learning 24, 1996). Knots that only scatter give 1, a bend that the line misses 0.
double share_of_line(const std::vector<CurveKnot>& knots, const CommunicationSegment& segment) {
  double product = 0.0;
  double squares = 0.0;
  for (std::size_t i = 1; i + 1 < knots.size(); ++i) {
    const auto count = static_cast<double>(knots.size());
    const double line = log_line(segment, knots[i].size) - knots[i].time;
    std::vector<CurveKnot> others = knots;
    others.erase(others.begin() + i);
    const double curve = through(others, knots[i].size) - knots[i].time;
    const double apart = curve - line * count / (count - 2.0);  // as if left out of the line
    product += curve * apart;
    squares += apart * apart;
  }
  // Fewer knots show scatter and bend alike.
  return squares > 0.0 && knots.size() >= 9 ? std::clamp(product / squares, 0.0, 1.0) : 0.0;
}

/// The curve between the ends of each segment: between its line and the curve through its points,
/// as `share_of_line`. Medians within a quarter of an octave smooth a dense table; they leave one
/// whose sizes grow by 20 % and more as it is. Across a boundary only single points are seen, for
/// their slope: a change of protocol stays sharp in a dense table.
std::vector<CurveKnot> curve_of(std::span<const TimedSize> points,
                                const std::vector<std::size_t>& starts,
                                const std::vector<CommunicationSegment>& segments) {
  // Straight between two knots; presumed: more only costs time.
  constexpr int pieces = 4;
  const std::vector<CurveKnot> all = medians(points, 0.0);
  std::vector<CurveKnot> curve;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t first = starts[i];
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : points.size();
    std::vector<CurveKnot> knots = medians(points.subspan(first, end - first), quarter_octave);
    std::vector<double> sizes{all[first].size, all[end - 1].size};
    for (const CurveKnot& knot : knots) sizes.push_back(knot.size);
    std::ranges::sort(sizes);
    if (knots.size() == 1) knots = {all.begin() + first, all.begin() + end};
    const double line = share_of_line(knots, segments[i]);
    if (first > 0 && knots.front().size == sizes.front()) {
      knots.insert(knots.begin(), all[first - 1]);
    }
    if (end < all.size() && knots.back().size == sizes.back()) knots.push_back(all[end]);
    const auto add = [&](double at) {
      curve.push_back({at, std::lerp(through(knots, at), log_line(segments[i], at), line)});
    };
    for (std::size_t j = 0; j + 1 < sizes.size(); ++j) {
      const double width = sizes[j + 1] - sizes[j];
      for (int k = 0; k < pieces && width > 0.0; ++k) add(sizes[j] + k * width / pieces);
    }
    add(sizes.back());
  }
  return curve;
}

std::optional<CommunicationFit> fit_form(std::span<const TimedSize> points,
                                         const std::string& form) {
  std::vector<std::size_t> starts{0};
  if (form == form_curve) starts = segment_starts(points);
  CommunicationFit fit;
  fit.form = form;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : points.size();
    const auto segment = fit_line(points.subspan(starts[i], end - starts[i]));
    if (!segment) return std::nullopt;
    fit.segments.push_back(*segment);
  }
  if (form == form_curve) fit.curve = curve_of(points, starts, fit.segments);
  return fit;
}

std::vector<double> relative_errors(const CommunicationFit& fit,
                                    std::span<const TimedSize> points) {
  return mapped(points, [&](const TimedSize& point) {
    return std::abs(evaluate(fit, point.message) / point.time - 1.0);
  });
}

/// Of each size but the ends, from a fit to the sizes of the other parity.
std::vector<double> held_out_errors(std::span<const TimedSize> points, const std::string& form) {
  std::vector<double> errors;
  for (std::size_t parity = 0; parity < 2 && points.size() >= least_for_held_out; ++parity) {
    std::vector<TimedSize> fitted;
    std::vector<TimedSize> left_out;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i % 2 == parity)
        fitted.push_back(points[i]);
      else if (i > 0 && i + 1 < points.size())
        left_out.push_back(points[i]);
    }
    const std::optional<CommunicationFit> fit = fit_form(fitted, form);
    if (!fit) return {};
    const std::vector<double> more = relative_errors(*fit, left_out);
    errors.insert(errors.end(), more.begin(), more.end());
  }
  return errors;
}

/// Relative distance from the line's time to the one end (`high` or low) of both coefficients.
double coefficient_spread(const CommunicationSegment& line, Bytes message, bool high) {
  const Seconds at_end = high ? line.alpha.high() + line.beta.high() * message
                              : line.alpha.low() + line.beta.low() * message;
  return std::abs(at_end / time_at(line, message) - 1.0);
}

/// c0 n^power + c1 n at `message`, of at least three points.
std::optional<double> continued(std::span<const TimedSize> points, double power, Bytes message) {
  if (points.size() < least_points) return std::nullopt;
  const auto bent = [&](Bytes size) { return std::pow(size.value() / message.value(), power); };
  std::vector<double> matrix;
  for (const TimedSize& one : points) matrix.push_back(bent(one.message) / one.time.value());
  for (const TimedSize& one : points)
    matrix.push_back(one.message.value() / message.value() / one.time.value());
  const auto terms = solve_nonnegative(matrix, std::vector<double>(points.size(), 1.0));
  return terms[0] + terms[1];
}

/// Beyond the largest size, as `predict` says; absent for few sizes there.
std::optional<Estimate<Seconds>> beyond_sizes(const CommunicationFit& fit, Bytes message) {
  std::vector<double> logs;
  for (const double factor : {4.0, 16.0}) {
    const auto first = std::ranges::find_if(fit.end, [&](const TimedSize& one) {
      return one.message * factor >= fit.end.back().message;
    });
    for (const double power : {0.0, 0.5})
      if (const auto time = continued(std::span(first, fit.end.end()), power, message))
        logs.push_back(std::log(*time));
  }
  if (logs.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(logs);
  const double middle =
      std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  const double misfit = fit.held_out_error.value_or(0.0);
  return Estimate<Seconds>{Seconds(std::exp(middle)),
                           Interval<Seconds>{Seconds(std::exp(std::min(low, middle - misfit))),
                                             Seconds(std::exp(std::max(high, middle + misfit)))},
                           fit.end.size()};
}
}  // namespace

std::optional<CommunicationFit> fit_communication(std::span<const TimedSize> points,
                                                  const std::string& form) {
  std::vector<TimedSize> kept(points.begin(), points.end());
  std::vector<Bytes> outliers = take_outliers(kept);
  if (kept.size() < least_points) return std::nullopt;
  std::optional<CommunicationFit> fit = fit_form(kept, form);
  if (!fit) return std::nullopt;
  fit->outliers = std::move(outliers);
  fit->start = line_at_end(kept, fit->segments.front(), false);
  fit->asymptote = line_at_end(kept, fit->segments.back(), true);
  for (const TimedSize& one : kept)
    if (one.message * 16.0 >= kept.back().message) fit->end.push_back(one);
  fit->median_residual = median(relative_errors(*fit, kept)).value_or(0.0);
  const std::vector<double> errors = held_out_errors(kept, form);
  if (errors.empty()) return fit;
  fit->held_out_error =
      std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  fit->worst_held_out_error = std::ranges::max(errors);
  return fit;
}

std::vector<CommunicationFit> fit_communication(std::span<const TimedSize> points) {
  std::vector<CommunicationFit> fits;
  for (const char* form : {form_alpha_beta, form_curve}) {
    if (auto fit = fit_communication(points, form)) fits.push_back(std::move(*fit));
  }
  return fits;
}

std::size_t choose_fit(std::span<const CommunicationFit> fits) {
  constexpr double worthwhile = 0.001;          // less than any table repeats to: the simpler form
  constexpr double worthwhile_of_worst = 0.05;  // a step that a line jumps over
  if (fits.size() < 2 || !fits[0].segments[0].holds) return fits.empty() ? 0 : fits.size() - 1;
  const auto& [line, curve] = std::tie(fits[0], fits[1]);
  if (!line.held_out_error || !curve.held_out_error) return 0;
  return *curve.held_out_error < *line.held_out_error - worthwhile ||
                 *curve.worst_held_out_error < *line.worst_held_out_error - worthwhile_of_worst
             ? 1
             : 0;
}

Seconds evaluate(const CommunicationFit& fit, Bytes message) {
  if (!fit.curve.empty()) return Seconds(std::exp(through(fit.curve, std::log(message.value()))));
  if (fit.segments.empty()) throw std::invalid_argument("evaluate: a fit without segments");
  return time_at(fit.segments.front(), message);
}

std::optional<Estimate<BytesPerSecond>> CommunicationFit::largest_rate() const {
  if (!asymptote || asymptote->beta.value.value() <= 0.0) return std::nullopt;
  Estimate<SecondsPerByte> beta = asymptote->beta;
  if (beta.interval && beta.interval->low.value() <= 0.0) beta.interval.reset();
  return transform_decreasing(beta, [](SecondsPerByte of) { return 1.0 / of; });
}

std::optional<Bytes> half_rate_message(const CommunicationFit& fit) {
  constexpr int halvings = 50;  // of a logarithm: exact long before
  const auto rate = fit.largest_rate();
  if (!rate || fit.segments.empty()) return std::nullopt;
  const auto below = [&](Bytes message) {
    return message / evaluate(fit, message) < 0.5 * rate->value;
  };
  Bytes low = fit.segments.front().smallest;
  Bytes high = fit.segments.back().largest;
  if (!below(low) || below(high)) return std::nullopt;
  for (int i = 0; i < halvings && high > low * 1.0001; ++i) {
    const Bytes middle(std::sqrt(low.value() * high.value()));
    (below(middle) ? low : high) = middle;
  }
  return high;
}

Estimate<Seconds> predict(const CommunicationFit& fit, Bytes message) {
  constexpr double interval_per_mean_error = 2.45;  // see the header: 1.96 / 0.8
  if (!fit.end.empty() && message > fit.end.back().message)
    if (const auto beyond = beyond_sizes(fit, message)) return *beyond;
  const Seconds time = evaluate(fit, message);
  const CommunicationSegment& line = fit.segments.front();
  Estimate<Seconds> predicted{time, std::nullopt, line.alpha.samples};
  const bool coefficients = fit.curve.empty() && (line.alpha.interval || line.beta.interval);
  if (!coefficients && !fit.held_out_error) return predicted;
  const double misfit = interval_per_mean_error * fit.held_out_error.value_or(0.0);
  const auto spread = [&](bool high) {
    return std::hypot(coefficients ? coefficient_spread(line, message, high) : 0.0, misfit);
  };
  Seconds low = time;
  Seconds high = time;
  for (std::size_t i = 0; i + 1 < fit.segments.size(); ++i) {
    const auto& [before, after] = std::tie(fit.segments[i], fit.segments[i + 1]);
    if (message <= before.largest || message >= after.smallest) continue;
    // Which of the two protocols runs here was not measured.
    low = std::min({time, time_at(before, message), time_at(after, message)});
    high = std::max({time, time_at(before, message), time_at(after, message)});
  }
  predicted.interval =
      Interval<Seconds>{low * std::max(0.0, 1.0 - spread(false)), high * (1.0 + spread(true))};
  return predicted;
}
}  // namespace scaleworth::model
