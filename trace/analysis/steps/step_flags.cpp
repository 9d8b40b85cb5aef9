// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps/step_flags.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

constexpr std::size_t least_for_warm_up = 5;
constexpr double slower_by = 0.2;
constexpr double spreads = 5.0;
constexpr double normal_consistency = 1.4826;  // of the median absolute deviation

/// The steps of one number, over all ranks.
struct Iteration {
  std::int32_t number = 0;
  std::vector<StepSpan*> steps;
  std::string reason;

  double length() const {
    double longest = 0.0;
    for (const StepSpan* step : steps)
      longest = std::max(longest, static_cast<double>((step->end - step->start).count()));
    return longest;
  }

  template <class Time>
  double spread(Time time) const {
    const auto [first, last] =
        std::minmax_element(steps.begin(), steps.end(), [&](const StepSpan* a, const StepSpan* b) {
          return time(*a) < time(*b);
        });
    return static_cast<double>(time(**last).count()) - static_cast<double>(time(**first).count());
  }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Iteration> iterations(std::vector<std::vector<StepSpan>>& by_rank) {
  std::map<std::int32_t, Iteration> by_number;
  for (auto& steps : by_rank) {
    for (StepSpan& step : steps) by_number[step.number].steps.push_back(&step);
  }
  std::vector<Iteration> result;
  for (auto& [number, iteration] : by_number) {
    iteration.number = number;
    result.push_back(std::move(iteration));
  }
  return result;
}

/// Ranks that begin a step far apart and end it together did not all record its beginning.
std::string spread_remark(const Iteration& iteration) {
  const double begins = iteration.spread([](const StepSpan& step) { return step.start; });
  const double ends = iteration.spread([](const StepSpan& step) { return step.end; });
  if (begins <= 2.0 * ends || begins < 0.05 * iteration.length()) return {};
  return fmt::format(
      "; the ranks begin it within {:.1f} ms and end it within {:.1f} ms, as when profiling starts "
      "in its midst",
      begins / 1e6,
      ends / 1e6);
}

/// Numbers that are some rank's first or last: its recording begins or ends there.
struct Ends {
  std::set<std::int32_t> first;
  std::set<std::int32_t> last;
};

Ends ends_of_ranks(const std::vector<std::vector<StepSpan>>& by_rank) {
  Ends ends;
  for (const auto& steps : by_rank) {
    if (steps.empty()) continue;
    ends.first.insert(steps.front().number);
    ends.last.insert(steps.back().number);
  }
  return ends;
}

std::string boundary_reason(const Iteration& one, const Ends& ends, std::size_t ranks) {
  const bool first = ends.first.contains(one.number);
  const bool last = ends.last.contains(one.number);
  if (first && last) return "boundary: the only step of a rank's recording" + spread_remark(one);
  if (first) return "boundary: the first step of a rank's recording" + spread_remark(one);
  if (last) return "boundary: the last step of a rank's recording";
  if (one.steps.size() < ranks)
    return fmt::format("boundary: recorded on {} of {} ranks only", one.steps.size(), ranks);
  return {};
}

void flag_boundaries(std::vector<Iteration>& all, const Ends& ends, std::size_t ranks) {
  for (Iteration& one : all) one.reason = boundary_reason(one, ends, ranks);
}

void flag_pauses(std::vector<Iteration>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (std::int64_t{all[i].number} - std::int64_t{all[i - 1].number} == 1) continue;
    if (all[i - 1].reason.empty())
      all[i - 1].reason = "boundary: the last step before a pause of the recording";
    if (all[i].reason.empty())
      all[i].reason = "boundary: the first step after a pause of the recording";
  }
}

void flag_warm_up(std::vector<Iteration>& all) {
  std::vector<Iteration*> steady;
  for (Iteration& one : all) {
    if (one.reason.empty()) steady.push_back(&one);
  }
  if (steady.size() < least_for_warm_up) return;
  std::vector<double> later;
  for (std::size_t i = steady.size() / 2; i < steady.size(); ++i)
    later.push_back(steady[i]->length());
  const double usual = median(later);
  for (double& length : later) length = std::abs(length - usual);
  const double spread = normal_consistency * median(later);
  for (std::size_t i = 0; i < steady.size() / 2; ++i) {
    const double excess = steady[i]->length() - usual;
    if (excess <= std::max(slower_by * usual, spreads * spread)) break;
    steady[i]->reason = fmt::format("warm-up: takes {:.0f} % longer than the later steps",
                                    100.0 * excess / std::max(usual, 1.0));
  }
}

}  // namespace

FlagCounts flag_steps(std::vector<std::vector<StepSpan>>& by_rank, bool whole) {
  std::vector<Iteration> all = iterations(by_rank);
  const auto ranks = std::count_if(
      by_rank.begin(), by_rank.end(), [](const auto& steps) { return !steps.empty(); });
  flag_boundaries(all, ends_of_ranks(by_rank), static_cast<std::size_t>(ranks));
  if (!whole) flag_pauses(all);
  flag_warm_up(all);
  FlagCounts counts;
  for (const Iteration& one : all) {
    ++counts.steps;
    if (!one.reason.empty()) ++counts.excluded;
    for (StepSpan* step : one.steps) step->excluded = one.reason;
  }
  return counts;
}

}  // namespace scaleworth::trace
