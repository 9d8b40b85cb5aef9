// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/stragglers.h"

#include "src/core/mean_ledger.h"
#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/straggler_parts.h"

#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

namespace scaleworth::trace {
namespace {

/// Whether the ranks of a pipeline take turns: at least a tenth of all waiting is at messages from
/// one rank to another. Such waiting no rank causes, and the first stage comes last at the end of a
/// step however fast it is.
bool takes_turns(const Waits& waits) {
  constexpr double least_at_messages = 0.1;  // less is checkpoints and logging; presumed
  double all = 0.0;
  double at_messages = 0.0;
  for (const CollectiveWait& one : waits.collectives) {
    double wait = 0.0;
    for (const auto& participant : one.participants) wait += in_ns(participant.wait);
    all += wait;
    if (one.sender) at_messages += wait;
  }
  return all > 0.0 && at_messages / all >= least_at_messages;
}

/// `ledger` without the host late that comes with calls of communication, as long as the median
/// rank's for each call: a stage in the midst of a pipeline makes twice as many as one at its end,
/// and is not late for that.
std::vector<StepLedger> without_calls(const CountedSteps& steps,
                                      const Waits& waits,
                                      std::vector<StepLedger> ledger) {
  const std::size_t ranks = waits.by_rank.size();
  std::vector<double> calls(ranks);
  std::vector<double> late(ranks);  // ns
  std::vector<double> counted(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const CommunicationSplit& split : waits.by_rank[rank])
      calls[rank] += steps.at(rank, split.end) != nullptr ? 1.0 : 0.0;
  for (const StepLedger& one : ledger) {
    if (!steps.counts(one.excluded)) continue;
    late[one.place.index] += in_ns(one.part(Part::host_late));
    counted[one.place.index] += 1.0;
  }
  std::vector<double> per_call;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (calls[rank] > 0.0) per_call.push_back(late[rank] / calls[rank]);
  if (per_call.empty()) return ledger;
  const auto middle = per_call.begin() + (std::ssize(per_call) - 1) / 2;
  std::ranges::nth_element(per_call, middle);
  for (StepLedger& one : ledger) {
    const std::size_t rank = one.place.index;
    const double whole = in_ns(one.part(Part::host_late));
    if (counted[rank] == 0.0 || whole <= 0.0) continue;
    const double left = std::max(0.0, 1.0 - *middle * calls[rank] / counted[rank] / whole);
    const auto reduce = [left](nanoseconds& time) { time = rounded_ns(in_ns(time) * left); };
    reduce(one.part(Part::host_late));
    for (nanoseconds& time : one.host_late_by_cause) reduce(time);
  }
  return ledger;
}

/// Where turns are taken, leaves to a rank in a step at most what it worked longer than the median
/// rank, for each of the others: whoever works no longer does not hold them up. Returns what was
/// taken off all ranks, in ns.
double cap_pipeline_wait(const CountedSteps& steps,
                         const std::vector<StepLedger>& ledger,
                         Charges& charges) {
  std::map<std::int32_t, std::vector<double>> work;  // in ns by step number, then rank
  for (const StepLedger& step : ledger) {
    if (!steps.counts(step.excluded)) continue;
    std::vector<double>& by_rank = work[step.step];
    by_rank.resize(charges.cost.size());
    for (const Part part : own_parts) by_rank.at(step.place.index) += in_ns(step.part(part));
  }
  double taken_off = 0.0;
  const std::vector<double> before = std::exchange(charges.cost, {});
  charges.cost.resize(before.size());
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
  for (SparseTimes<double>& row : charges.root_cause)
    row.transform([&](Place late, double time) {
      const double old = before[late.index];
      return old > 0.0 ? time * (charges.cost[late.index] / old) : time;
    });
  return taken_off;
}

/// Shares of all GPU time from which on a late rank is named: one that recurs stands out from
/// chance however cheap it is, one that costs several times as much as any other nearly so; without
/// that, noise of kernels alone costs 1 or 2 %.
constexpr double least_recurring = 0.005;
constexpr double least_outstanding = 0.01;  // as much as noise alone, by one that stands out
constexpr double outstanding = 3.0;  // times the next; presumed: lower names one of several alike
constexpr double least_total_otherwise = 0.05;  // well above the noise of 1 or 2 %
constexpr double least_without_chance = 0.02;   // too few steps to tell chance: above that noise

class Investigation {
 public:
  Investigation(const JobReplay& replay,
                const std::vector<StepLedger>& ledger,
                const HostTimes& host)
      : host_(host),
        replay_(replay),
        job_(replay.job),
        numbers_(job_),
        alignment_(replay.alignment),
        waits_(replay.waits),
        steps_(replay.steps),
        takes_turns_(takes_turns(waits_)) {
    const std::vector<IntervalSet> computing = compute_intervals(job_, alignment_.map);
    found_ = find_delays(steps_, waits_, computing, ledger);
    lateness_.resize(job_.recordings.size());
    for (const auto& row : found_.total)
      for (const auto& [late, time] : row) add_bounded(lateness_[late.index].waited, time);
    for (const auto& row : found_.exposed)
      for (const auto& [late, time] : row) add_bounded(lateness_[late.index].exposed, time);
    for (const Delay& delay : found_.delays) ++lateness_[delay.late.index].collectives;
    excess_ = measure_excess(job_, waits_, alignment_.map, computing, found_.delays);
    charges_ = charge_delays(found_.delays, excess_.by_delay, job_.recordings.size());
    if (takes_turns_) {
      const std::vector<StepLedger> own = without_calls(steps_, waits_, ledger);
      compare_steps(steps_, own, excess_.by_rank);
      bubble_ = cap_pipeline_wait(steps_, own, charges_);
    }
    for (const StepLedger& step : ledger) {
      if (!steps_.counts(step.excluded)) continue;
      // Where clocks do not compare, all communication may be waiting.
      undivided_[step.place] += in_ns(alignment_.report.comparable
                                          ? step.part(Part::exposed_undivided)
                                          : step.communication - step.overlapped_transfer -
                                                step.overlapped_wait - step.overlapped_undivided);
      for (auto* by_step : {&compute_, &host_late_})
        (*by_step)[step.step].resize(job_.recordings.size());
      compute_[step.step].at(step.place.index) = in_ns(step.part(Part::compute));
      host_late_[step.step].at(step.place.index) = in_ns(step.part(Part::host_late));
    }
    if (!takes_turns_ && !waits_.collectives.empty()) find_pauses();
  }

