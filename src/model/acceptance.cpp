// SPDX-License-Identifier: Apache-2.0
#include "src/model/acceptance.h"

#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"
#include "src/model/roofline.h"

#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double family_error = 0.05;  // chance that a healthy machine fails
// Of the wire's rate; published sweeps of healthy machines reach 76 to 96 % (docs/guide.md). Higher
// fails sound machines, lower passes those that lost a quarter of a link.
constexpr double least_of_rate = 0.7;

bool is_judged(const CheckedFigure& one) {
  return one.bound || one.figure.noise == NoiseBasis::repeats;
}

/// Chance of a gain this far below 1 where there is no difference.
double chance_of_loss(const CheckedFigure& one) {
  if (!is_judged(one)) return 1.0;
  const double log = std::log(one.figure.gain.value);
  if (!(one.figure.spread.variance > 0.0)) return log < 0.0 ? 0.0 : 1.0;
  return student_t_below(log / one.figure.error(), one.figure.spread.degrees);
}

/// Runs of each side with which a loss of the tolerance (of a bound, the distance from it) is seen
/// in four of five cases, at 5 % error: t of 95 % and of 80 %, one-sided, of the degrees of freedom
/// that those runs leave, or of the present ones where they are more.
std::optional<int> runs_needed(const CheckedFigure& one, double tolerance) {
  if (!is_judged(one) || !(one.figure.spread.variance > 0.0)) return std::nullopt;
  const double loss = one.bound ? std::log(one.figure.gain.value) : std::log1p(-tolerance);
  const double sides = one.bound ? 1.0 : 2.0;
  const auto needed = [&](double degrees) {
    const double reach = student_t_two_sided(0.9, degrees) + student_t_two_sided(0.6, degrees);
    return sides * one.figure.spread.variance * std::pow(reach / loss, 2.0);
  };
  constexpr int many = 1000;  // with more degrees of freedom t is the normal quantile
  int runs = std::max(2, saturated<int>(std::ceil(needed(many))));
  while (runs < many && runs < needed(std::max(one.figure.spread.degrees, sides * (runs - 1.0))))
    ++runs;
  return runs;
}

CheckStatus judge(const CheckedFigure& one, double tolerance, bool holds_among_all) {
  if (!is_judged(one)) return CheckStatus::cannot_tell;
  const double loss = 1.0 - one.figure.gain.value;
  if (holds_among_all && loss >= tolerance) return CheckStatus::fail;
  const bool within = one.figure.gain.low() > 1.0 - tolerance;
  // Of many figures some are worse by chance: what is not beyond that and within is no warning.
  if (chance_of_loss(one) < family_error && loss > 0.0 && (holds_among_all || !within))
    return CheckStatus::warn;
  return within ? CheckStatus::pass : CheckStatus::cannot_tell;
}

CheckResult check(std::vector<CheckedFigure> figures, double tolerance, std::size_t wrong_results) {
  std::ranges::stable_sort(figures, {}, chance_of_loss);
  // Holm: the k-th smallest chance is held against 5 % over the figures that are left.
  auto left = static_cast<double>(std::ranges::count_if(figures, is_judged));
  CheckResult result;
  result.wrong_results = wrong_results;
  result.measured_once = figures.size() - static_cast<std::size_t>(left);
  bool holds = true;
  for (CheckedFigure& one : figures) {
    holds = holds && chance_of_loss(one) < family_error / std::max(1.0, left--);
    one.beyond_chance = holds && one.figure.gain.value < 1.0;
    one.status = judge(one, tolerance, holds);
    if (one.status == CheckStatus::cannot_tell) one.runs_needed = runs_needed(one, tolerance);
  }
  for (const CheckStatus status :
       {CheckStatus::pass, CheckStatus::warn, CheckStatus::cannot_tell, CheckStatus::fail}) {
    const auto has = [&](const CheckedFigure& one) {
      return one.status == status && is_judged(one);
    };
    if (std::ranges::any_of(figures, has)) result.status = status;
  }
  if (wrong_results > 0) result.status = CheckStatus::fail;
  result.figures = std::move(figures);
  return result;
}

