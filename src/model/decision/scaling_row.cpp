// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/scaling_row.h"

#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <limits>

namespace scaleworth::model {
namespace {
constexpr double same_work_tolerance = 0.01;

const TableRow& baseline_of(const ScalingTable& table, std::optional<int> count) {
  if (!count) return table.rows.front();
  if (const auto* found = find_in(table.rows, *count, &TableRow::count)) return *found;
  throw UserError("the baseline {} is not in the table; choose a count that is", *count);
}

std::optional<double> work_of(const TableRow& row, const MetricsRequest& request) {
  return row.work ? row.work : request.work;
}

/// Of the baseline's work, of which the row's own is `growth` times as much. Absent without meters
/// and rated power. A rank computes in the part of the table that says so, else in the share that
/// is the efficiency, which takes all that is lost for waiting.
std::optional<JobEnergy> row_energy(const DecisionRow& row,
                                    int ranks,
                                    double growth,
                                    const MetricsRequest& request) {
  std::optional<double> metered = row.energy_j;
  const auto work = work_of(row, request);
  if (!metered && row.energy_per_work_j && work) metered = *row.energy_per_work_j * *work;
  if (metered) return metered_energy(request.power, *metered / growth);
  const auto& compute = row.parts_s[index_of(PartGroup::compute)];
  const double busy = compute ? *compute / row.time.value.value() : row.efficiency.value;
  return rated_energy(request.power, ranks, row.same_work, std::min(busy, 1.0));
}

void add_economy(DecisionRow& row, double growth, const MetricsRequest& request) {
  const std::optional<double> work = work_of(row, request);
  if (work) row.throughput = *work / row.time.value.value();
  row.energy_per_work = row.energy_per_work_j;
  if (work && row.energy) row.energy_per_work = row.energy->joules.value * growth / *work;
  if (!request.prices) return;
  const Prices prices = prices_at(*request.prices, {row.count, row.same_work, row.price_factor});
  const auto bill = [&](Seconds time) { return job_cost(prices, row.count, time); };
  const Estimate<Seconds> wall = row.wall();
  row.cost = transform(wall, bill);
  if (!work) return;
  const Dollars own = bill(wall.value * growth);
  row.cost_per_work = own / *work;
  if (own.value() > 0.0) row.work_per_dollar = *work / own.value();
}

bool grows_with_count(double growth, double count_ratio) {
  return std::abs(growth / count_ratio - 1.0) <= same_work_tolerance;
}

/// Work of `row` over that of `baseline`: 1 where none is known.
double work_growth(const TableRow& row, const TableRow& baseline) {
  if (row.work && baseline.work) return *row.work / *baseline.work;
  if (row.growth && baseline.growth) return *row.growth / *baseline.growth;
  return 1.0;
}

bool may_fail(const MetricsRequest& request) {
  return request.failures && request.failures->failures_per_hour > 0.0;
}

std::optional<SpotPlan> plan_at(const Preemption& terms,
                                TimeBasis basis,
                                double count,
                                Seconds time) {
  return basis == TimeBasis::run ? plan_spot(terms, count, time) : plan_long_job(terms, count);
}

FailurePlan failure_plan(const DecisionRow& row, TimeBasis basis, const Preemption& terms) {
  if (const auto plan = plan_at(terms, basis, row.count, row.same_work.value))
    return {terms, *plan};
  throw UserError("failures stop a job of {}: raise --mtbf-hours, lower --restart-s", row.count);
}

DecisionRow row_of(const TableRow& from,
                   const TableRow& baseline,
                   const TableKind& kind,
                   const MetricsRequest& request) {
  const double growth = work_growth(from, baseline);
  DecisionRow row;
  static_cast<TableRow&>(row) = from;
  row.count_ratio = static_cast<double>(from.count) / baseline.count;
  row.same_work = transform(from.time, [&](Seconds time) { return time / growth; });
  if (row.facts.price && request.prices && request.prices->per_rank.value() > 0.0) {
    row.price_factor = *row.facts.price / request.prices->per_rank;
  }
  row.speedup = Estimate<double>{1.0, std::nullopt, from.time.samples};
  if (&from != &baseline) row.speedup = ratio(baseline.time, row.same_work);
  row.efficiency = transform(row.speedup, [&](double s) { return s / row.count_ratio; });
  if (row.count_ratio > 1.0) {
    if (kind.axis != Axis::load && std::abs(growth - 1.0) <= same_work_tolerance) {
      row.karp_flatt = transform_decreasing(
          row.speedup, [&](double s) { return karp_flatt(s, row.count_ratio); });
    }
    if (grows_with_count(growth, row.count_ratio)) {
      row.gustafson_serial = transform_decreasing(
          row.speedup, [&](double s) { return (row.count_ratio - s) / (row.count_ratio - 1.0); });
    }
  }
  row.energy = row_energy(row, kind.axis == Axis::load ? 1 : row.count, growth, request);
  if (may_fail(request)) {
    row.failures = failure_plan(row, kind.basis, *request.failures);
  }
  add_economy(row, growth, request);
  return row;
}

void check_failures(const Preemption& terms, Axis axis) {
  if (!(terms.failures_per_hour > 0.0)) return;
  if (axis == Axis::load) {
    throw UserError("the rows are loads of one machine, which --mtbf-hours does not apply to");
  }
  if (axis == Axis::nodes && terms.failures_per_hour == published_failures_per_hour) {
    throw UserError("--mtbf-hours published is of a GPU: give that of a node, 50700 over its GPUs");
  }
}

/// A time that falls by less than this, of whatever count, may be that of work that grows with it.
constexpr double barely = 1.15;

double count_ratio(const TableRow& row, const TableRow& first) {
  return static_cast<double>(row.count) / first.count;
}

/// Whether the speed-ups or efficiencies that the table states are those of its times with work
/// that grows from the first row to another as `growth` says.
template <class Growth>
bool states(const ScalingTable& table, Growth growth) {
  const TableRow& first = table.rows.front();
  const bool efficiency = all_have(table.rows, &TableRow::stated_efficiency);
  const auto stated = efficiency ? &TableRow::stated_efficiency : &TableRow::stated_speedup;
  if (!all_have(table.rows, stated)) return false;
  return std::ranges::all_of(table.rows, [&](const TableRow& row) {
    const double speedup = first.time.value / row.time.value * growth(row, first);
    const double expected = efficiency ? speedup / count_ratio(row, first) : speedup;
    return std::abs(*(row.*stated) / *(first.*stated) / expected - 1.0) <= published_rounding;
  });
}

/// The work of each row, in units of the smallest count's, as `growth` says; of rows by throughput
/// their times with it.
template <class Growth>
ScalingTable with_growth(ScalingTable table, Growth growth) {
  const TableRow first = table.rows.front();
  for (TableRow& row : table.rows) {
    const double grown = growth(row, first);
    if (table.basis == TimeBasis::work_unit) {
      row.time = transform(row.time, [=](Seconds time) { return time * grown; });
      row.work = *first.work * grown;
    } else {
      row.growth = grown;
    }
  }
  return table;
}

double batch_ratio(const TableRow& row, const TableRow& first) {
  return *row.facts.batch / *first.facts.batch;
}

/// The largest speed-up of the same work.
double most_speedup(const ScalingTable& table) {
  double most = 1.0;
  for (const TableRow& row : table.rows)
    most = std::max(most, table.rows.front().time.value / row.time.value);
  return most;
}

/// Where times barely fall, and rise less than the count does, both may be.
bool may_be_weak(const ScalingTable& table) {
  const TableRow& first = table.rows.front();
  const TableRow& last = table.rows.back();
  return most_speedup(table) < barely &&
         last.time.value / first.time.value < 0.95 * count_ratio(last, first);
}

[[noreturn]] void ask_scaling(const ScalingTable& table) {
  const TableRow& first = table.rows.front();
  const TableRow& last = table.rows.back();
  const double weak = first.time.value / last.time.value;
  const auto means = [&](const char* what, double efficiency) {
    return fmt::format("{}: efficiency {:.3g} % at {}", what, 100.0 * efficiency, last.count);
  };
  throw Question(
      fmt::format("times {} from {} to {}: the work may grow with the count (weak) or not (strong)",
                  weak < 1.0 ? "rise" : "barely fall",
                  first.count,
                  last.count),
      {{{"--scaling", "weak"}, means("each does as much as the first", weak)},
       {{"--scaling", "strong"}, means("all do the same work", weak / count_ratio(last, first))}});
}

/// Largest relative difference between counts at any step; absent where a count has no losses or
/// one is not finite.
std::optional<double> loss_spread(const MeasuredMode& mode) {
  std::size_t steps = mode.counts.front().loss.size();
  for (const MeasuredCount& count : mode.counts) steps = std::min(steps, count.loss.size());
  if (steps == 0) return std::nullopt;
  double worst = 0.0;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto losses = mapped(mode.counts, [&](const auto& count) { return count.loss[step]; });
    if (!std::ranges::all_of(losses, [](double loss) { return std::isfinite(loss); })) return {};
    const auto [low, high] = std::ranges::minmax(losses);
    const double size = std::max(std::abs(low), std::abs(high));
    if (size > 0.0) worst = std::max(worst, (high - low) / size);
  }
  return worst;
}
}  // namespace

