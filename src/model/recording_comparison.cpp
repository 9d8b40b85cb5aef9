// SPDX-License-Identifier: Apache-2.0
#include "src/model/recording_comparison.h"

#include "src/core/mean_ledger.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/scaling_table.h"

#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace scaleworth::model {
namespace {
constexpr std::size_t fewest_steps = 3;  // below, an interval would say nothing

/// Over ranks, by the number of the step: those that count.
std::vector<MeanLedger> step_means(const Attribution& job, const JobMeans& means) {
  std::map<std::int32_t, std::vector<StepLedger>> steps;
  for (const StepLedger& one : job.ledger)
    if (means.counts(one)) steps[one.step].push_back(one);
  return mapped(steps, [](const auto& step) { return job_means(step.second)->mean; });
}

void add_collectives(const Attribution& job, double rank_steps, std::vector<Figure>& figures) {
  for (const CollectiveSum& sum : job.collective_sums) {
    const Setting setting{{Parameter::collective_kind, sum.kind}};
    const auto add = [&](Metric metric, Nanoseconds time) {
      figures.push_back(
          {metric, setting, Basis::measured, {in_seconds(time) / rank_steps, std::nullopt, 1}});
    };
    add(Metric::collective_wait, sum.wait);
    add(Metric::collective_transfer, sum.transfer + sum.either);
  }
}

using Key = std::pair<Metric, Setting>;
std::map<Key, Estimate<double>> figures_of(const Attribution& job, const std::string& name) {
  std::map<Key, Estimate<double>> values;
  for (const Figure& figure : attribution_figures(job))
    values.emplace(std::pair(figure.metric, figure.setting), figure.value);
  if (values.empty())
    throw UserError(name + ": no step was found in it; record whole steps, with markers of steps");
  return values;
}

/// `noise`: standard deviation from one recording to the next.
ComparedTime compared(const Key& key,
                      const Estimate<double>& a,
                      const Estimate<double>& b,
                      double noise) {
  ComparedTime time{key.first, key.second, a, b, {b.value - a.value, std::nullopt, 0}};
  time.change.samples = std::min(a.samples, b.samples);
  if (!a.interval || !b.interval) return time;
  const auto reach = [&](double of_a, double of_b) {
    return std::hypot(of_a, of_b, normal_reach * std::numbers::sqrt2 * noise);
  };
  time.change.interval = Interval<double>{
      time.change.value - reach(a.interval->high - a.value, b.value - b.interval->low),
      time.change.value + reach(a.value - a.interval->low, b.interval->high - b.value)};
  return time;
}

std::vector<Straggler> significant(const Attribution& job) {
  std::vector<Straggler> found = job.stragglers.stragglers;
  std::erase_if(found, [](const Straggler& one) { return !one.significant; });
  return found;
}

/// Takes the pairs of which `same` is true out of both lists.
template <class Same>
void pair_up(std::vector<Straggler>& a,
             std::vector<Straggler>& b,
             StragglerChange change,
             Same same,
             std::vector<ComparedStraggler>& pairs) {
  std::erase_if(a, [&](const Straggler& of_a) {
    const auto found =
        std::ranges::find_if(b, [&](const Straggler& of_b) { return same(of_a, of_b); });
    if (found == b.end()) return false;
    pairs.push_back({change, of_a, *found});
    b.erase(found);
    return true;
  });
}

std::vector<ComparedStraggler> compared_stragglers(const Attribution& job_a,
                                                   const Attribution& job_b) {
  std::vector<Straggler> a = significant(job_a);
  std::vector<Straggler> b = significant(job_b);
  std::vector<ComparedStraggler> pairs;
  const auto same = [](const Straggler& x, const Straggler& y) {
    return x.level == y.level && x.rank == y.rank && x.members == y.members;
  };
  const auto like = [](const Straggler& x, const Straggler& y) {
    return x.level == y.level && x.cause == y.cause;
  };
  pair_up(a, b, StragglerChange::stayed, same, pairs);
  pair_up(a, b, StragglerChange::moved, like, pairs);
  for (const Straggler& one : b) pairs.push_back({StragglerChange::appeared, {}, one});
  // Of a rank that left no recording nothing is known.
  for (const Straggler& one : a)
    if (find_in(job_b.ledger, one.rank, &StepLedger::rank) != nullptr)
      pairs.push_back({StragglerChange::gone, one, {}});
  return pairs;
}
}  // namespace

double effective_steps(const std::vector<double>& steps) {
  const auto count = static_cast<double>(steps.size());
  const double lag1 = std::max(0.0, autocorrelation(steps).lag1);
  return std::max(std::min(2.0, count), count * (1.0 - lag1) / (1.0 + lag1));
}

