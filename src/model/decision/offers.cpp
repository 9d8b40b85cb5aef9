// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/offers.h"

#include "src/model/comparison.h"
#include "src/model/cost.h"

#include <cmath>
#include <set>

namespace scaleworth::model {
namespace {
/// Why rates of the table cannot be held against those of others; empty where they can.
std::string no_common_work(const ScalingTable& table, const ScalingTable& first) {
  if (table.relative)
    return "its speed-ups are relative to a machine of its own; give times or rates";
  if (table.axis == Axis::load) return "it counts a load, not machines";
  if ((table.axis == Axis::nodes) != (first.axis == Axis::nodes) &&
      (table.noun == "GPUs" || first.noun == "GPUs"))
    return "one counts nodes, the other GPUs; add a column gpus_per_node to that of nodes";
  if (any_has(table.rows, &TableRow::work) != any_has(first.rows, &TableRow::work) ||
      table.work_noun != first.work_noun ||
      (table.basis == TimeBasis::work_unit) != (first.basis == TimeBasis::work_unit))
    return "its work is counted in another unit; give both in one, or times of the same work";
  if (!any_has(table.rows, &TableRow::work) && table.basis != first.basis)
    return fmt::format("its times are of a {}, the first one's of a {}; name both alike (step_s)",
                       table.basis == TimeBasis::step ? "step" : "run",
                       table.basis == TimeBasis::step ? "run" : "step");
  const auto priced = [](const TableRow& row) { return row.facts.price; };
  if (any_has(table.rows, priced) && any_has(first.rows, priced) &&
      table.read.currency != first.read.currency)
    return "its prices are in another currency; convert them to one";
  if (!all_have(table.rows, &TableRow::work) && any_has(table.rows, &TableRow::growth))
    return "its work grows with the count, and no column says how much it is";
  return "";
}

/// Of the run or the step that the row's time is of; absent where no column says it.
std::optional<double> steps_of(const TableRow& row, TimeBasis basis) {
  if (basis == TimeBasis::step) return 1.0;
  return basis == TimeBasis::run ? row.facts.steps : std::nullopt;
}

/// Where no column counts the work, it is what others say of it: the epochs of a run, or steps and
/// their batches. Nothing where that is the same in all rows.
void count_work(std::vector<NamedTable>& tables) {
  bool known = true;
  bool epochs = true;
  bool steps = true;
  bool batch = true;
  bool tokens = true;
  for (const NamedTable& one : tables)
    for (const TableRow& row : one.table.rows) {
      known = known && row.work;
      epochs = epochs && one.table.basis == TimeBasis::run && row.facts.epochs;
      steps = steps && steps_of(row, one.table.basis);
      batch = batch && row.facts.batch;
      tokens = tokens && row.facts.sequence_length;
    }
  if (known || (!epochs && !steps)) return;
  const auto work_of = [&](const TableRow& row, TimeBasis basis) {
    if (epochs) return *row.facts.epochs;
    return *steps_of(row, basis) * (batch ? *row.facts.batch : 1.0) *
           (tokens ? *row.facts.sequence_length : 1.0);
  };
  std::set<std::pair<TimeBasis, double>> works;
  for (const NamedTable& one : tables)
    for (const TableRow& row : one.table.rows)
      works.emplace(one.table.basis, work_of(row, one.table.basis));
  if (works.size() == 1) return;
  for (NamedTable& one : tables) {
    one.table.work_noun = epochs             ? "epochs"
                          : tokens && !batch ? "tokens of one sequence"
                          : tokens           ? "tokens"
                          : batch            ? "samples"
                                             : "steps";
    for (TableRow& row : one.table.rows) row.work = work_of(row, one.table.basis);
  }
}

/// "NVIDIA A100" of the machine "A100": no job of its own.
bool names(const StatedOfJob& stated, const NamedTable& machine) {
  return machine.name.size() > 2 && stated.text.find(machine.name) != std::string::npos;
}

/// Throws UserError for other work; what else differs, a remark each.
void compare_stated(const NamedTable& one, const NamedTable& first, std::vector<Finding>& remarks) {
  const bool counts_work = any_has(one.table.rows, &TableRow::work);
  for (const StatedOfJob& stated : one.table.stated) {
    const auto* const of_first = find_in(first.table.stated, stated.column, &StatedOfJob::column);
    if (of_first == nullptr || of_first->text == stated.text) continue;
    if (names(*of_first, first) && names(stated, one)) continue;
    const std::string differs = fmt::format("{} is {} of {} and {} of {}",
                                            stated.column,
                                            of_first->text,
                                            first.name,
                                            stated.text,
                                            one.name);
    if (stated.job)
      throw UserError("{}, another job: keep the rows of one (--where), or leave that column out",
                      differs);
    if (!counts_work && one.table.basis == TimeBasis::run && !one.table.read.fixed_work)
      throw UserError("{}, and nothing says how much work a run is: add a column epochs or steps",
                      differs);
    remarks.emplace_back(FindingId::stated_of_jobs_differs,
                         stated.column,
                         of_first->text,
                         first.name,
                         stated.text,
                         one.name);
  }
}

/// Whether one of the two that are compared is faster or cheaper for it trained less well.
void compare_quality(const OfferRatio& one,
                     const std::vector<TableRow>& rows_of_a,
                     const std::vector<TableRow>& rows_of_b,
                     std::vector<Finding>& warnings) {
  const TableRow& a = *find_in(rows_of_a, one.a.count, &TableRow::count);
  const TableRow& b = *find_in(rows_of_b, one.b.count, &TableRow::count);
  const double allowed = same_quality * std::abs(a.quality.value_or(0.0));
  const double cost = one.cost ? one.cost->value : 1.0;
  const bool b_gains = one.speed.value > 1.0 || cost < 1.0;
  const bool a_gains = one.speed.value < 1.0 || cost > 1.0;
  if (!(b_gains && b.quality_loss(a) > allowed) && !(a_gains && a.quality_loss(b) > allowed))
    return;
  warnings.emplace_back(
      FindingId::trained_differently, *a.quality, one.a.name, *b.quality, one.b.name);
}

std::vector<Offer> offers_of(const NamedTable& named) {
  return mapped(named.table.rows, [&](const TableRow& row) {
    const double work = row.work.value_or(1.0);
    const auto rate = [&](Seconds time) { return work / time.value(); };
    Prices instances;
    instances.ranks_of_instance = named.ranks_of_instance;
    std::optional<DollarsPerSecond> price = named.price ? named.price : row.facts.price;
    if (price) *price = *price * instances.paid_ranks(row.count) / row.count;
    return Offer{named.name,
                 row.count,
                 transform_decreasing(row.time, rate),
                 price,
                 named.input,
                 row.repeats};
  });
}

OfferRatio ratio_of(const Offer& a, const Offer& b, const SampleVariance& noise) {
  OfferRatio result{a, b, ratio(b.rate, a.rate), {}, {}};
  result.repeated = noise.degrees > 0.0 && noise.variance > 0.0;
  const double presumed = normal_reach * std::sqrt(2.0) * presumed_run_noise;
  const double speed = result.speed.value;
  const auto arm = [&](double end) {
    if (!result.repeated) return std::hypot(std::log(end / speed), presumed);
    return student_t_two_sided(confidence, noise.degrees) *
           std::sqrt(noise.variance * (median_variance(a.repeats) + median_variance(b.repeats)));
  };
  result.speed.interval = Interval<double>{speed * std::exp(-arm(result.speed.low())),
                                           speed * std::exp(arm(result.speed.high()))};
  if (!a.price) return result;
  const double ranks = static_cast<double>(a.count) / b.count;
  const double bill = ranks * a.price->value();
  result.break_even = transform(result.speed, [=](double gain) { return bill * gain; });
  if (b.price)
    result.cost = transform_decreasing(
        result.speed, [=, price = b.price->value()](double gain) { return price / bill / gain; });
  return result;
}

/// The largest count that both have, else the two nearest to each other, the larger where equal.
OfferRatio nearest_counts(const std::vector<Offer>& a,
                          const std::vector<Offer>& b,
                          const SampleVariance& noise) {
  const Offer* of_a = &a.front();
  const Offer* of_b = &b.front();
  const auto distance = [](const Offer& one, const Offer& other) {
    return std::abs(std::log(static_cast<double>(one.count) / other.count));
  };
  for (const Offer& one : a)
    for (const Offer& other : b)
      if (distance(one, other) <= distance(*of_a, *of_b)) {
        of_a = &one;
        of_b = &other;
      }
  return ratio_of(*of_a, *of_b, noise);
}
}  // namespace

std::optional<Estimate<double>> Offer::cost() const {
  if (!price) return std::nullopt;
  const double bill = count * price->value();
  return transform_decreasing(rate, [=](double value) { return bill / value; });
}

OfferComparison compare_offers(std::vector<NamedTable> tables) {
  if (tables.size() < 2) throw UserError("compare takes two machines or more; there is one");
  count_work(tables);
  OfferComparison result;
  const ScalingTable& first = tables.front().table;
  result.basis = first.basis;
  result.work = all_have(first.rows, &TableRow::work);
  result.work_noun = first.work_noun;
  result.noun = first.noun;
  std::vector<Offer> of_first;
  for (const NamedTable& one : tables) {
    const std::string why = no_common_work(one.table, first);
    if (!why.empty()) throw UserError("{} cannot be compared: {}", one.name, why);
    compare_stated(one, tables.front(), result.remarks);
    std::vector<Offer> offers = offers_of(one);
    if (of_first.empty()) {
      of_first = offers;
    } else {
      const SampleVariance noise = repeat_noise(first.rows).pooled(repeat_noise(one.table.rows));
      result.ratios.push_back(nearest_counts(of_first, offers, noise));
      compare_quality(result.ratios.back(), first.rows, one.table.rows, result.warnings);
    }
    if (one.table.noun != result.noun) result.noun.clear();
    for (const Finding& warning : one.table.warnings) result.warnings.push_back(warning);
    std::ranges::move(offers, std::back_inserter(result.offers));
  }
  for (const NamedTable& named : tables)
    for (const TableRow& row : named.table.rows)
      if (row.count % named.ranks_of_instance != 0)
        result.remarks.emplace_back(
            FindingId::offer_pays_whole_instances, named.name, row.count, named.ranks_of_instance);
  const auto index = [&](auto found) {
    return static_cast<std::size_t>(found - result.offers.begin());
  };
  result.fastest = index(
      std::ranges::max_element(result.offers, {}, [](const Offer& one) { return one.rate.value; }));
  result.repeated = std::ranges::all_of(result.ratios, &OfferRatio::repeated);
  if (std::ranges::all_of(result.offers, [](const Offer& one) { return one.price.has_value(); }))
    result.cheapest = index(std::ranges::min_element(
        result.offers, {}, [](const Offer& one) { return one.cost()->value; }));
  return result;
}
}  // namespace scaleworth::model
