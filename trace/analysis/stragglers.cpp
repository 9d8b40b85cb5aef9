// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/stragglers.h"

#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/straggler_parts.h"

#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using attribution::CauseShare;
using attribution::LateCause;
using attribution::Recurrence;
using attribution::StepLedger;
using attribution::Straggler;
using attribution::StragglerFinding;
using attribution::StragglerReport;

std::string three_digits(double value) {
  const int decimals = std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string share_in_words(const CauseShare& share, nanoseconds sum) {
  // Above 100 % other parts were shorter than the median rank's: nothing else is to explain.
  const double percent = std::min(100.0, 100.0 * in_ns(share.time) / in_ns(sum));
  std::string text = fmt::format("{:.0f} % {}", percent, attribution::late_cause_name(share.cause));
  if (!share.detail.empty()) text += fmt::format(" ({})", share.detail);
  return text;
}

std::string cause_in_words(const Straggler& straggler) {
  nanoseconds sum{};
  for (const CauseShare& share : straggler.shares) add_bounded(sum, share.time);
  if (sum <= nanoseconds::zero())
    return "Why is not recorded: it has no earlier collective to compare from.";
  if (straggler.cause != LateCause::undecided)
    return fmt::format("Cause: {}.", share_in_words(straggler.shares.front(), sum));
  std::string text = "No single cause explains 80 %:";
  constexpr std::size_t shown = 3;
  // Smaller than that is noise of the comparison.
  const nanoseconds least = sum / 50;
  for (std::size_t i = 0; i < straggler.shares.size() && i < shown; ++i)
    if (straggler.shares[i].time >= least)
      text += (i == 0 ? " " : ", ") + share_in_words(straggler.shares[i], sum);
  return text + ".";
}

/// Whether the ranks of a pipeline take turns: at least a tenth of all waiting is at messages from
/// one rank to another. Such waiting no rank causes, and the first stage comes last at the end of a
/// step however fast it is.
bool takes_turns(const Waits& waits) {
  constexpr double least_at_messages = 0.1;
  double all = 0.0;
  double at_messages = 0.0;
  for (const attribution::CollectiveWait& one : waits.collectives) {
    double wait = 0.0;
    for (const auto& participant : one.participants) wait += in_ns(participant.wait);
    all += wait;
    if (one.sender) at_messages += wait;
  }
  return all > 0.0 && at_messages / all >= least_at_messages;
}

/// Where turns are taken, leaves to a rank in a step at most what it worked longer than the median
/// rank, for each of the others: whoever works no longer does not hold them up. Returns what was
/// taken off all ranks, in ns.
double take_off_turns(const CountedSteps& steps,
                      const std::vector<StepLedger>& ledger,
                      Charges& charges) {
  std::map<std::int32_t, std::vector<double>> work;  // in ns by step number, then rank
  for (const StepLedger& step : ledger) {
    if (!steps.counts(step.excluded)) continue;
    std::vector<double>& by_rank = work[step.step];
    by_rank.resize(charges.cost.size());
    for (const Part part : own_parts)
      by_rank.at(static_cast<std::size_t>(step.rank.index)) += in_ns(step.part(part));
  }
  double taken_off = 0.0;
  std::ranges::fill(charges.cost, 0.0);
  for (auto& [number, costs] : charges.by_step) {
    std::vector<double>& by_rank = work[number];
    by_rank.resize(costs.size());
    const double usual = median(by_rank).value_or(0.0);
    for (std::size_t rank = 0; rank < costs.size(); ++rank) {
      const double most =
          std::max(0.0, by_rank[rank] - usual) * static_cast<double>(costs.size() - 1);
      taken_off += std::max(0.0, costs[rank] - most);
      costs[rank] = std::min(costs[rank], most);
      charges.cost[rank] += costs[rank];
    }
  }
  return taken_off;
}

/// Whether a rank's whole pipeline stage computes longer than the others.
class PipelineStages {
 public:
  /// By rank: those with equal numbers are replicas of a stage; without pipeline stages each rank
  /// is alone.
  std::vector<std::uint32_t> units;
  std::uint32_t unit_count = 0;

  PipelineStages(const Job& job, const CountedSteps& steps, const std::vector<StepLedger>& ledger)
      : job_(job), compute_(job.recordings.size()) {
    for (const StepLedger& step : ledger)
      if (steps.counts(step.excluded))
        compute_.at(static_cast<std::size_t>(step.rank.index)) += in_ns(step.part(Part::compute));
    median_ = median(compute_).value_or(0.0);
    std::map<std::int64_t, std::uint32_t> numbers;
    for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
      const auto& stage = job.recordings[rank].origin.pipeline_stage;
      const std::int64_t key = stage ? std::int64_t{*stage} : -1 - static_cast<std::int64_t>(rank);
      units.push_back(
          numbers.emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    unit_count = static_cast<std::uint32_t>(numbers.size());
  }

  /// The stage of `rank` and how much longer it computes, when every one of its replicas, at least
  /// two, computes longer than the median rank by 5 % or more, and by at least half of what `rank`
  /// does; else absent.
  std::optional<std::string> uneven(std::uint32_t rank) const {
    const auto& stage = job_.recordings[rank].origin.pipeline_stage;
    const double excess = compute_[rank] - median_;
    if (!stage || median_ <= 0.0 || excess < 0.05 * median_) return std::nullopt;
    int replicas = 0;
    for (std::uint32_t other = 0; other < units.size(); ++other) {
      if (units[other] != units[rank]) continue;
      ++replicas;
      const double own = compute_[other] - median_;
      if (own < 0.05 * median_ || own < 0.5 * excess) return std::nullopt;
    }
    if (replicas < 2) return std::nullopt;
    return fmt::format(
        "stage {} computes {:.2f} times as long as the median rank, on all of its {} replicas",
        *stage,
        compute_[rank] / median_,
        replicas);
  }

 private:
  const Job& job_;
  std::vector<double> compute_;  // ns, by rank, over the steps that count
  double median_ = 0.0;
};

/// Shares of all GPU time from which on a late rank is named: one that recurs stands out from
/// chance however cheap it is, one that costs several times as much as any other nearly so; without
/// that, noise of kernels alone costs 1 or 2 %.
constexpr double least_recurring = 0.005;
constexpr double least_outstanding = 0.01;
constexpr double outstanding = 3.0;
constexpr double least_total_otherwise = 0.05;
constexpr double least_without_chance = 0.02;

class Investigation {
 public:
  Investigation(const Job& job,
                const StepPlan& plan,
                const Waits& waits,
                const Alignment& alignment,
                const std::vector<attribution::StepLedger>& ledger)
      : job_(job),
        numbers_(job),
        alignment_(alignment),
        waits_(waits),
        steps_(plan),
        stages_(job, steps_, ledger),
        takes_turns_(takes_turns(waits)) {
    std::vector<IntervalSet> computing;
    for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
      computing.push_back(compute_intervals(RankView(job.recordings[rank], alignment.map, rank)));
    found_ = find_delays(steps_, waits, computing, ledger);
    excess_ = measure_excess(job, waits, alignment.map, computing, found_.delays);
    charges_ = charge_delays(found_.delays, excess_.by_delay, job.recordings.size());
    if (takes_turns_) compare_steps(steps_, ledger, excess_.by_rank);
    if (takes_turns_) bubble_ = take_off_turns(steps_, ledger, charges_);
  }

  StragglerReport report() {
    StragglerReport report = std::move(found_.matrices);
    const RecurrenceCount recurrence = count_recurrence(charges_.by_step,
                                                        stages_.units,
                                                        stages_.unit_count,
                                                        steps_.numbers,
                                                        0.005 * step_gpu_time());
    report.recurrence = recurrence.recurrence;
    for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank)
      if (is_named(rank, recurrence))
        report.stragglers.push_back(describe(rank, recurrence, report));
    std::ranges::stable_sort(report.stragglers, std::ranges::greater{}, &Straggler::gpu_seconds);
    report.finding = StragglerFinding::named;
    if (report.stragglers.empty())
      std::tie(report.finding, report.abstention) = no_straggler_reason();
    return report;
  }

 private:
  /// Nanoseconds of all GPUs in a mean step.
  double step_gpu_time() const {
    return in_ns(steps_.mean_length) * static_cast<double>(job_.recordings.size());
  }
  double lost(double cost) const {
    const double all = step_gpu_time() * steps_.numbers;
    return all > 0.0 ? cost / all : 0.0;
  }
  double lost_in_total() const {
    return lost(std::accumulate(charges_.cost.begin(), charges_.cost.end(), 0.0));
  }

  bool is_named(std::uint32_t rank, const RecurrenceCount& recurrence) const {
    const double own = lost(charges_.cost[rank]);
    if (recurrence.unit == stages_.units[rank])
      return own >= (recurrence.beyond_chance ? least_recurring : least_without_chance);
    if (recurrence.recurrence == Recurrence::one_rank) return own >= least_total_otherwise;
    if (recurrence.recurrence == Recurrence::too_few) return own >= least_without_chance;
    if (own >= least_outstanding && stands_out(rank)) return true;
    return lost_in_total() >= least_total_otherwise &&
           own >= lost_in_total() / (2.0 * static_cast<double>(job_.recordings.size()));
  }

  bool stands_out(std::uint32_t rank) const {
    for (std::uint32_t other = 0; other < charges_.cost.size(); ++other)
      if (other != rank && charges_.cost[rank] < outstanding * charges_.cost[other]) return false;
    return true;
  }

  Straggler describe(std::uint32_t rank,
                     const RecurrenceCount& recurrence,
                     const StragglerReport& report) const {
    Straggler straggler;
    straggler.rank = Rank{static_cast<int>(rank)};
    for (std::size_t waiting = 0; waiting < report.total.size(); ++waiting) {
      add_bounded(straggler.waited, report.total[waiting][rank]);
      add_bounded(straggler.exposed, report.exposed[waiting][rank]);
    }
    straggler.collectives = std::ranges::count(found_.delays, rank, &Delay::late);
    const Excess& sum = excess_.by_rank[rank];
    const double others = std::max(1.0, static_cast<double>(job_.recordings.size()) - 1.0);
    straggler.exposed_per_step_ms =
        charges_.cost[rank] / others / std::max(1, steps_.numbers) / 1e6;
    straggler.gpu_seconds = charges_.cost[rank] / 1e9;
    straggler.steps = recurrence.by_rank[rank];
    straggler.significant = straggler.waited / std::max<std::int64_t>(1, straggler.collectives) >
                            alignment_.report.error;
    straggler.shares = cause_shares(sum, stages_.uneven(rank), numbers_);
    if (dropped_records(job_.recordings[rank]))
      straggler.shares = {{LateCause::undecided,
                           sum.total(),
                           "its recording dropped records: what it did is not known whole"}};
    straggler.cause = named_cause(straggler.shares);
    straggler.sentence = sentence(rank, straggler);
    return straggler;
  }

  /// What the straggler costs, how often, and why.
  std::string sentence(std::uint32_t rank, const Straggler& straggler) const {
    const auto ranks = static_cast<double>(job_.recordings.size());
    const double run_seconds = in_ns(steps_.mean_length) / 1e9 * steps_.numbers * ranks;
    const double lost_share = run_seconds > 0.0 ? straggler.gpu_seconds / run_seconds : 0.0;
    const auto& stage = job_.recordings[rank].origin.pipeline_stage;
    std::string text = fmt::format(
        "Rank {}{} keeps the other GPUs waiting {} per step on average, {:.1f} % of all GPU time: "
        "{} GPU-hours in every hour of the job. It is the largest cause in {} of {} step{}. {}",
        numbers_.at(rank).index,
        stage ? fmt::format(" (pipeline stage {})", *stage) : "",
        time_in_words(nanoseconds(std::llround(straggler.exposed_per_step_ms * 1e6))),
        100.0 * lost_share,
        three_digits(lost_share * std::max(ranks, static_cast<double>(job_size(job_).at_least))),
        straggler.steps,
        steps_.numbers,
        steps_.numbers == 1 ? "" : "s",
        cause_in_words(straggler));
    if (stages_.uneven(rank)) {
      double cost = 0.0;  // of all replicas
      for (std::uint32_t other = 0; other < charges_.cost.size(); ++other)
        if (stages_.units[other] == stages_.units[rank]) cost += charges_.cost[other];
      text += fmt::format(
          " All replicas of the stage together cost {:.1f} % of all GPU time: the model is cut "
          "unevenly, no single GPU is to blame.",
          100.0 * lost(cost));
    }
    if (steps_.all_are_excluded)
      text += fmt::format(
          " No step of the recording is fit for averages ({}): this is "
          "what happened here, not the steady state.",
          steps_.reason);
    return text;
  }

  std::pair<StragglerFinding, std::string> no_straggler_reason() const {
    using enum StragglerFinding;
    if (waits_.collectives.empty())
      return {no_verdict,
              "no verdict: the recordings share no communication in which ranks could be compared"};
    if (found_.largest_wait <= alignment_.report.error)
      return {no_straggler,
              fmt::format("no straggler: the largest lateness, {}, is below the clock error of {}",
                          time_in_words(found_.largest_wait),
                          time_in_words(alignment_.report.error))};
    if (!alignment_.report.comparable)
      return {no_verdict, "no verdict: " + alignment_.report.reason};
    if (steps_.numbers == 0) return {no_verdict, "no verdict: no step was found"};
    if (lost(bubble_) > lost_in_total())
      return {no_straggler,
              fmt::format(
                  "no straggler: the ranks of a pipeline wait for their turns (its bubble), which "
                  "costs {:.1f} % of the GPUs' time, and none works longer than the others",
                  100.0 * lost(bubble_))};
    return {no_straggler,
            fmt::format("no straggler: waiting for late ranks costs {:.1f} % of the GPUs' time, "
                        "and no rank stands out",
                        100.0 * lost_in_total())};
  }

  const Job& job_;
  RankNumbers numbers_;
  const Alignment& alignment_;
  const Waits& waits_;
  CountedSteps steps_;
  PipelineStages stages_;
  bool takes_turns_ = false;
  Delays found_;
  Excesses excess_;
  Charges charges_;
  double bubble_ = 0.0;  // ns of waiting that is a pipeline's own, charged to no rank
};
}  // namespace