  StragglerReport report() {
    StragglerReport report;
    report.pairs = pairs();
    const double least = least_recurring * step_gpu_time();
    const RecurrenceCount recurrence =
        count_recurrence(charges_.by_step, job_.recordings.size(), steps_.numbers, least);
    report.recurrence = recurrence.recurrence;
    std::vector<Straggler>& named = report.stragglers;
    std::vector<const SlowUnit*> unit_of(job_.recordings.size());  // by rank
    for (const SlowUnit& unit : replay_.slow_units)
      for (const Place member : unit.members) unit_of[member.index] = &unit;
    std::vector<Straggler> others = late_ranks(recurrence, unit_of, named);
    if (replay_.rotating_load && !waits_.collectives.empty()) named.push_back(rotating_load());
    settle(report);
    // What a unit or a rotating load makes others wait for, they explain.
    double known = 0.0;
    for (const Straggler& one : named) known += one.gpu_seconds;
    for (Straggler& one : others)
      if (known == 0.0 || one.gpu_seconds > known ||
          (is_other_cause(one.cause) && lost(one.gpu_seconds * 1e9) >= least_recurring))
        named.push_back(std::move(one));
    settle(report);
    std::ranges::stable_sort(named, std::ranges::greater{}, &Straggler::gpu_seconds);
    report.finding = StragglerFinding::named;
    if (bubble_ > 0.0) report.taking_turns = lost(bubble_);
    if (named.empty()) {
      report.abstention = abstention();
      report.finding = report.abstention->id == FindingId::no_verdict
                           ? StragglerFinding::no_verdict
                           : StragglerFinding::no_straggler;
    }
    if (!named.empty() && is_unit(named.front()) && steps_.numbers >= 3) {
      const Straggler& first = named.front();
      const SlowUnit* unit = unit_of[numbers_.place_of(first.rank).value().index];
      // 60 %, see stragglers.h.
      const bool recurs = 5 * first.steps >= 3 * steps_.numbers || (unit && unit->in_some_pieces);
      report.recurrence =
          first.level != LateUnit::rotating && recurs ? Recurrence::one_rank : Recurrence::rotating;
    }
    return report;
  }

