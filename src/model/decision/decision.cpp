// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/decision.h"

#include "src/model/analysis.h"
#include "src/model/transformer/utilisation.h"

#include <stdexcept>

namespace scaleworth::model {
namespace {
void add_money(Decision& decision) {
  const DecisionRequest& request = decision.request;
  const auto& prices = request.metrics.prices;
  if (!prices) {
    if (!request.regimes.empty() || request.spot) {
      throw UserError("regimes and spot need the price that they differ from; give --price");
    }
    return;
  }
  decision.choice = choose_count(*prices, count_times(decision.fitted_rows));
  const std::optional<Deadline> deadline = deadline_of(request.rubric);
  decision.regimes = compare_regimes(decision.rows, *prices, request.regimes, deadline);
  if (request.spot) {
    const Prices spot = prices->with_rank_price(request.spot->price_per_rank);
    const auto times = undisturbed_times(decision.rows, request.rubric.deadline_probability);
    decision.spot = choose_spot_count(spot, request.spot->preemption, times, deadline);
  }
}

void add_better_way(Decision& decision) {
  const Rubric& asked = decision.request.rubric;
  const RubricResult& rubric = decision.rubric;
  const bool by_cost = rubric.objective == Objective::cost;
  if (!by_cost && rubric.objective != Objective::time) return;
  const auto measure = [=](const PaidWay& way) {
    return by_cost ? std::pair(way.cost.value(), way.time.value())
                   : std::pair(way.time.value(), way.cost.value());
  };
  const auto excluded = [&](int count) {
    return std::ranges::any_of(rubric.exclusions, [=](const Exclusion& one) {
      return one.gate != GateKind::deadline && one.gate != GateKind::budget &&
             std::ranges::count(one.counts, count) > 0;
    });
  };
  // No budget pays for waiting.
  const DollarsPerSecond waiting = decision.request.metrics.prices.value_or(Prices{}).value_of_time;
  std::optional<PaidWay> best;
  if (const auto& chosen = rubric.chosen; chosen && decision.row(*chosen).cost)
    best = {"", *chosen, decision.row(*chosen).cost->value, decision.row(*chosen).wall().value};
  for (const RegimeResult& way : decision.regimes)
    for (std::size_t i = 0; i < decision.rows.size(); ++i) {
      const DecisionRow& row = decision.rows[i];
      const auto& cost = way.costs[i];
      if (!cost || !way.in_time[i] || excluded(row.count)) continue;
      const Seconds time = way.expected.empty() ? row.wall().value : *way.expected[i];
      if (asked.budget && *cost - waiting * time > *asked.budget) continue;
      const PaidWay one{way.regime.name, row.count, *cost, time};
      if (!best || measure(one) < measure(*best)) best = one;
    }
  if (best && best->count != rubric.chosen) decision.better_way = best;
}

void add_rubric(Decision& decision) {
  const DecisionRequest& request = decision.request;
  decision.named = named_counts(decision.fitted_rows, decision.axis);
  decision.rubric =
      apply_rubric(decision.rows, request.rubric, decision.axis, request.metrics.prices);
  if (!decision.choice) return;
  decision.named.cheapest = decision.choice->cheapest;
  std::vector<int> excluded;
  for (const Exclusion& exclusion : decision.rubric.exclusions) {
    excluded.insert(excluded.end(), exclusion.counts.begin(), exclusion.counts.end());
  }
  decision.waiting = value_of_waiting(decision.rows, excluded);
}

void add_laws(Decision& decision) {
  const DecisionRequest& request = decision.request;
  std::vector<SpeedupPoint> speedups;
  for (const DecisionRow& row : decision.fitted_rows) {
    if (row.count_ratio >= 1.0) speedups.push_back({row.count_ratio, row.speedup.value});
  }
  const std::vector<TimePoint> points = points_of_laws(decision.fitted_rows);
  if (const auto serial = plain_amdahl_serial(speedups)) {
    decision.amdahl = PlainAmdahl{*serial,
                                  *serial > 0.0 ? std::optional(1.0 / *serial) : std::nullopt,
                                  amdahl_speedup(*serial, decision.fitted_rows.back().count_ratio)};
  }
  decision.fit = fit_contention(points);
  decision.further = further_laws(decision.fitted_rows, decision.scaling, request.law_inputs);
  decision.laws = combine_laws(points,
                               decision.scaling == Scaling::weak,
                               decision.further.families,
                               decision.further.known_families);
  decision.law_forecast =
      law_forecast(decision.fitted_rows, decision.laws, request.forecast_counts);
  if (decision.fit && decision.fitted_rows.size() >= minimum_counts)
    decision.next_measurement = next_measurement(points, *decision.fit, request.metrics.prices);
  const auto estimate = estimate_contention(points);
  decision.law =
      contention_law(points,
                     estimate,
                     estimate ? curve_draws(*decision.laws, request.law_counts) : CurveDraws{},
                     {.work = request.law_work,
                      .max_count = request.law_counts,
                      .smallest_measured = decision.fitted_rows.front().count,
                      .largest_measured = decision.fitted_rows.back().count,
                      .prices = request.metrics.prices,
                      .currency = request.rubric.currency,
                      .wall = wall_time(request.metrics, decision.basis)});
  if (estimate) decision.law->basis.emplace_back(FindingId::curve_by_laws, decision.laws->names());
}

bool beyond_cliff(const Decision& decision) {
  return decision.laws && decision.laws->cliff();
}

void add_cliff(Decision& decision) {
  if (!beyond_cliff(decision)) return;
  if (decision.law) {
    decision.law->curve.clear();
    decision.law->fastest.reset();
    decision.law->cost_optimal.reset();
    decision.law->cost_optimal_range.reset();
    decision.law->expected_regret.reset();
  }
  decision.remarks.emplace_back(
      FindingId::no_law_predicts, decision.laws->nearest, decision.laws->worst);
}

void add_remarks(Decision& decision) {
  const auto add = [&](const auto& more) {
    decision.remarks.insert(decision.remarks.end(), more.begin(), more.end());
  };
  if (decision.axis != Axis::load) add(superlinear_remarks(decision.rows));
  if (!decision.request.metrics.failures) add(failure_remarks(decision.rows, decision.axis));
  add_cliff(decision);
  const auto& domain = decision.request.domain;
  if (domain) decision.edge = domain_remarks(decision.rows, *domain);
  if (decision.laws && decision.laws->outlier) {
    const int outlier = *decision.laws->outlier;
    decision.remarks.emplace_back(
        domain && outlier > *domain ? FindingId::outlier_beyond_domain : FindingId::outlier,
        outlier);
  }
  if (decision.law) add(extrapolation_remarks(*decision.law, decision.fitted_rows.back().count));
  add(micro_batch_remarks(decision.rows, decision.scaling));
  const int smallest = decision.rows.front().count;
  if (smallest > 1) decision.remarks.emplace_back(FindingId::no_row_of_one, smallest);
  if (decision.rows.size() > 1 && decision.named.fastest == smallest)
    decision.remarks.emplace_back(FindingId::never_faster, smallest);
  if (decision.choice && decision.choice->price_cancels)
    decision.remarks.emplace_back(FindingId::price_cancels);
}

/// Whether the same count would be taken if the first row were `times` as fast.
bool stands_with_faster_first(const Decision& decision, double times) {
  if (!decision.rubric.chosen) return false;
  std::vector<DecisionRow> rows = decision.rows;
  DecisionRow& first = rows.front();
  const auto faster = [=](auto value) { return value / times; };
  first.same_work = transform(first.same_work, faster);
  if (first.cost) first.cost = transform(*first.cost, faster);
  for (DecisionRow& row : rows) {
    if (&row == &first) continue;
    row.speedup = transform(row.speedup, faster);
    row.efficiency = transform(row.efficiency, faster);
  }
  return apply_rubric(rows, decision.request.rubric, decision.axis, decision.request.metrics.prices)
             .chosen == decision.rubric.chosen;
}

/// Counts of another quality did other work: they are left out, unless the first is the odd one.
void gate_quality(Decision& decision) {
  auto& tolerance = decision.request.rubric.quality_tolerance;
  const DecisionRow& first = decision.rows.front();
  const DecisionRow* const baseline = baseline_row(decision.rows);
  if (tolerance && decision.request.rubric.quality_in_parts && baseline && baseline->quality)
    *tolerance *= std::abs(*baseline->quality);
  if (tolerance || !first.quality || decision.axis == Axis::load) return;
  const double allowed = same_quality * std::abs(*first.quality);
  const auto odd = std::ranges::count_if(
      decision.rows, [&](const DecisionRow& row) { return row.quality_loss(first) > allowed; });
  const auto known = std::ranges::count_if(
      decision.rows, [](const DecisionRow& row) { return row.quality.has_value(); });
  if (odd > 0 && known - odd < 2) return;
  tolerance = allowed;
  if (odd == 0) return;
  decision.remarks.emplace_back(first.better_quality == 0 ? FindingId::other_quality_left_out
                                                          : FindingId::worse_quality_left_out);
}

/// Why the rows may not be one program on more machines.
void add_warnings(Decision& decision) {
  if (decision.axis == Axis::load) return;
  constexpr double notable = 0.02;   // of the first row's quality
  constexpr double most_gain = 1.1;  // efficiency that caches still explain
  // A first row that is a quarter slow, or a batch that suits more GPUs better, is met in practice;
  // more than that is other work, whichever count it leads to.
  constexpr double most_mild = 1.25;
  const DecisionRow& best = *std::ranges::max_element(
      decision.rows, {}, [](const DecisionRow& row) { return row.efficiency.low(); });
  const double gain = best.efficiency.low();
  if (gain > most_gain && !(gain <= most_mild && stands_with_faster_first(decision, gain))) {
    decision.warnings.emplace_back(FindingId::efficiency_too_high,
                                   best.efficiency.value,
                                   best.count,
                                   decision.rows.front().count);
  }
  const DecisionRow& first = decision.rows.front();
  if (!first.quality || decision.request.rubric.quality_tolerance) return;
  for (const DecisionRow& row : decision.rows) {
    const double drift = row.quality_loss(first) / std::abs(*first.quality);
    if (!(drift > notable)) continue;
    decision.warnings.emplace_back(
        row.better_quality == 0 ? FindingId::quality_off : FindingId::quality_worse,
        row.count,
        *row.quality,
        drift,
        first.count,
        *first.quality);
    return;
  }
}

KneeRequest knee_request(const Decision& decision) {
  const DecisionRequest& request = decision.request;
  const auto& threshold = request.rubric.efficiency_threshold;
  return {.threshold = threshold.value_or(default_knee_threshold),
          .threshold_given = threshold.has_value(),
          .prices = request.metrics.prices,
          .wall = wall_time(request.metrics, decision.basis)};
}

/// By the laws only where their curve is known: from four counts on and before a cliff.
void add_knees_and_forecast(Decision& decision) {
  const bool known = decision.law && !decision.law->curve.empty();
  decision.knees = table_knees(
      decision.fitted_rows, knee_request(decision), known ? decision.laws : std::nullopt);
  if (decision.axis == Axis::load) return;
  std::optional<Finding> unavailable;
  if (beyond_cliff(decision)) {
    unavailable = FindingId::regime_changes;
  } else if (decision.law->curve.empty()) {
    unavailable = decision.law->not_identifiable;
  }
  decision.deadline_forecast = forecast_deadline(decision.fitted_rows,
                                                 decision.laws,
                                                 unavailable,
                                                 decision.request.metrics,
                                                 decision.basis,
                                                 decision.request.rubric);
}

std::vector<DecisionRow> rows_of(const std::vector<DecisionRow>& rows,
                                 const std::vector<int>& counts) {
  if (counts.empty()) return doublings(rows);
  std::vector<DecisionRow> chosen;
  for (const int count : counts) {
    const DecisionRow* found = find_in(rows, count, &DecisionRow::count);
    if (!found) {
      throw UserError("--counts: {} is outside 1 to {}; raise --max-count or leave it out",
                      count,
                      rows.back().count);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

struct Context {
  const AnalysisOptions& options;
  const std::vector<ComputeCeiling>& ceilings;
  const std::vector<GpuResult>& gpus;
  const AllReduceTime& all_reduce;
};

void fill_mfu(DecisionRow& row, const MeasuredCount& count, const Context& context) {
  const Flops flops(count.model_flops);
  if (const auto peak = count.precision == "fp32"
                            ? measured_peak(context.ceilings, count.ranks)
                            : measured_peak(context.gpus, count.precision, count.ranks)) {
    row.trained.mfu_measured = model_flops_utilisation(flops, row.time.value, peak->rate);
    row.trained.mfu_basis = peak->basis;
  }
  if (context.options.peak_per_rank) {
    const FlopPerSecond peak = *context.options.peak_per_rank * static_cast<double>(count.ranks);
    row.trained.mfu_peak = model_flops_utilisation(flops, row.time.value, peak);
  }
}

/// Of the decision; of a count that it leaves out, its time and work alone.
DecisionRow row_of(const MeasuredCount& count, const Decision* decision) {
  if (const DecisionRow* found = decision ? decision->find_row(count.ranks) : nullptr)
    return *found;
  DecisionRow row;
  static_cast<TableRow&>(row) = trained_row(count);
  row.throughput = *row.work / row.time.value.value();
  return row;
}

CurveRequest request_for(const MeasuredMode& mode, const Context& context) {
  const MeasuredCount& first = mode.counts.front();
  const MeasuredCount& last = mode.counts.back();
  const bool weak = mode.mode == BatchScaling::weak;
  int most = std::max(context.options.max_count, last.ranks);
  if (!weak) {
    const auto batch = std::max<std::int64_t>(first.global_batch, last.ranks);
    most = static_cast<int>(std::min<std::int64_t>(most, batch));
  }
  const AnalysisOptions& options = context.options;
  std::optional<Prices> prices;
  if (options.price_per_rank) prices = Prices{*options.price_per_rank, options.fixed_price};
  return {.work = {weak, first.ranks, first.tokens},
          .max_count = most,
          .smallest_measured = first.ranks,
          .largest_measured = last.ranks,
          .prices = prices};
}

std::shared_ptr<const Decision> decide_mode(const MeasuredMode& mode, const CurveRequest& curve) {
  if (std::ranges::all_of(mode.counts, &MeasuredCount::slowed_on_purpose)) return nullptr;
  DecisionRequest request;
  request.metrics.prices = curve.prices;
  request.law_counts = curve.max_count;
  request.law_work = curve.work;
  return std::make_shared<Decision>(decide_table(run_table({mode}, std::nullopt), request));
}

ScalingResult analyse_mode(const MeasuredMode& mode, const Context& context) {
  ScalingResult result;
  result.mode = mode.mode;
  const CurveRequest request = request_for(mode, context);
  result.decision = decide_mode(mode, request);
  for (const MeasuredCount& count : mode.counts) {
    result.rows.push_back(row_of(count, result.decision.get()));
    fill_mfu(result.rows.back(), count, context);
  }
  if (result.decision && result.decision->law) result.laws.push_back(*result.decision->law);
  result.laws.push_back(measured_parts_law(mode, context.all_reduce, request));
  for (ScalingLaw& law : result.laws) {
    if (law.curve.empty() || request.max_count >= context.options.max_count) continue;
    if (law.curve.back().ranks < request.max_count) continue;  // by its links, as it says itself
    law.basis.emplace_back(
        FindingId::curve_ends_at_batch, law.curve.back().ranks, mode.counts.front().global_batch);
  }
  if (const MeasuredCount& largest = mode.counts.back(); largest.slowed_on_purpose())
    result.slowed =
        Finding(FindingId::slowed_on_purpose, *largest.straggler_rank, largest.straggler_factor);
  result.quality = quality_of(mode);
  return result;
}
}  // namespace

const DecisionRow* Decision::find_row(int count) const {
  const auto found = std::ranges::lower_bound(rows, count, {}, &DecisionRow::count);
  return found == rows.end() || found->count != count ? nullptr : &*found;
}

const DecisionRow& Decision::row(int count) const {
  if (const DecisionRow* found = find_row(count)) return *found;
  throw std::logic_error(fmt::format("no row for count {}", count));
}

Decision decide_table(const ScalingTable& table, const DecisionRequest& request) {
  Decision decision;
  decision.request = request;
  auto& ring = decision.request.law_inputs.ring;
  if (request.message && !ring && table.basis == TimeBasis::step) ring = {*request.message, 1.0};
  decision.scaling = scaling_of(table);
  static_cast<TableKind&>(decision) = table;
  decision.ledgers = table.ledgers;
  decision.straggler = table.straggler;
  decision.remarks = table_remarks(table);
  decision.rows = decision_rows(table, request.metrics);
  gate_quality(decision);
  decision.fitted_rows = rows_of_same_quality(decision.rows, decision.request.rubric);
  decision.shown = decision.rows;
  decision.steps = marginal_steps(decision.rows);
  add_money(decision);
  add_rubric(decision);
  add_better_way(decision);
  if (decision.growing_models) decision.rubric.chosen.reset();
  add_laws(decision);
  add_warnings(decision);
  if (decision.axis != Axis::load) decision.cliff = find_cliff(decision.rows);
  add_remarks(decision);
  add_knees_and_forecast(decision);
  decision.losses = row_losses(decision.rows);
  // At the largest count, whose gap is what the curve's shape is.
  decision.cause_count = decision.rows.back().count;
  decision.diagnosis = diagnose_table(
      decision.rows, decision.losses, !beyond_cliff(decision), request.message, ring);
  if (decision.read.odd_parts && decision.diagnosis.no_cause)
    decision.diagnosis.no_cause = FindingId::parts_do_not_add_up;
  decision.diagnosis.remedies =
      table_remedies(decision.fitted_rows, decision.diagnosis, decision.knees);
  add_ledgers(decision.diagnosis, decision.rows, decision.ledgers);
  return decision;
}

Decision decide_curve(const Coefficients& coefficients,
                      int max_count,
                      const DecisionRequest& request) {
  Decision decision;
  decision.request = request;
  decision.coefficients = coefficients;
  decision.rows = decision_rows(curve_table(coefficients, max_count), request.metrics);
  decision.fitted_rows = decision.rows;
  decision.shown = rows_of(decision.rows, request.shown_counts);
  decision.steps = marginal_steps(doublings(decision.rows));
  add_money(decision);
  if (request.metrics.prices) {
    decision.continuous_optimum = continuous_optimum(coefficients, *request.metrics.prices);
  }
  add_rubric(decision);
  add_remarks(decision);
  decision.knees = curve_knees(coefficients, knee_request(decision));
  decision.further.bounds =
      further_laws(decision.shown, decision.scaling, {{}, request.law_inputs.work_depth}).bounds;
  decision.cause_count = decision.rubric.chosen.value_or(decision.named.fastest);
  decision.diagnosis = diagnose_curve(
      coefficients, decision.cause_count, decision.shown, decision.knees, request.message);
  return decision;
}

std::vector<ScalingResult> analyse_scaling(const Run& run,
                                           const AnalysisOptions& options,
                                           const std::vector<ComputeCeiling>& ceilings,
                                           const std::vector<GpuResult>& gpus,
                                           const AllReduceTime& all_reduce) {
  const Context context{options, ceilings, gpus, all_reduce};
  return mapped(measured_modes(run),
                [&](const MeasuredMode& mode) { return analyse_mode(mode, context); });
}
}  // namespace scaleworth::model