WallTime wall_time(const MetricsRequest& request, TimeBasis basis) {
  if (!may_fail(request)) return {};
  return [terms = *request.failures, basis](double count, double time) {
    const auto plan = plan_at(terms, basis, count, Seconds(time));
    return plan ? time * (1.0 + plan->overhead) : std::numeric_limits<double>::infinity();
  };
}

Estimate<Seconds> DecisionRow::wall() const {
  const double factor = failures ? 1.0 + failures->plan.overhead : 1.0;
  return transform(same_work, [=](Seconds undisturbed) { return undisturbed * factor; });
}

Seconds DecisionRow::latest(double probability) const {
  const auto runs = static_cast<double>(same_work.samples);
  if (!(noise.degrees > 0.0) || runs < 1.0) return same_work.high();
  const double central = std::abs(2.0 * probability - 1.0);
  const double t = central > 0.0 ? student_t_two_sided(central, noise.degrees) : 0.0;
  const double sd = std::sqrt(noise.variance * (1.0 + median_variance(runs)));
  return same_work.value * (1.0 + std::copysign(t, probability - 0.5) * sd);
}

bool DecisionRow::in_time(const Deadline& deadline) const {
  const Seconds undisturbed = latest(deadline.probability);
  if (!failures) return undisturbed <= deadline.latest;
  return chance_in_time(failures->terms, count, undisturbed, deadline.latest) >=
         deadline.probability;
}