 private:
  /// Adds the units that compute longer to `named`; the ranks that are late otherwise.
  std::vector<Straggler> late_ranks(const RecurrenceCount& recurrence,
                                    const std::vector<const SlowUnit*>& unit_of,
                                    std::vector<Straggler>& named) {
    std::vector<Straggler> others;
    if (!paused_.ranks.empty()) others.push_back(describe(paused_.ranks, recurrence));
    for (Place place; place.index < unit_of.size(); ++place.index) {
      const bool meet = !waits_.collectives.empty() || undivided_.sum() > 0.0;
      const SlowUnit* unit = meet ? unit_of[place.index] : nullptr;
      bool as_unit = unit != nullptr;
      if (!std::ranges::binary_search(paused_.ranks, place) && is_named(place, recurrence)) {
        Straggler late = describe({place}, recurrence);
        const bool other = is_other_cause(late.cause);
        // At messages whose partners are not known a pipeline's ranks take turns.
        if (late.cause == LateCause::undecided && lost(undivided_.sum()) >= least_total_otherwise &&
            !as_unit)
          continue;
        // Compute that is longer now on this rank, now on that one is chance or a rotating load.
        const bool chance = !replay_.reason && recurrence.recurrence == Recurrence::rotating;
        if (other || !(as_unit || chance)) others.push_back(std::move(late));
        as_unit = as_unit && (!other || unit->members.size() > 1);
      }
      if (!as_unit || unit->members.front() != place) continue;
      Straggler late = describe(unit->members, recurrence, unit);
      // One step in which a kernel took long is no unit that is slower.
      if (steps_.numbers < 3 || 2 * late.steps >= steps_.numbers || unit->in_some_pieces)
        named.push_back(std::move(late));
    }
    return others;
  }

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

  /// Of a cause that compute has no part in.
  static bool is_other_cause(LateCause cause) {
    return cause == LateCause::host || cause == LateCause::copies ||
           cause == LateCause::communication || cause == LateCause::profiler;
  }

  /// Whether it was found by what it computes, not by who waits for it.
  bool is_unit(const Straggler& straggler) const {
    return straggler.level != LateUnit::rank ||
           (replay_.is_slow(straggler.rank) && !is_other_cause(straggler.cause));
  }

  /// By rank, then by the rank that was waited for.
  std::vector<PairWait> pairs() const {
    std::vector<PairWait> pairs;
    for (Place place; place.index < charges_.root_cause.size(); ++place.index) {
      std::map<Place, PairWait> row;
      const auto with = [&](Place late) -> PairWait& {
        const PairWait none{numbers_.at(place), numbers_.at(late)};
        return row.try_emplace(late, none).first->second;
      };
      for (const auto& [late, time] : found_.exposed[place.index]) with(late).exposed = time;
      for (const auto& [late, time] : found_.total[place.index]) with(late).total = time;
      for (const auto& [late, time] : charges_.root_cause[place.index]) {
        const nanoseconds whole = rounded_ns(time);
        if (whole != nanoseconds::zero()) with(late).root_cause = whole;
      }
      for (const auto& [late, pair] : row) pairs.push_back(pair);
    }
    return pairs;
  }

  /// Costs by the replay; leaves those that it confirms: what computes longer must save something
  /// when it no longer does.
  void settle(StragglerReport& report) const {
    std::vector<Straggler>& named = report.stragglers;
    for (std::size_t before = 0; before != named.size();) {
      before = named.size();
      std::map<std::string, double> charged;
      for (const Straggler& one : named) charged[one.unit] = one.gpu_seconds;
      settle_costs(replay_, step_gpu_time() * steps_.numbers / 1e9, report);
      std::erase_if(named, [&](Straggler& one) {
        if (!one.saved) return one.level == LateUnit::rotating;
        if (!is_unit(one)) {
          // A replay that leaves a quarter and more of it agrees with what was charged; presumed.
          if (one.gpu_seconds >= 0.25 * charged[one.unit]) return false;
          one.saved.reset();
          one.gpu_seconds = charged[one.unit];
          return one.cause <= LateCause::pipeline_stage;  // those of compute
        }
        const double least = std::max(least_recurring, std::abs(replay_.error));
        if (lost(one.gpu_seconds * 1e9) >= least) return false;
        one.saved.reset();  // the waiting that was measured stands where the replay has none of it
        one.gpu_seconds = charged[one.unit];
        return lost(one.gpu_seconds * 1e9) < least_without_chance;
      });
    }
  }

