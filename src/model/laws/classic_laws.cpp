// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/classic_laws.h"

#include "src/core/error.h"
#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/law_evidence.h"
#include "src/model/laws/model_selection.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace scaleworth::model {
std::optional<double> plain_amdahl_serial(const std::vector<MeasuredSpeedup>& rows) {
  double products = 0.0;
  double squares = 0.0;
  for (const MeasuredSpeedup& row : rows) {
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

std::optional<double> amdahl_ceiling(double serial) {
  if (!(serial > 0.0)) return std::nullopt;
  return 1.0 / serial;
}

namespace {
constexpr std::size_t least_counts = 3;
constexpr int bisections = 60;
constexpr double confidence = 0.95;

/// For a given s the best g and the squares that it leaves.
struct Profile {
  double rate = 0.0;
  double squares = 0.0;
};

Profile profile_at(const std::vector<LawPoint>& points, double serial) {
  double products = 0.0;
  double columns = 0.0;
  for (const LawPoint& at : points) {
    const double column = at.ranks * at.time * (1.0 - serial + serial / at.ranks);
    products += column;
    columns += column * column;
  }
  Profile profile{products / columns, static_cast<double>(points.size())};
  profile.squares -= products * products / columns;
  profile.squares = std::max(0.0, profile.squares);
  return profile;
}

/// The squares have one minimum in s: golden-section search.
double best_serial(const std::vector<LawPoint>& points) {
  const double ratio = 0.5 * (std::sqrt(5.0) - 1.0);
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < bisections; ++i) {
    const double first = high - ratio * (high - low);
    const double second = low + ratio * (high - low);
    if (profile_at(points, first).squares <= profile_at(points, second).squares) {
      high = second;
    } else {
      low = first;
    }
  }
  return 0.5 * (low + high);
}

double end_towards(const std::vector<LawPoint>& points,
                   double inside,
                   double outside,
                   double limit) {
  if (profile_at(points, outside).squares <= limit) return outside;
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (inside + outside);
    (profile_at(points, middle).squares <= limit ? inside : outside) = middle;
  }
  return inside;
}
}  // namespace

double gustafson_speedup(double serial, double count) {
  return count - serial * (count - 1.0);
}

double amdahl_serial_of(double gustafson_serial, double count) {
  return gustafson_serial / (gustafson_serial + count * (1.0 - gustafson_serial));
}

std::optional<GustafsonFit> fit_gustafson(const std::vector<LawPoint>& points) {
  for (const LawPoint& at : points) check_time(at.time);
  if (different_counts(points) < least_counts) return std::nullopt;
  const double serial = best_serial(points);
  const Profile best = profile_at(points, serial);
  const auto degrees = static_cast<double>(points.size() - 2);
  const double t = student_t_two_sided(confidence, degrees);
  const double limit = best.squares * (1.0 + t * t / degrees);
  GustafsonFit fit;
  fit.single = 1.0 / best.rate;
  fit.serial = {serial,
                Interval<double>{end_towards(points, serial, 0.0, limit),
                                 end_towards(points, serial, 1.0, limit)},
                points.size()};
  fit.residual = std::sqrt(best.squares / static_cast<double>(points.size()));
  fit.largest_count = largest_count(points);
  fit.amdahl_serial = amdahl_serial_of(serial, fit.largest_count);
  return fit;
}

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
  const auto line = fit_relative(rows, times, {.non_negative = true});
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

RingTime ring_time(const RingCost& cost, int ranks) {
  if (ranks < 1) throw UserError("a ring has one rank or more");
  const bool usable = cost.latency.value() >= 0.0 && cost.seconds_per_byte >= 0.0 &&
                      cost.message.value() >= 0.0 && cost.messages >= 0.0;
  if (!usable) throw UserError("latency, bandwidth and size of a message must be 0 or more");
  const double hops = 2.0 * (ranks - 1.0) * cost.messages;
  return {cost.latency * hops,
          Seconds(hops / ranks * cost.message.value() * cost.seconds_per_byte)};
}