StragglerReport find_stragglers(const Job& job,
                                const StepPlan& steps,
                                const Waits& waits,
                                const Alignment& alignment,
                                const std::vector<attribution::StepLedger>& ledger) {
  if (job.recordings.size() < 2) {
    StragglerReport report;
    report.exposed.assign(job.recordings.size(), std::vector<nanoseconds>(job.recordings.size()));
    report.total = report.exposed;
    report.abstention =
        job_size(job).at_least > 1
            ? "no verdict: whom this rank waited for, its recording alone cannot say"
            : "one rank alone waits for no other";
    return report;
  }
  return Investigation(job, steps, waits, alignment, ledger).report();
}

std::string time_in_words(nanoseconds time) {
  const auto value = in_ns(time);
  if (std::abs(value) >= 1e9) return three_digits(value / 1e9) + " s";
  if (std::abs(value) >= 1e6) return three_digits(value / 1e6) + " ms";
  if (std::abs(value) >= 1e3) return three_digits(value / 1e3) + " us";
  return fmt::format("{} ns", time.count());
}

double binomial_tail(std::int32_t hits, std::int32_t trials, double chance) {
  if (hits <= 0 || chance >= 1.0) return 1.0;
  if (chance <= 0.0) return 0.0;
  double tail = 0.0;
  for (std::int32_t k = hits; k <= trials; ++k)
    tail +=
        std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                 k * std::log(chance) + (trials - k) * std::log1p(-chance));
  return std::min(tail, 1.0);
}