  bool is_named(Place place, const RecurrenceCount& recurrence) const {
    const double own = lost(charges_.cost[place.index]);
    if (recurrence.rank == place)
      return own >= (recurrence.beyond_chance ? least_recurring : least_without_chance);
    if (recurrence.recurrence == Recurrence::one_rank) return own >= least_total_otherwise;
    if (recurrence.recurrence == Recurrence::too_few) return own >= least_without_chance;
    if (takes_turns_) return own >= least_total_otherwise;
    if (own >= least_outstanding && stands_out(place)) return true;
    return lost_in_total() >= least_total_otherwise &&
           own >= lost_in_total() / (2.0 * static_cast<double>(job_.recordings.size()));
  }

  /// Finds ranks whose hosts pause together, as all of a node do under other load: each costs
  /// little, for the others are as late. Most of the longest pauses are of these and no others.
  void find_pauses() {
    std::map<std::vector<Place>, Pauses> pauses;
    double all = 0.0;
    for (const auto& [number, late] : host_late_) {
      const auto [least, most] = std::ranges::minmax(late);
      std::vector<Place> ranks;
      for (std::size_t rank = 0; rank < late.size(); ++rank)
        if (late[rank] - least > 0.5 * (most - least)) ranks.push_back(place_at(rank));
      Pauses& of = pauses[ranks];
      of.ranks = ranks;
      of.time += most - least;
      ++of.steps;
      all += most - least;
    }
    const double costly = least_total_otherwise * in_ns(steps_.mean_length) * steps_.numbers;
    for (auto& [ranks, of] : pauses)
      if (ranks.size() > 1 && of.steps > 1 && of.time >= std::max(explains_enough * all, costly))
        paused_ = std::move(of);
  }

  bool stands_out(Place place) const {
    const double most = charges_.cost[place.index] / outstanding;
    return std::ranges::count_if(charges_.cost, [=](double cost) { return cost > most; }) <= 1;
  }

  /// Of `unit`, or of a rank that others wait for.
  Straggler describe(const std::vector<Place>& members,
                     const RecurrenceCount& recurrence,
                     const SlowUnit* unit = nullptr) const {
    Straggler straggler;
    straggler.rank = numbers_.at(members.front());
    straggler.unit = unit != nullptr ? unit->name : numbers_.names(members);
    const std::string& host = job_.recordings[members.front().index].origin.host;
    std::vector<Place> of_host;
    for (std::size_t rank = 0; rank < job_.recordings.size(); ++rank)
      if (!host.empty() && job_.recordings[rank].origin.host == host)
        of_host.push_back(place_at(rank));
    if (unit == nullptr && members.size() > 1 && of_host == members) {
      straggler.level = LateUnit::host;
      straggler.unit = "host " + host;
    }
    bool dropped = false;
    for (const Place member : members) {
      const Lateness& lateness = lateness_[member.index];
      add_bounded(straggler.waited, lateness.waited);
      add_bounded(straggler.exposed, lateness.exposed);
      straggler.collectives += lateness.collectives;
      straggler.gpu_seconds += charges_.cost[member.index] / 1e9;
      straggler.steps += recurrence.by_rank[member.index];
      dropped |= dropped_records(job_.recordings[member.index]);
      if (members.size() > 1) straggler.members.push_back(numbers_.at(member));
    }
    const auto others = static_cast<double>(job_.recordings.size() - members.size());
    straggler.exposed_per_step_ms =
        straggler.gpu_seconds / std::max(1.0, others) / std::max(1, steps_.numbers) * 1e3;
    straggler.significant = straggler.waited / std::max<std::int64_t>(1, straggler.collectives) >
                            alignment_.report.error;
    // No clock of another rank changes how long its own kernels take.
    straggler.significant |= unit != nullptr;
    if (!alignment_.report.comparable) straggler.gpu_seconds = straggler.exposed_per_step_ms = 0.0;
    const auto cost_of = [&](Place one) { return charges_.cost[one.index]; };
    Excess sum = excess_.by_rank[std::ranges::max_element(members, {}, cost_of)->index];
    std::optional<Finding> stage;
    if (unit != nullptr) {
      straggler.level = unit->level;
      double longer = 0.0;
      std::tie(sum, straggler.steps, longer) = excess_of(*unit);
      // Of whom others wait at messages whose partners are not known, no replay can say; a step is
      // longer by what the slowest computes longer, as far as the others have time to wait for it.
      // Where clocks do not compare: all communication beyond the unit's own.
      const auto size = static_cast<double>(members.size());
      const double own = alignment_.report.comparable ? 0.0 : others / size;
      double waits = undivided_.sum();
      for (const Place member : members) waits -= (1.0 + own) * undivided_.at(member);
      const double most =
          std::min(waits / std::max(1.0, others), in_ns(sum.part(Part::compute)) / size);
      if (most * others > straggler.gpu_seconds * 1e9) {
        straggler.gpu_seconds = most * others / 1e9;
        straggler.exposed_per_step_ms = most / std::max(1, steps_.numbers) / 1e6;
      }
      if (unit->level == LateUnit::stage)
        stage = Finding(FindingId::stage_computes, unit->name, 1.0 + unit->excess, members.size());
      straggler.times_as_long = 1.0 + (unit->in_some_pieces ? longer : unit->excess);
    } else if (members.size() > 1) {
      sum = {{}, {}, sum.host, {}, {}, {}};
      sum.part(Part::host_late) = rounded_ns(paused_.time);
      straggler.steps = paused_.steps;
      straggler.significant |= paused_.time > in_ns(alignment_.report.error) * paused_.steps;
    }
    straggler.shares = cause_shares(sum, stage, numbers_);
    for (CauseShare& share : straggler.shares)
      if (share.host) share.detail = host_range(members.front(), share);
    if (dropped)
      straggler.shares = {{LateCause::undecided, sum.total(), FindingId::records_dropped}};
    straggler.cause = named_cause(straggler.shares);
    return straggler;
  }