const DecisionRow* baseline_row(const std::vector<DecisionRow>& rows) {
  return find_in(rows, 1.0, &DecisionRow::count_ratio);
}

std::vector<DecisionRow> decision_rows(const ScalingTable& table, const MetricsRequest& request) {
  if (any_has(table.rows, &TableRow::work) && !all_have(table.rows, &TableRow::work)) {
    throw UserError("only some rows of the table have work; give it for all, or none and --work");
  }
  if (request.failures) check_failures(*request.failures, table.axis);
  const TableRow& baseline = baseline_of(table, request.baseline);
  const SampleVariance noise = repeat_noise(table.rows);
  std::vector<DecisionRow> rows;
  rows.reserve(table.rows.size());
  for (const TableRow& row : table.rows) {
    rows.push_back(row_of(row, baseline, table, request));
    rows.back().noise = noise;
  }
  return rows;
}

Scaling scaling_of(const ScalingTable& table) {
  const TableRow& first = table.rows.front();
  bool strong = true;
  bool weak = true;
  for (const TableRow& row : table.rows) {
    const double growth = work_growth(row, first);
    const double counts = static_cast<double>(row.count) / first.count;
    strong = strong && std::abs(growth - 1.0) <= same_work_tolerance;
    weak = weak && grows_with_count(growth, counts);
  }
  return strong ? Scaling::strong : weak ? Scaling::weak : Scaling::mixed;
}

bool states_same_work(const ScalingTable& table) {
  return states(table, [](const TableRow&, const TableRow&) { return 1.0; });
}