TimeAt ring_times(const RingCost& cost) {
  return [cost](double k) { return ring_time(cost, static_cast<int>(k)).total().value(); };
}

std::optional<InformedFit> fit_informed(const std::vector<LawPoint>& points, const RingCost& cost) {
  if (different_counts(points) < 2) return std::nullopt;
  for (const LawPoint& at : points) check_time(at.time);
  const FittedLaw law = informed_family(ring_times(cost)).fit(points);
  InformedFit fit;
  fit.single = law.coefficients[0] + law.coefficients[1];
  if (!(fit.single > 0.0)) return std::nullopt;
  fit.serial = law.coefficients[1] / fit.single;
  double squares = 0.0;
  for (const LawPoint& at : points) squares += std::pow(law.time(at.ranks) / at.time - 1.0, 2);
  fit.residual = std::sqrt(squares / static_cast<double>(points.size()));
  return fit;
}

namespace {
void check(const WorkDepth& of) {
  if (!(of.depth.value() > 0.0) || !(of.work >= of.depth)) {
    throw UserError("work and depth must be above 0, and the depth is a part of the work");
  }
}
}  // namespace

Interval<Seconds> work_depth_bounds(const WorkDepth& of, int ranks) {
  check(of);
  if (ranks < 1) throw UserError("work is shared among one rank or more");
  const Seconds share = of.work / static_cast<double>(ranks);
  return {std::max(share, of.depth), share + of.depth};
}

double parallelism(const WorkDepth& of) {
  check(of);
  return of.work.value() / of.depth.value();
}
}  // namespace scaleworth::model

namespace scaleworth::decide {
namespace {
/// All but the replicas, which are what a count adds.
Layout replica_of(const DecisionRow& row) {
  Layout layout = row.facts.layout;
  layout.data.reset();
  return layout;
}

std::optional<model::MicroBatchFit> micro_batch_fit(const std::vector<DecisionRow>& rows) {
  std::vector<model::MicroBatchPoint> points;
  const Layout layout = replica_of(rows.front());
  for (const DecisionRow& row : rows) {
    if (!row.facts.microbatches || !(replica_of(row) == layout)) return std::nullopt;
    points.push_back({*row.facts.microbatches, row.time.value.value()});
  }
  return model::fit_micro_batches(points);
}

std::vector<RingRow> ring_rows(const std::vector<DecisionRow>& rows, const model::RingCost& cost) {
  std::vector<RingRow> result;
  for (const DecisionRow& row : rows) {
    const model::RingTime time = model::ring_time(cost, row.count);
    result.push_back({row.count, time, time.total() / row.time.value});
  }
  return result;
}

std::vector<BoundRow> bound_rows(const std::vector<DecisionRow>& rows, const model::WorkDepth& of) {
  std::vector<BoundRow> result;
  for (const DecisionRow& row : rows) {
    const Interval<Seconds> bounds = model::work_depth_bounds(of, row.count);
    const Seconds measured = row.same_work.value;
    result.push_back({row.count, measured, bounds, measured / bounds.high - 1.0});
  }
  return result;
}
}  // namespace

FurtherLaws further_laws(const std::vector<DecisionRow>& rows,
                         Scaling scaling,
                         const LawInputs& inputs) {
  FurtherLaws laws;
  if (scaling == Scaling::weak) laws.gustafson = model::fit_gustafson(points_of_laws(rows));
  laws.micro_batches = micro_batch_fit(rows);
  if (inputs.ring) {
    laws.ring = ring_rows(rows, *inputs.ring);
    if (scaling == Scaling::strong) {
      laws.informed = model::fit_informed(points_of_laws(rows), *inputs.ring);
    }
  }
  if (inputs.work_depth) laws.bounds = bound_rows(rows, *inputs.work_depth);
  return laws;
}

std::vector<model::LawFamily> informed_families(Scaling scaling, const LawInputs& inputs) {
  if (!inputs.ring || scaling != Scaling::strong) return {};
  return {model::informed_family(model::ring_times(*inputs.ring))};
}
}  // namespace scaleworth::decide