  /// The range with that cause in which the host of a rank was longer than others' were, where that
  /// is at least half of what is to explain.
  std::optional<Finding> host_range(Place place, const CauseShare& share) const {
    std::optional<Finding> range;
    if (place.index >= host_.size() || steps_.numbers == 0) return range;
    const auto time_of = [&](std::size_t rank, std::string_view name) {
      nanoseconds time{};
      for (const auto& [key, one] : host_[rank])
        if (key.first == *share.host && job_.recordings[rank].names.at(key.second) == name)
          add_bounded(time, one);
      return time;
    };
    nanoseconds longest = share.time / 2;
    for (const auto& [key, time] : host_[place.index]) {
      if (key.first != *share.host || key.second == NameId::none || time < longest) continue;
      const std::string_view name = job_.recordings[place.index].names.at(key.second);
      double others = 0.0;
      for (std::size_t rank = 0; rank < host_.size(); ++rank)
        if (rank != place.index)
          others += in_ns(time_of(rank, name)) / static_cast<double>(host_.size() - 1);
      const auto more = nanoseconds(saturated<std::int64_t>(in_ns(time) - others));
      if (more < longest) continue;
      longest = more;
      range = Finding(FindingId::time_in_range, in_seconds(time / steps_.numbers), shortened(name));
    }
    return range;
  }

  /// What the unit computes longer than its peers, the steps in which it is at least half as much
  /// as on average, and how much it is in these, of the usual. With kernels of its first rank, of
  /// these steps alone where it is late in some pieces.
  std::tuple<Excess, std::int32_t, double> excess_of(const SlowUnit& unit) const {
    Excess sum;
    std::set<std::int32_t> steps;
    double late_longer = 0.0;
    double late_usual = 0.0;
    for (const auto& [number, compute] : compute_) {
      double longer = 0.0;
      double usual = 0.0;
      for (std::size_t i = 0; i < unit.members.size(); ++i) {
        longer += compute[unit.members[i].index] - compute[unit.compared[i].index];
        usual += compute[unit.compared[i].index];
      }
      if (longer > 0.5 * unit.excess * usual) {
        steps.insert(number);
        late_longer += longer;
        late_usual += usual;
      }
      add_bounded(sum.part(Part::compute), rounded_ns(longer));
    }
    const bool with_inputs = all_have_inputs(job_);
    for (const Place place : {unit.members.front(), unit.compared.front()})
      for (const StepSpan& step : steps_.plan.by_rank[place.index])
        if (steps_.counts(step.excluded) && (!unit.in_some_pieces || steps.contains(step.number)))
          add_kernels(RankView(job_.recordings[place.index], alignment_.map, place.index),
                      {step.start, step.end},
                      place == unit.members.front(),
                      with_inputs,
                      sum.kernels);
    return {std::move(sum),
            static_cast<std::int32_t>(steps.size()),
            late_usual > 0.0 ? late_longer / late_usual : 0.0};
  }

  Straggler rotating_load() const {
    Straggler straggler;
    straggler.rank = numbers_.at(Place{});
    straggler.level = LateUnit::rotating;
    straggler.unit = "the lengths of the micro-batches";
    straggler.steps = steps_.numbers;
    straggler.cause = LateCause::more_work;
    straggler.significant = true;
    return straggler;
  }