ScalingTable settle_scaling(ScalingTable table, std::optional<Scaling> declared) {
  if (table.axis == Axis::load || table.rows.size() < 2 || table.growing_models) return table;
  const bool by_rate = table.basis == TimeBasis::work_unit;
  // Time x count goes by that name, too.
  const bool work_contradicted =
      !by_rate && all_have(table.rows, &TableRow::work) && states_same_work(table) &&
      !states(table,
              [](const TableRow& row, const TableRow& first) { return *row.work / *first.work; });
  if (work_contradicted)
    for (TableRow& row : table.rows) row.work.reset();
  const bool work_known = !by_rate && any_has(table.rows, &TableRow::work);
  const bool batch_known =
      all_have(table.rows, [](const TableRow& row) { return row.facts.batch; });
  const bool batch_grows =
      batch_known && std::abs(batch_ratio(table.rows.back(), table.rows.front()) - 1.0) > 0.01;
  if (declared == Scaling::weak && !work_known && !batch_grows)
    return with_growth(std::move(table), count_ratio);
  if (!declared && !work_known && table.named_weak && !table.named_strong)
    return with_growth(std::move(table), count_ratio);
  // A batch of each step is work, and of rates the label; of a run's time only where that does not
  // fall as more of the same would.
  const bool batch_counts = batch_grows && (by_rate || most_speedup(table) < barely);
  if (!work_known && batch_counts && declared != Scaling::strong)
    table = with_growth(std::move(table), batch_ratio);
  const Scaling found = scaling_of(table);
  if (declared && found != *declared) {
    throw UserError("--scaling says {}, the table {}; correct one, or work or batch",
                    scaleworth::word_of(*declared),
                    scaleworth::word_of(found));
  }
  const bool settled = declared || by_rate || work_known || batch_counts || table.named_strong ||
                       table.read.fixed_work || table.axis == Axis::load;
  if (settled) return table;
  // Published ratios of weak times alone look like those of strong scaling.
  if (most_speedup(table) < barely && states(table, count_ratio) && !states_same_work(table))
    return with_growth(std::move(table), count_ratio);
  if (!may_be_weak(table)) return table;
  if (states_same_work(table)) return table;
  ask_scaling(table);
}

std::vector<CountTime> count_times(const std::vector<DecisionRow>& rows) {
  return mapped(rows, [](const DecisionRow& row) {
    return CountTime{row.count, row.wall(), row.price_factor};
  });
}

std::vector<CountTime> undisturbed_times(const std::vector<DecisionRow>& rows, double probability) {
  std::vector<CountTime> times;
  for (const DecisionRow& row : rows) {
    const Seconds latest = row.latest(probability);
    const Interval<Seconds> range{std::min(row.same_work.low(), latest), latest};
    times.push_back({row.count, {row.same_work.value, range, row.same_work.samples}});
  }
  return times;
}

std::optional<DollarsPerSecond> rank_price(const ScalingTable& table,
                                           std::optional<DollarsPerSecond> given) {
  if (table.axis == Axis::load && given && given->value() > 0.0) {
    throw UserError("rows are loads of one machine: price it by --price 0 --fixed USD_PER_HOUR");
  }
  const auto priced = [](const TableRow& row) { return row.facts.price.has_value(); };
  const auto first = std::ranges::find_if(table.rows, priced);
  const bool none = first == table.rows.end();
  if (given && (none || given->value() > 0.0)) return given;
  if (none) return std::nullopt;
  const auto without = std::ranges::find_if_not(table.rows, priced);
  if (without != table.rows.end()) {
    throw UserError("count {} has no price, count {} has; fill it in, or give --price",
                    without->count,
                    first->count);
  }
  DollarsPerSecond largest;
  for (const TableRow& row : table.rows) largest = std::max(largest, *row.facts.price);
  return largest;
}

std::optional<int> find_cliff(const std::vector<DecisionRow>& rows) {
  double best = 0.0;  // of the counts so far, by the lower end of the interval
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DecisionRow& row = rows[i];
    const double low = row.speedup.low();
    if (i > 0 && best == rows[i - 1].speedup.low()) {
      const double r = static_cast<double>(row.count) / rows[i - 1].count;
      if (row.speedup.high() < best * r / (r * r - r + 1.0)) return row.count;
    }
    best = std::max(best, low);
  }
  return std::nullopt;
}

double karp_flatt(double speedup, double count_ratio) {
  return (1.0 / speedup - 1.0 / count_ratio) / (1.0 - 1.0 / count_ratio);
}

Quality quality_of(const MeasuredMode& mode) {
  if (mode.mode != BatchScaling::strong) return {false, FindingId::losses_of_batches};
  if (mode.counts.size() < 2) return {false, FindingId::losses_of_one_count};
  const std::optional<double> spread = loss_spread(mode);
  if (!spread) return {false, FindingId::losses_unknown};
  const bool held = *spread <= loss_tolerance;
  return {
      held,
      Finding(held ? FindingId::losses_agree : FindingId::losses_differ, *spread, loss_tolerance)};
}
}  // namespace scaleworth::model
