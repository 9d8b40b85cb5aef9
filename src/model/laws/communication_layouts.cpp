// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives.h"
#include "src/model/laws/linear_law.h"
#include "src/model/laws/model_selection.h"
#include "src/model/roofline.h"

#include <cmath>
#include <utility>

namespace scaleworth::model {
namespace {
constexpr double presumed_error = 1.08;  // of layouts that follow no law: 8 %

/// Curves of one collective in one mode whose layouts differ in one count, ascending.
using Family = std::vector<const LayoutCurve*>;

double count_of(const RankLayout& layout) {
  return layout.nodes > 1 ? layout.nodes : layout.ranks;
}

/// The ring's share of the message that passes a link.
double volume_of(const RankLayout& layout) {
  return (layout.ranks - 1.0) / layout.ranks;
}

/// Start-up time of the smallest messages.
double start_up_of(const LayoutCurve& curve) {
  const CommunicationSegment& first = curve.fit.segments.front();
  return std::min(first.alpha.value, evaluate(curve.fit, first.smallest)).value();
}

/// Of the smallest messages. One count: the geometric mean of the least and the largest growth,
/// whose ratio to either is the same.
Estimate<double> start_up(const Family& family, double count) {
  std::vector<TimePoint> times;
  for (const LayoutCurve* one : family)
    if (start_up_of(*one) > 0.0) times.push_back({count_of(one->layout), start_up_of(*one), {}});
  if (times.empty()) return {0.0, Interval<double>{}, 0};
  if (times.size() == 1) {
    const double grown = times[0].time * (count - 1.0) / (times[0].count - 1.0);
    return {std::sqrt(times[0].time * grown),
            Interval<double>{std::min(times[0].time, grown), std::max(times[0].time, grown)},
            1};
  }
  using namespace terms;
  const double hops = fit_linear({level, linear}, times).at(count);
  const double levels = fit_linear({level, logarithm}, times).at(count);
  const double both =
      times.size() > 2 ? fit_linear({level, linear, logarithm}, times).at(count) : hops;
  return {both, Interval<double>{std::min(hops, levels), std::max(hops, levels)}, times.size()};
}

/// What a message takes beyond the start-up time, for each share that passes a link, s.
Estimate<double> rest_of(const LayoutCurve& one, Bytes message) {
  const Estimate<Seconds> time = predict(one.fit, message);
  const double start = std::min(start_up_of(one) / time.value.value(), 1.0);
  const double share = (1.0 - start) / volume_of(one.layout);
  return transform(time, [=](Seconds of) { return of.value() * share; });
}

/// The largest size that all have.
Bytes common_size(const Family& family) {
  return (*std::ranges::min_element(family, {}, &LayoutCurve::largest))->largest;
}

/// The last place in `family` behind a step of which no other gap shows a third; 0 without any.
std::size_t change_of(const Family& family) {
  constexpr double least = 0.22;  // 25 %
  // See docs/accuracy.md (layouts): 9 of 10 changes are found, none where there is none. Lower
  // names the bends of a smooth curve.
  constexpr double times_others = 3.0;
  std::vector<double> steps;
  for (std::size_t i = 0; i + 1 < family.size(); ++i) {
    const Bytes size = common_size(family);
    const double before = rest_of(*family[i], size).value;
    steps.push_back(std::abs(std::log(rest_of(*family[i + 1], size).value / before)));
  }
  if (steps.size() < 2) return 0;
  const auto most = std::ranges::max_element(steps);
  const auto place = static_cast<std::size_t>(most - steps.begin()) + 1;
  const double step = std::exchange(*most, 0.0);
  return step > std::max(least, times_others * std::ranges::max(steps)) ? place : 0;
}

Estimate<double> spanned(const Estimate<double>& a, const Estimate<double>& b, double value) {
  const auto [low, high] = std::pair(std::min(a.low(), b.low()), std::max(a.high(), b.high()));
  return {value, Interval<double>{low, high}, std::min(a.samples, b.samples)};
}

/// `rest_of` at a count between that of `above` and the one before.
Estimate<double> between(const Family& family, std::size_t above, double count, Bytes message) {
  const double from = count_of(family[above - 1]->layout);
  const double share = std::log(count / from) / std::log(count_of(family[above]->layout) / from);
  const Estimate<double> a = rest_of(*family[above - 1], message);
  const Estimate<double> b = rest_of(*family[above], message);
  const auto at = [&](double of_a, double of_b) { return std::lerp(of_a, of_b, share); };
  Estimate<double> rest = spanned(a, b, at(a.value, b.value));
  // Only where the regime changes it may lie anywhere between.
  if (above != change_of(family))
    rest.interval = Interval<double>{at(a.low(), b.low()), at(a.high(), b.high())};
  return rest;
}

/// Between that of the largest count and as it grew by levels since the last change.
Estimate<double> beyond(const Family& family, double count, Bytes message) {
  const Estimate<double> last = rest_of(*family.back(), message);
  std::vector<TimePoint> rests;
  for (std::size_t i = change_of(family); i < family.size(); ++i)
    if (const double rest = rest_of(*family[i], message).value; rest > 0.0)
      rests.push_back({count_of(family[i]->layout), rest, {}});
  if (rests.size() < 2 || !(last.value > 0.0)) return last;
  const LinearLaw law = fit_linear({terms::level, terms::logarithm}, rests);
  const double growth = std::max(1.0, law.at(count) / last.value);
  const auto grown = transform(last, [&](double rest) { return rest * growth; });
  return spanned(last, grown, last.value * std::sqrt(growth));
}

/// Of a layout that was not measured.
Estimate<Seconds> time_among(const Family& family, const RankLayout& layout, Bytes message) {
  const double count = count_of(layout);
  const auto above = std::ranges::find_if(
      family, [&](const LayoutCurve* one) { return count_of(one->layout) > count; });
  const auto place = static_cast<std::size_t>(above - family.begin());
  const Estimate<double> rest = place == family.size() ? beyond(family, count, message)
                                : place == 0           ? rest_of(**above, message)
                                                       : between(family, place, count, message);
  const Estimate<double> start = start_up(family, count);
  const double volume = volume_of(layout);
  const Seconds low((start.low() + rest.low() * volume) / presumed_error);
  const Seconds high((start.high() + rest.high() * volume) * presumed_error);
  return {Seconds(start.value + rest.value * volume), Interval<Seconds>{low, high}, rest.samples};
}

/// Those of `curves` on one node, or on nodes of which `layout` fills one after the other, in the
/// first mode that has any.
Family family_of(const std::vector<LayoutCurve>& curves,
                 Collective collective,
                 const RankLayout& layout) {
  Family family;
  for (const LayoutCurve& one : curves) {
    const RankLayout& own = one.layout;
    const bool alike = layout.nodes == 1
                           ? own.nodes == 1
                           : own.nodes > 1 && (layout.ranks - 1) / own.per_node() + 1 == layout.nodes;
    if (one.collective != collective || !alike) continue;
    if (family.empty() || (family.back()->mode == one.mode && family.back()->layout != one.layout))
      family.push_back(&one);
  }
  return family;
}

/// Ranks that one node holds: the share of a node where there are several, else all devices of the
/// only one. Absent where the run does not say.
std::optional<int> node_ranks(const Run& run) {
  if (!run.placement) return std::nullopt;
  const RankPlacement& at = *run.placement;
  if (at.nodes > 1) return (at.ranks + at.nodes - 1) / at.nodes;
  const auto devices = number_fact(run, at.on_gpus ? "gpu" : "cpu", at.on_gpus ? "count" : "cores");
  return std::max(at.ranks, saturated<int>(devices.value_or(0.0)));
}

int filled_nodes(int ranks, std::optional<int> node) {
  return node && ranks > *node ? (ranks - 1) / *node + 1 : 1;
}
}  // namespace

CommunicationModel::CommunicationModel(std::vector<LayoutCurve> curves, std::optional<int> node)
    : curves_(std::move(curves)), node_(node) {
  std::ranges::stable_sort(
      curves_, {}, [](const LayoutCurve& one) { return std::pair(one.mode, one.layout); });
  for (const LayoutCurve& one : curves_)
    if (!node_ && one.layout.nodes > 1) node_ = one.layout.per_node();
}

const LayoutCurve* CommunicationModel::measured(Collective collective,
                                                int ranks,
                                                std::optional<CollectiveMode> mode) const {
  const auto found = std::ranges::find_if(curves_, [&](const LayoutCurve& one) {
    return one.collective == collective && one.layout.ranks == ranks &&
           one.mode == mode.value_or(one.mode);
  });
  return found == curves_.end() ? nullptr : &*found;
}

RankLayout CommunicationModel::layout(Collective collective, int ranks) const {
  const LayoutCurve* one = measured(collective, ranks);
  return one ? one->layout : RankLayout{ranks, filled_nodes(ranks, node_)};
}

std::optional<Estimate<Seconds>> CommunicationModel::time(Collective collective,
                                                          const RankLayout& layout,
                                                          Bytes message) const {
  if (layout.ranks == 1) return Estimate<Seconds>{Seconds(0.0), Interval<Seconds>{}, 0};
  const Family family = family_of(curves_, collective, layout);
  for (const LayoutCurve* one : family)
    if (one->layout == layout) return predict(one->fit, message);
  return family.empty() ? std::nullopt : std::optional(time_among(family, layout, message));
}

std::vector<LayoutChange> CommunicationModel::changes() const {
  std::vector<LayoutChange> found;
  for (const LayoutCurve& one : curves_) {
    const Family family = family_of(curves_, one.collective, one.layout);
    const std::size_t place = change_of(family);
    if (place == 0 || family[place] != &one) continue;
    const Bytes size = common_size(family);
    const LayoutCurve& before = *family[place - 1];
    const double times = rest_of(one, size).value / rest_of(before, size).value;
    found.push_back({one.collective, before.layout, one.layout, times});
  }
  return found;
}

Collective collective_of(CollectiveKind kind) {
  if (kind == CollectiveKind::send || kind == CollectiveKind::receive)
    return Collective::send_receive;
  return from_key<Collective>(key_of(kind)).value_or(Collective::all_reduce);
}

CommunicationModel communication_model(const Run& run,
                                       const std::vector<CollectiveResult>& collectives,
                                       const std::vector<AlgorithmResult>& algorithms) {
  const std::optional<int> node = node_ranks(run);
  std::vector<LayoutCurve> curves;
  const auto add = [&](const auto& result, const CommunicationFit& fit, auto nodes) {
    const RankLayout layout{result.ranks,
                            nodes ? static_cast<int>(*nodes) : filled_nodes(result.ranks, node)};
    curves.push_back({result.collective, result.mode, layout, fit, fit.segments.back().largest});
  };
  for (const AlgorithmResult& one : algorithms)
    if (one.fit && !one.shared_gpu) add(one, *one.fit, one.selection.count(Parameter::nodes));
  for (const CollectiveResult& one : collectives)
    if (one.chosen < one.fits.size()) add(one, one.fits[one.chosen], std::optional<int>());
  return CommunicationModel(std::move(curves), node);
}

CommunicationModel communication_model(const Run& run) {
  return communication_model(run, analyse_collectives(run), analyse_algorithms(run));
}

AllReduceTime CommunicationModel::all_reduce() const {
  const auto is = [](const LayoutCurve& one) {
    return one.collective == Collective::all_reduce && one.mode == CollectiveMode::isolated;
  };
  if (std::ranges::none_of(curves_, is)) return nullptr;
  return [model = *this](Bytes message, int ranks) {
    return model.time(Collective::all_reduce, model.layout(Collective::all_reduce, ranks), message);
  };
}
}  // namespace scaleworth::model