  /// Why none is named.
  Finding abstention() const {
    using enum FindingId;
    if (waits_.collectives.empty()) return {no_verdict, Finding(nothing_to_compare)};
    if (!alignment_.report.comparable) return {no_verdict, *alignment_.report.reason};
    if (found_.largest_wait <= alignment_.report.error)
      return {no_straggler,
              Finding(lateness_below_error,
                      in_seconds(found_.largest_wait),
                      in_seconds(alignment_.report.error))};
    if (steps_.numbers == 0) return {no_verdict, Finding(no_step_found)};
    if (lost(bubble_) > lost_in_total()) return {no_straggler, Finding(turns_cost, lost(bubble_))};
    return {no_straggler, Finding(waiting_costs, lost_in_total())};
  }

  const HostTimes& host_;
  const JobReplay& replay_;
  const Job& job_;
  RankNumbers numbers_;
  const Alignment& alignment_;
  const Waits& waits_;
  CountedSteps steps_;
  bool takes_turns_ = false;
  Delays found_;
  Excesses excess_;
  Charges charges_;
  /// What others waited for a rank, and at how many collectives it came last.
  struct Lateness {
    nanoseconds waited{};
    nanoseconds exposed{};
    std::int64_t collectives = 0;
  };
  std::vector<Lateness> lateness_;  // by rank
  double bubble_ = 0.0;             // ns of waiting that is a pipeline's own, charged to no rank
  std::map<std::int32_t, std::vector<double>> compute_;    // ns by step number, then rank
  std::map<std::int32_t, std::vector<double>> host_late_;  // the same
  struct Pauses {
    std::vector<Place> ranks{};  // none: they pause each for itself
    double time = 0.0;           // ns, beyond that of the rank that pauses least
    std::int32_t steps = 0;
  };
  Pauses paused_;
  SparseTimes<double> undivided_;  // ns of exposed communication that may be waiting, by rank
};
}  // namespace

StragglerReport find_stragglers(const JobReplay& replay,
                                const std::vector<StepLedger>& ledger,
                                const HostTimes& host) {
  const Job& job = replay.job;
  if (job.recordings.size() < 2) {
    StragglerReport report;
    report.abstention = job_size(job).at_least > 1
                            ? Finding(FindingId::no_verdict, Finding(FindingId::recording_alone))
                            : FindingId::waits_for_no_other;
    return report;
  }
  return Investigation(replay, ledger, host).report();
}

double binomial_tail(std::int32_t hits, std::int32_t trials, double chance) {
  if (hits <= 0 || chance >= 1.0) return 1.0;
  if (chance <= 0.0) return 0.0;
  double tail = 0.0;
  for (std::int32_t k = hits; k <= trials; ++k) {
    const double one =
        std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                 k * std::log(chance) + (trials - k) * std::log1p(-chance));
    tail += one;
    if (k > trials * chance && one < 1e-15 * tail) break;  // below a double's last bit
  }
  return std::min(tail, 1.0);
}

RecurrenceCount count_recurrence(const std::map<std::int32_t, std::vector<double>>& cost,
                                 std::size_t ranks,
                                 std::int32_t steps,
                                 double threshold) {
  constexpr std::int32_t fewest_steps = 3;  // see stragglers.h
  constexpr double most = 0.6;              // of the steps, see stragglers.h
  constexpr double unlikely = 1e-3;         // one job in a thousand by chance
  RecurrenceCount count;
  count.by_rank.resize(ranks);
  for (const auto& [step, by_rank] : cost) {
    const auto rank = std::ranges::max_element(by_rank);
    if (rank != by_rank.end() && *rank >= threshold && *rank > 0.0)
      ++count.by_rank[rank - by_rank.begin()];
  }
  if (steps < fewest_steps || ranks == 0) return count;
  const auto top = std::ranges::max_element(count.by_rank);
  const auto equals = static_cast<double>(ranks);
  count.beyond_chance = binomial_tail(*top, steps, 1.0 / equals) * equals < unlikely;
  const bool recurs = *top == steps || (*top >= most * steps && count.beyond_chance);
  count.recurrence = recurs ? Recurrence::one_rank : Recurrence::rotating;
  if (recurs) count.rank = place_at(static_cast<std::size_t>(top - count.by_rank.begin()));
  return count;
}
}  // namespace scaleworth::trace
