// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/offers.h"

#include "src/core/statistics/sample_statistics.h"
#include "src/model/comparison.h"
#include "src/model/cost.h"

#include <cmath>

namespace scaleworth::model {
namespace {
/// Why rates of the table cannot be held against those of others; empty where they can.
std::string no_common_work(const ScalingTable& table, const ScalingTable& first) {
  if (table.relative) return "its speed-ups are relative to a machine of its own";
  if (table.axis == Axis::load) return "it counts a load, not machines";
  if (any_has(table.rows, &TableRow::work) != any_has(first.rows, &TableRow::work) ||
      table.work_noun != first.work_noun ||
      (table.basis == TimeBasis::work_unit) != (first.basis == TimeBasis::work_unit))
    return "its work is counted in another unit";
  if (!all_have(table.rows, &TableRow::work) && any_has(table.rows, &TableRow::growth))
    return "its work grows with the count, and no column says how much it is";
  return "";
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
                 row.time.interval && !row.repeats_are_steps};
  });
}

OfferRatio ratio_of(const Offer& a, const Offer& b) {
  OfferRatio result{a, b, ratio(b.rate, a.rate), {}, {}};
  const double presumed =
      a.repeated && b.repeated ? 0.0 : 1.96 * std::sqrt(2.0) * presumed_run_noise;
  const double speed = result.speed.value;
  const auto arm = [&](double end) { return std::hypot(std::log(end / speed), presumed); };
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
OfferRatio nearest_counts(const std::vector<Offer>& a, const std::vector<Offer>& b) {
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
  return ratio_of(*of_a, *of_b);
}
}  // namespace

std::optional<Estimate<double>> Offer::cost() const {
  if (!price) return std::nullopt;
  const double bill = count * price->value();
  return transform_decreasing(rate, [=](double value) { return bill / value; });
}

OfferComparison compare_offers(const std::vector<NamedTable>& tables) {
  if (tables.size() < 2) throw UserError("compare takes two machines or more; there is one");
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
    std::vector<Offer> offers = offers_of(one);
    if (of_first.empty())
      of_first = offers;
    else
      result.ratios.push_back(nearest_counts(of_first, offers));
    if (one.table.noun != result.noun) result.noun.clear();
    for (const Remark& doubt : one.table.doubts) result.doubts.push_back(doubt);
    std::ranges::move(offers, std::back_inserter(result.offers));
  }
  for (const NamedTable& named : tables)
    for (const TableRow& row : named.table.rows)
      if (row.count % named.ranks_of_instance != 0)
        result.doubts.emplace_back(fmt::format("{} at {} pays for whole instances of {}.",
                                               named.name,
                                               row.count,
                                               named.ranks_of_instance));
  const auto index = [&](auto found) {
    return static_cast<std::size_t>(found - result.offers.begin());
  };
  result.fastest = index(
      std::ranges::max_element(result.offers, {}, [](const Offer& one) { return one.rate.value; }));
  result.repeated = std::ranges::all_of(result.offers, &Offer::repeated);
  if (std::ranges::all_of(result.offers, [](const Offer& one) { return one.price.has_value(); }))
    result.cheapest = index(std::ranges::min_element(
        result.offers, {}, [](const Offer& one) { return one.cost()->value; }));
  return result;
}
}  // namespace scaleworth::model