/// `figure`, of a run compared with itself, against the end of `bound` that is nearer.
CheckedFigure against(const Allowed& bound, const ComparedFigure& figure) {
  const double value = figure.b.value;
  const double least = bound.at_least ? value / *bound.at_least : INFINITY;
  const double most = bound.at_most ? *bound.at_most / value : INFINITY;
  CheckedFigure one{figure};
  one.bound = bound;
  one.figure.a = {least < most ? *bound.at_least : *bound.at_most, std::nullopt, 0};
  one.figure.gain.value = std::min(least, most);
  // Both sides hold the same repeats: half of them are news. A single value has the presumed noise.
  one.figure.spread.degrees /= 2.0;
  one.figure.error_of_one /= std::sqrt(2.0);
  if (figure.noise != NoiseBasis::repeats) {
    const double own = std::log(figure.b.high() / figure.b.low()) / (2.0 * normal_reach);
    one.figure.spread = {std::pow(std::hypot(own, presumed_run_noise), 2.0), 1e6};
    one.figure.error_of_one = 1.0;
  }
  set_interval(one.figure);
  return one;
}

bool is_within(const Setting& where, const Setting& setting) {
  Setting both = setting;
  both.set(where);
  return both == setting;
}

/// What of the rule's setting no figure of its metric has.
Setting lacking_of(const Allowed& rule, const std::vector<ComparedFigure>& figures) {
  Setting lacking;
  for (const auto& [parameter, value] : rule.where) {
    const Setting one{{parameter, value}};
    const auto has = [&](const ComparedFigure& figure) {
      return figure.metric == rule.metric && is_within(one, figure.setting);
    };
    if (std::ranges::none_of(figures, has)) lacking.set(parameter, value);
  }
  return lacking;
}

/// What must leave or enter the busiest port, of a rank or of one of several nodes, over what busbw
/// counts.
double fewest_bytes(Collective collective, double ranks, double nodes) {
  const double k = nodes > 1.0 ? nodes : ranks;
  const double each = ranks / k;
  const double ring = bus_factor(collective, static_cast<int>(ranks));
  switch (collective) {
    case Collective::all_reduce:
      return std::min(2.0 * (k - 1.0) / k, 1.0 + 1.0 / k) / ring;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return (k - 1.0) / k / ring;
    case Collective::all_to_all:
      return each * (ranks - each) / ranks / ring;
    default:
      return 1.0;
  }
}

/// What physics allows one figure; absent without its link.
std::optional<Allowed> bound_of(const ComparedFigure& figure, const std::vector<LinkRate>& links) {
  const Setting& at = figure.setting;
  const auto of = [&](Wire wire) { return find_in(links, wire, &LinkRate::wire); };
  // A forced way and a pair of ranks may use a part of the links.
  const bool part = !at.text(Parameter::algorithm).empty() || at.contains(Parameter::link);
  const LinkRate* link = nullptr;
  double fewest = 1.0;
  // Without a switch the NVLinks of a GPU go to several others, as six do in a mesh of V100s.
  constexpr double fewest_to_switch = 12.0;
  bool shared_out = false;
  if (figure.metric == Metric::transfer_bandwidth && !at.flag(Parameter::both_directions)) {
    const MemoryPlace source = at.place(Parameter::source);
    const MemoryPlace target = at.place(Parameter::target);
    const auto [near, far] = std::minmax({source.kind, target.kind});
    const bool pair = far == TransferEnd::gpu && source != target;  // not within one memory
    if (near == TransferEnd::gpu && far == TransferEnd::host_pinned) link = of(Wire::pcie);
    if (pair) link = of(Wire::nvlink) ? of(Wire::nvlink) : of(Wire::pcie);
    shared_out = pair && link && link->wire == Wire::nvlink && link->count < fewest_to_switch;
  } else if (figure.metric == Metric::largest_bus_bandwidth && !part) {
    const auto ranks = static_cast<double>(*at.count(Parameter::ranks));
    const auto nodes = static_cast<double>(at.count(Parameter::nodes).value_or(1));
    link = nodes > 1.0 ? of(Wire::network) : of(Wire::nvlink) ? of(Wire::nvlink) : of(Wire::pcie);
    fewest = fewest_bytes(*at.symbol<Collective>(Parameter::collective), ranks, nodes);
  }
  if (link == nullptr) return std::nullopt;
  const double rate = link->count * link->each.value();
  const double least = least_of_rate * rate / std::max(1.0, fewest);
  return Allowed{
      figure.metric, at, shared_out ? std::nullopt : std::optional(least), rate / fewest, *link};
}
}  // namespace