RecurrenceCount count_recurrence(const std::map<std::int32_t, std::vector<double>>& cost,
                                 const std::vector<std::uint32_t>& units,
                                 std::uint32_t unit_count,
                                 std::int32_t steps,
                                 double threshold) {
  constexpr std::int32_t fewest_steps = 3;
  constexpr double most = 0.6;
  constexpr double unlikely = 1e-3;
  RecurrenceCount count;
  count.by_rank.resize(units.size());
  std::vector<std::int32_t> by_unit(unit_count);
  for (const auto& [step, by_rank] : cost) {
    std::vector<double> of_units(unit_count);
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      of_units[units[rank]] += by_rank[rank];
    const auto unit = std::ranges::max_element(of_units);
    if (unit == of_units.end() || *unit < threshold || *unit <= 0.0) continue;
    ++by_unit[static_cast<std::size_t>(unit - of_units.begin())];
    const auto rank = std::ranges::max_element(by_rank);
    ++count.by_rank[static_cast<std::size_t>(rank - by_rank.begin())];
  }
  if (steps < fewest_steps || by_unit.empty()) return count;
  const auto top = std::ranges::max_element(by_unit);
  count.beyond_chance = binomial_tail(*top, steps, 1.0 / unit_count) * unit_count < unlikely;
  const bool recurs = *top == steps || (*top >= most * steps && count.beyond_chance);
  count.recurrence = recurs ? Recurrence::one_rank : Recurrence::rotating;
  if (recurs) count.unit = static_cast<std::uint32_t>(top - by_unit.begin());
  return count;
}
}  // namespace scaleworth::trace
