// SPDX-License-Identifier: Apache-2.0
#include "src/model/comparison.h"

#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace scaleworth::model {
namespace {
/// Common sizes that are judged: small enough for latency, in between, and large.
constexpr std::array judged_sizes{8.0 * kibibyte, mebibyte, 64.0 * mebibyte};
// Two differences show a spread, which so few degrees of freedom widen twelvefold.
constexpr std::size_t least_neighbours = 3;

using Key = std::pair<Metric, Setting>;

/// What a join asks for.
class JoinedOn {
 public:
  JoinedOn(const std::vector<Figure>& a, const std::vector<Figure>& b) {
    for (const Parameter parameter :
         {Parameter::nodes, Parameter::data_type, Parameter::reduction}) {
      const auto says = [&](const Figure& figure) { return figure.setting.contains(parameter); };
      if (std::ranges::none_of(a, says) || std::ranges::none_of(b, says))
        left_out_.insert(parameter);
    }
  }
  Setting operator()(const Setting& setting) const {
    Setting asked = setting.of_roles({Role::asked, Role::machine});
    for (const Parameter parameter : left_out_) asked.erase(parameter);
    return asked;
  }

 private:
  std::set<Parameter> left_out_;
};

/// Of several figures of one key the first.
std::map<Key, const Figure*> by_key(const std::vector<Figure>& figures, const JoinedOn& asked_of) {
  std::map<Key, const Figure*> found;
  for (const Figure& figure : figures)
    found.try_emplace({figure.metric, asked_of(figure.setting)}, &figure);
  return found;
}

Setting sweep_of(const Figure& figure) {
  return figure.setting.without({Parameter::message_bytes});
}

double size_of(const Setting& setting) {
  return static_cast<double>(setting.count(Parameter::message_bytes).value_or(0));
}

/// Of ln(value) over the repeats.
Moments scatter_of(const Figure& figure) {
  std::vector<double> logs;
  for (const double value : figure.repeats)
    if (value > 0.0) logs.push_back(std::log(value));
  if (logs.size() < 2) return {std::log(figure.value.value), {}};
  return moments_of(logs);
}

/// Adds what may differ from run to run, which single runs cannot show.
void allow_for_runs(ComparedFigure& compared) {
  const double reach = normal_reach * std::numbers::sqrt2 * presumed_run_noise;
  const double log = std::log(compared.gain.value);
  auto& [low, high] = *compared.gain.interval;
  low = std::exp(log - std::hypot(log - std::log(low), reach));
  high = std::exp(log + std::hypot(std::log(high) - log, reach));
}

ComparedFigure joined(const Figure& a, const Figure& b) {
  ComparedFigure compared{a.metric, a.setting, a.value, b.value, {}};
  const bool higher = info(a.metric).better == Better::higher;
  compared.gain = higher ? ratio(b.value, a.value) : ratio(a.value, b.value);
  const Moments of_a = scatter_of(a);
  const Moments of_b = scatter_of(b);
  compared.spread = of_a.of_one.pooled(of_b.of_one);
  if (compared.spread.degrees < 1.0) {
    if (!compared.gain.interval) return compared;
    compared.noise = NoiseBasis::samples;
    allow_for_runs(compared);
    return compared;
  }
  compared.noise = NoiseBasis::repeats;
  compared.error_of_one =
      std::sqrt(1.0 / (of_a.of_one.degrees + 1.0) + 1.0 / (of_b.of_one.degrees + 1.0));
  const double log = of_b.mean - of_a.mean;
  compared.gain.value = std::exp(higher ? log : -log);
  set_interval(compared);
  return compared;
}

bool is_known(const Estimate<double>& estimate) {
  return std::isfinite(estimate.value) && estimate.value > 0.0;
}

/// Deviation of ln(gain) at one size, from its differences between neighbours; absent for few.
std::optional<double> neighbour_deviation(const std::vector<ComparedFigure>& sizes) {
  if (sizes.size() < least_neighbours) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    differences.push_back(std::log(sizes[i].gain.value / sizes[i - 1].gain.value));
  const double centre = *median(differences);
  for (double& difference : differences) difference = std::abs(difference - centre);
  return sigma_per_mad * *median(differences) / std::numbers::sqrt2;
}

Bytes message_of(const ComparedFigure& figure) {
  return Bytes(size_of(figure.setting));
}

/// Sizes that a figure rests on.
std::size_t sizes_behind(const ComparedFigure& figure, const std::vector<ComparedFigure>& sizes) {
  if (figure.setting.contains(Parameter::message_bytes)) return 1;
  return static_cast<std::size_t>(std::ranges::count_if(sizes, [&](const ComparedFigure& at) {
    return is_large(message_of(at), message_of(sizes.back()));
  }));
}

/// Gives an interval to what has none.
void add_neighbour_noise(ComparedSweep& sweep) {
  const auto deviation = neighbour_deviation(sweep.sizes);
  if (!deviation) return;
  const auto degrees = static_cast<double>(sweep.sizes.size() - 2);
  const auto widen = [&](ComparedFigure& figure) {
    if (figure.noise != NoiseBasis::none || figure.metric == Metric::alpha) return;
    const auto count = static_cast<double>(sizes_behind(figure, sweep.sizes));
    figure.spread = {*deviation * *deviation, degrees};
    figure.error_of_one = count > 1.0 ? std::sqrt(std::numbers::pi / (2.0 * count)) : 1.0;
    set_interval(figure);
    figure.noise = NoiseBasis::neighbours;
    allow_for_runs(figure);
  };
  std::ranges::for_each(sweep.key_figures, widen);
  std::ranges::for_each(sweep.sizes, widen);
}

/// The median over the large ones of the sizes that both have, of each run where all have the same.
Figure large_figure(const Setting& sweep, const std::vector<const Figure*>& sizes) {
  const auto message = [](const Figure* at) { return Bytes(size_of(at->setting)); };
  std::vector<double> values;
  std::vector<std::vector<double>> by_run(sizes.back()->repeats.size());
  for (const Figure* at : sizes) {
    if (!is_large(message(at), message(sizes.back()))) continue;
    values.push_back(at->value.value);
    if (at->repeats.size() != by_run.size()) by_run.clear();
    for (std::size_t i = 0; i < by_run.size(); ++i) by_run[i].push_back(at->repeats[i]);
  }
  Figure large;
  large.metric = Metric::largest_bus_bandwidth;
  large.setting = sweep;
  large.value = {*median(values), std::nullopt, values.size()};
  for (const std::vector<double>& of_run : by_run) large.repeats.push_back(*median(of_run));
  return large;
}

/// The common sizes nearest to those that are judged, each once.
void add_judged_sizes(ComparedSweep& sweep) {
  std::vector<std::size_t> chosen;
  for (const double wanted : judged_sizes) {
    const auto distance = [&](const ComparedFigure& at) {
      return std::abs(std::log(size_of(at.setting) / wanted));
    };
    const auto nearest = std::ranges::min_element(sweep.sizes, {}, distance);
    const auto index = static_cast<std::size_t>(nearest - sweep.sizes.begin());
    // A size that is another one by far says nothing of the wanted one.
    if (distance(*nearest) > std::log(4.0) || std::ranges::count(chosen, index) > 0) continue;
    chosen.push_back(index);
    sweep.key_figures.push_back(*nearest);
  }
}

/// Parameters in which two settings differ, of those that a join may ask for.
std::vector<Parameter> differences(const Setting& a, const Setting& b) {
  std::vector<Parameter> found;
  for (const ParameterInfo& about : all_parameters()) {
    if (about.role == Role::ran) continue;
    const SettingValue* in_a = a.find(about.id);
    const SettingValue* in_b = b.find(about.id);
    const bool same = in_a != nullptr && in_b != nullptr ? *in_a == *in_b : in_a == in_b;
    if (!same) found.push_back(about.id);
  }
  return found;
}

/// The sweeps of figures that are not in `joined`, each once.
std::vector<Setting> other_sweeps(const std::vector<Figure>& figures,
                                  const std::set<Setting>& joined) {
  std::set<Setting> sweeps;
  for (const Figure& figure : figures) {
    const Setting sweep = sweep_of(figure);
    if (!joined.contains(sweep)) sweeps.insert(sweep);
  }
  return {sweeps.begin(), sweeps.end()};
}

void add_unmatched(const std::vector<Setting>& own,
                   const std::vector<Figure>& others,
                   const JoinedOn& asked_of,
                   bool of_a,
                   std::vector<Unmatched>& unmatched) {
  for (const Setting& sweep : own) {
    Unmatched& one = unmatched.emplace_back(Unmatched{of_a, sweep, {}});
    for (const Figure& other : others) {
      auto differ = differences(asked_of(sweep), asked_of(sweep_of(other)));
      if (std::ranges::count(differ, Parameter::collective) > 0) continue;
      if (differ.empty()) differ.push_back(Parameter::message_bytes);
      if (one.differs_in.empty() || differ.size() < one.differs_in.size())
        one.differs_in = std::move(differ);
    }
  }
}

/// All-reduce first, then most ranks first.
auto order_of(const ComparedSweep& sweep) {
  const auto collective = sweep.setting.symbol<Collective>(Parameter::collective);
  return std::tuple(collective != Collective::all_reduce,
                    -sweep.setting.count(Parameter::ranks).value_or(0),
                    collective,
                    sweep.setting.symbol<CollectiveMode>(Parameter::mode));
}

/// Of what is no sweep.
void compare_machines(const std::vector<Figure>& a,
                      const std::vector<Figure>& b,
                      Comparison& comparison) {
  const JoinedOn asked_of(a, b);
  std::map<std::pair<bool, Metric>, std::size_t> alone;  // those of A first
  const auto join = [&](const std::vector<Figure>& own, bool of_a, const auto& partners) {
    for (const Figure& figure : own) {
      const Figure* const* other = value_at(partners, Key{figure.metric, asked_of(figure.setting)});
      if (!is_known(figure.value)) continue;
      if (other == nullptr || !is_known((*other)->value)) {
        ++alone[{!of_a, figure.metric}];
      } else if (of_a) {
        comparison.machine.push_back(joined(figure, **other));
      }
    }
  };
  join(a, true, by_key(b, asked_of));
  join(b, false, by_key(a, asked_of));
  std::ranges::stable_sort(comparison.machine, {}, [](const ComparedFigure& figure) {
    const bool one_of_many = figure.setting.contains(Parameter::all_workers) &&
                             !figure.setting.flag(Parameter::all_workers);
    return std::pair(figure.metric, one_of_many);
  });
  for (const auto& [key, count] : alone)
    comparison.unmatched_machine.push_back({!key.first, key.second, count});
}

/// Sweeps of collectives.
void compare_sweeps(const std::vector<Figure>& a,
                    const std::vector<Figure>& b,
                    Comparison& comparison) {
  const JoinedOn asked_of(a, b);
  const auto partners = by_key(b, asked_of);
  // By the sweeps of A: the figures of both, in pairs.
  using Pair = std::pair<const Figure*, const Figure*>;
  std::map<Setting, std::vector<Pair>> sweeps;
  for (const Figure& figure : a) {
    const Figure* const* other = value_at(partners, Key{figure.metric, asked_of(figure.setting)});
    if (other == nullptr || !is_known(figure.value) || !is_known((*other)->value)) continue;
    sweeps[sweep_of(figure)].emplace_back(&figure, *other);
  }
  std::set<Setting> joined_of_a;
  std::set<Setting> joined_of_b;
  for (auto& [setting, pairs] : sweeps) {
    ComparedSweep sweep;
    sweep.setting = setting;
    std::ranges::stable_sort(
        pairs, {}, [](const Pair& pair) { return size_of(pair.first->setting); });
    std::vector<const Figure*> sizes_of_a;
    std::vector<const Figure*> sizes_of_b;
    for (const auto& [of_a, of_b] : pairs) {
      const bool size = of_a->metric == Metric::bus_bandwidth;
      (size ? sweep.sizes : sweep.key_figures).push_back(joined(*of_a, *of_b));
      if (!size) continue;
      sizes_of_a.push_back(of_a);
      sizes_of_b.push_back(of_b);
    }
    if (sweep.sizes.empty()) continue;
    joined_of_a.insert(setting);
    joined_of_b.insert(sweep_of(*sizes_of_b.front()));
    sweep.key_figures.insert(
        sweep.key_figures.begin(),
        joined(large_figure(setting, sizes_of_a), large_figure(setting, sizes_of_b)));
    add_judged_sizes(sweep);
    add_neighbour_noise(sweep);
    comparison.sweeps.push_back(std::move(sweep));
  }
  std::ranges::stable_sort(comparison.sweeps, {}, order_of);
  add_unmatched(other_sweeps(a, joined_of_a), b, asked_of, true, comparison.unmatched);
  add_unmatched(other_sweeps(b, joined_of_b), a, asked_of, false, comparison.unmatched);
}

/// Figures whose spreads between runs may be alike: of one metric; of collectives small messages,
/// which waiting for each other disturbs, apart from large ones.
using SpreadGroup = std::pair<Metric, bool>;
SpreadGroup spread_group(const ComparedFigure& figure) {
  const bool of_sweep = figure.metric == Metric::largest_bus_bandwidth;
  return {of_sweep ? Metric::bus_bandwidth : figure.metric,
          of_sweep || size_of(figure.setting) >= mebibyte};
}

/// Few runs show their own spread badly: that of figures alike is brought in.
void share_spread(Comparison& comparison) {
  std::map<SpreadGroup, std::vector<SampleVariance>> spreads;
  const auto collect = [&](const ComparedFigure& figure) {
    if (figure.noise == NoiseBasis::repeats) spreads[spread_group(figure)].push_back(figure.spread);
  };
  const auto moderate = [&](ComparedFigure& figure) {
    if (figure.noise != NoiseBasis::repeats) return;
    const SampleVariance prior = variance_prior(spreads[spread_group(figure)]);
    if (prior.degrees <= 0.0) return;
    figure.spread = moderated(figure.spread, prior);
    set_interval(figure);
  };
  std::ranges::for_each(comparison.machine, collect);
  for (const ComparedSweep& sweep : comparison.sweeps) {
    std::ranges::for_each(sweep.sizes, collect);
    for (const ComparedFigure& figure : sweep.key_figures)
      if (figure.metric == Metric::alpha) collect(figure);
  }
  std::ranges::for_each(comparison.machine, moderate);
  for (ComparedSweep& sweep : comparison.sweeps) {
    std::ranges::for_each(sweep.sizes, moderate);
    std::ranges::for_each(sweep.key_figures, moderate);
  }
}
}  // namespace

void set_interval(ComparedFigure& figure) {
  const double reach = student_t_two_sided(confidence, figure.spread.degrees) * figure.error();
  const double log = std::log(figure.gain.value);
  figure.gain.interval = Interval<double>{std::exp(log - reach), std::exp(log + reach)};
}

Comparison compare(const std::vector<Figure>& a, const std::vector<Figure>& b) {
  const auto part = [](const std::vector<Figure>& all, bool collectives) {
    std::vector<Figure> found;
    std::ranges::copy_if(all, std::back_inserter(found), [=](const Figure& figure) {
      return figure.setting.contains(Parameter::collective) == collectives;
    });
    return found;
  };
  Comparison comparison;
  compare_machines(part(a, false), part(b, false), comparison);
  compare_sweeps(part(a, true), part(b, true), comparison);
  share_spread(comparison);
  return comparison;
}

std::vector<ComparedFigure> judged(const Comparison& comparison) {
  std::vector<ComparedFigure> figures = comparison.machine;
  for (const ComparedSweep& sweep : comparison.sweeps)
    figures.insert(figures.end(), sweep.key_figures.begin(), sweep.key_figures.end());
  return figures;
}
}  // namespace scaleworth::model