std::vector<LinkRate> detected_links(const Run& run) {
  const auto fact = [&](const char* name) { return number_fact(run, "gpu 0", name).value_or(0.0); };
  const LinkRate nvlink{Wire::nvlink, fact("nvlinks"), BytesPerSecond(fact("nvlink_bytes_per_s"))};
  const LinkRate pcie{
      Wire::pcie, fact("pcie_width"), link_rate(Wire::pcie, fact("pcie_generation"))};
  std::vector<LinkRate> links{nvlink, pcie};
  std::erase_if(links, [](const LinkRate& one) { return !(one.count * one.each.value() > 0.0); });
  return links;
}

BytesPerSecond link_rate(Wire wire, double stated) {
  // GB/s of a link and direction by generation; GT/s of a PCIe lane.
  constexpr std::array nvlink{20.0, 25.0, 25.0, 25.0, 50.0};
  constexpr std::array gigatransfers{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
  const auto of = [&](const auto& generations, double share) {
    const bool known = stated >= 1.0 && stated <= static_cast<double>(generations.size());
    return known ? 1e9 * share * generations[static_cast<std::size_t>(stated) - 1] : 0.0;
  };
  if (wire == Wire::nvlink) return BytesPerSecond(of(nvlink, 1.0));
  if (wire == Wire::network) return BytesPerSecond(stated * 1e9 / 8.0);
  // Bits of data among those on the wire: 8b/10b, 128b/130b, and from PCIe 6.0 FLITs of 256 bytes.
  const double coded = stated < 3.0 ? 8.0 / 10.0 : stated < 6.0 ? 128.0 / 130.0 : 236.0 / 256.0;
  return BytesPerSecond(of(gigatransfers, coded / 8.0));
}

std::vector<Allowed> envelope(const Comparison& itself, const std::vector<LinkRate>& links) {
  std::vector<Allowed> bounds;
  for (const ComparedFigure& figure : judged(itself))
    if (auto bound = bound_of(figure, links)) bounds.push_back(std::move(*bound));
  return bounds;
}

CheckResult check(const Comparison& comparison, double tolerance, std::size_t wrong_results) {
  const auto one = [](const ComparedFigure& figure) { return CheckedFigure{figure}; };
  return check(mapped(judged(comparison), one), tolerance, wrong_results);
}

CheckResult check(const Comparison& itself,
                  const std::vector<Allowed>& bounds,
                  std::size_t wrong_results) {
  std::vector<ComparedFigure> figures = judged(itself);
  std::erase_if(figures, [](const auto& one) { return one.metric == Metric::bus_bandwidth; });
  for (const ComparedSweep& sweep : itself.sweeps)
    figures.insert(figures.end(), sweep.sizes.begin(), sweep.sizes.end());
  std::vector<CheckedFigure> checked;
  std::vector<UnmetRule> unmet;
  for (const Allowed& bound : bounds) {
    const std::size_t before = checked.size();
    for (const ComparedFigure& figure : figures)
      if (figure.metric == bound.metric && is_within(bound.where, figure.setting))
        checked.push_back(against(bound, figure));
    if (checked.size() == before) unmet.push_back({bound, lacking_of(bound, figures)});
  }
  CheckResult result = check(std::move(checked), 0.0, wrong_results);
  result.unmet = std::move(unmet);
  if (!result.unmet.empty() && result.status != CheckStatus::fail)
    result.status = CheckStatus::cannot_tell;
  return result;
}
}  // namespace scaleworth::model