Estimate<double> mean_of_steps(const std::vector<double>& steps, double mean) {
  Estimate<double> estimate{mean, std::nullopt, steps.size()};
  if (steps.size() < fewest_steps) return estimate;
  // A part that is 0 in every step has no relative deviation, and no other.
  const double deviation = mean > 0.0 ? relative_sd(steps).value_or(0.0) : 0.0;
  const double half = student_t_two_sided(confidence, static_cast<double>(steps.size()) - 1.0) *
                      deviation * mean / std::sqrt(effective_steps(steps));
  estimate.interval = Interval<double>{mean - half, mean + half};
  return estimate;
}

std::vector<Finding> step_warnings(const StepChoice& steps) {
  if (steps.limit == StepLimit::maybe_layers) return {{FindingId::layers_or_steps}};
  if (steps.limit == StepLimit::mostly_outside)
    return {{FindingId::little_in_steps, steps.outside}};
  return {};
}

std::vector<Figure> attribution_figures(const Attribution& job) {
  const std::optional<JobMeans> means = job_means(job.ledger);
  if (!means) return {};
  const std::vector<MeanLedger> steps = step_means(job, *means);
  std::vector<Figure> figures;
  const auto add = [&](Metric metric, const Setting& setting, double mean, auto time_of) {
    figures.push_back(
        {metric, setting, Basis::measured, mean_of_steps(mapped(steps, time_of), mean)});
  };
  add(Metric::step_time, {}, means->mean.step.mean, [](const MeanLedger& one) {
    return one.step.mean;
  });
  for (const Part part : recording_parts)
    if (means->mean.known(part))
      add(Metric::part_time,
          {{Parameter::part, part}},
          means->mean.part(part).mean,
          [part](const MeanLedger& one) { return one.part(part).mean; });
  double rank_steps = 0.0;
  for (const MeanLedger& rank : means->ranks) rank_steps += rank.steps;
  add_collectives(job, rank_steps, figures);
  for (const Straggler& one : significant(job))
    if (one.saved)
      figures.push_back({Metric::saved_time,
                         {{Parameter::rank, std::int64_t{one.rank.index}}},
                         Basis::predicted,
                         {in_seconds(*one.saved), std::nullopt, 1}});
  return figures;
}

std::optional<ClassShares> class_shares(const Attribution& job) {
  const auto means = job_means(job.ledger);
  if (!means) return std::nullopt;
  ClassShares shares = means->mean.compute_by_class;
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (!(all > 0.0)) return std::nullopt;
  for (double& share : shares) share /= all;
  return shares;
}

double common_share(const ClassShares& one, const ClassShares& other) {
  double common = 0.0;
  for (std::size_t i = 0; i < one.size(); ++i) common += std::min(one[i], other[i]);
  return common;
}

RecordingComparison compare_recordings(const Attribution& a,
                                       const Attribution& b,
                                       const std::array<std::string, 2>& names) {
  const auto of_a = figures_of(a, names[0]);
  const auto of_b = figures_of(b, names[1]);
  const Key step{Metric::step_time, {}};
  const double noise =
      presumed_recording_noise * std::max(of_a.at(step).value, of_b.at(step).value);
  RecordingComparison comparison;
  for (const auto& [key, value] : of_a) {
    const Estimate<double>* partner = value_at(of_b, key);
    const bool collective =
        key.first == Metric::collective_wait || key.first == Metric::collective_transfer;
    // Of collectives that one has not at all it takes no time; a part that is missing is unknown.
    if (partner == nullptr && !collective) continue;
    const ComparedTime one = compared(key, value, partner ? *partner : Estimate<double>{}, noise);
    if (key.first == Metric::step_time) comparison.step = one;
    if (one.a.value == 0.0 && one.b.value == 0.0) continue;
    if (key.first == Metric::part_time) comparison.parts.push_back(one);
    if (collective) comparison.collectives.push_back(one);
  }
  for (const auto& [key, value] : of_b)
    if (key.second.contains(Parameter::collective_kind) && !of_a.contains(key) && value.value > 0.0)
      comparison.collectives.push_back(compared(key, {}, value, noise));
  for (auto* list : {&comparison.parts, &comparison.collectives})
    std::ranges::stable_sort(*list, std::ranges::greater{}, [](const ComparedTime& one) {
      return std::abs(one.change.value);
    });
  comparison.stragglers = compared_stragglers(a, b);
  const auto compute_a = class_shares(a);
  const auto compute_b = class_shares(b);
  if (compute_a && compute_b) comparison.in_common = common_share(*compute_a, *compute_b);
  return comparison;
}
}  // namespace scaleworth::model
