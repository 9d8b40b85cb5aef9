// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/straggler_parts.h"

#include <set>

namespace scaleworth::trace {
namespace {

double mean_of(nanoseconds time, std::int64_t count) {
  return count == 0 ? 0.0 : in_ns(time) / static_cast<double>(count);
}

/// What kernels on both sides took that are taken for equal, in ns.
struct Slowdown {
  double late = 0.0;
  double compared = 0.0;
  double largest = 0.0;
  std::string most{};  // of them that with the largest difference
  double most_longer = 0.0;
  std::vector<std::pair<double, double>> arithmetic{};  // late and compared, by name and shape

  double time() const { return late - compared; }

  /// A lower clock slows all arithmetic: where a fifth of it takes at most a third of what the rest
  /// takes longer, the inputs of that rest are larger (the tokens of an expert). A smaller part may
  /// be bound by memory.
  bool of_some_kernels() const {
    constexpr double notable = 0.2;  // see above
    double all = 0.0;
    double as_fast = 0.0;
    for (const auto& [own, usual] : arithmetic) {
      all += usual;
      if (3.0 * (own - usual) * compared < time() * usual) as_fast += usual;
    }
    return time() > 0.0 && as_fast >= notable * all && all > 0.0;
  }

  void add(std::string_view name, const KernelPair& pair) {
    const double late_mean = mean_of(pair.late_time, pair.late_count);
    const double compared_mean = mean_of(pair.compared_time, pair.compared_count);
    const auto both = static_cast<double>(std::min(pair.late_count, pair.compared_count));
    late += both * late_mean;
    compared += both * compared_mean;
    if (pair.arithmetic) arithmetic.emplace_back(both * late_mean, both * compared_mean);
    if (both * (late_mean - compared_mean) <= largest) return;
    largest = both * (late_mean - compared_mean);
    most = shortened(name);
    most_longer = late_mean / compared_mean - 1.0;
  }

  Finding with_most(const Finding& of) const {
    return most.empty() ? of : Finding(FindingId::most_of_it, of, most, most_longer);
  }
  std::optional<Finding> detail(FindingId id) const {
    if (compared <= 0.0) return std::nullopt;
    return with_most({id, late / compared - 1.0});
  }
};

/// Kernels' differences by their reasons, in ns.
struct KernelDifference {
  Slowdown at_equal_shape;
  Slowdown at_unknown_shape;
  double more = 0.0;  // other counts and shapes
  std::optional<Finding> more_detail{};
};

KernelDifference compare_kernels(const KernelPairs& kernels) {
  KernelDifference difference;
  double largest_more = 0.0;
  for (auto next = kernels.begin(); next != kernels.end();) {
    const auto [name, first_shape] = next->first;  // of a name no shape comes first
    KernelPair all;
    Slowdown equal;
    for (; next != kernels.end() && next->first.first == name; ++next) {
      const KernelPair& pair = next->second;
      all.late_count += pair.late_count;
      all.compared_count += pair.compared_count;
      add_bounded(all.late_time, pair.late_time);
      add_bounded(all.compared_time, pair.compared_time);
      if (first_shape.empty()) continue;
      equal.add(name, pair);
      difference.at_equal_shape.add(name, pair);
    }
    if (first_shape.empty()) {
      equal.add(name, all);
      difference.at_unknown_shape.add(name, all);
    }
    const double longer = in_ns(all.late_time) - in_ns(all.compared_time);
    const double more = longer - equal.time();
    difference.more += more;
    if (more <= largest_more) continue;
    largest_more = more;
    const bool as_often = all.late_count == all.compared_count;
    difference.more_detail = as_often ? Finding(FindingId::at_other_shapes,
                                                shortened(name),
                                                longer / in_ns(all.compared_time))
                                      : Finding(FindingId::other_number_of_times,
                                                all.late_count,
                                                all.compared_count,
                                                shortened(name));
  }
  if (difference.at_equal_shape.of_some_kernels()) {
    Slowdown& some = difference.at_equal_shape;
    difference.more += some.time();
    difference.more_detail = some.with_most(FindingId::other_kernels_as_long);
    some = {};
  }
  return difference;
}

void add_compute(const Excess& excess, std::vector<CauseShare>& shares) {
  const KernelDifference kernels = compare_kernels(excess.kernels);
  const double slower = kernels.at_equal_shape.time();
  const double unknown = kernels.at_unknown_shape.time();
  // The sum over kernels counts what runs side by side twice: only its proportions are used.
  const double sum = slower + unknown + kernels.more;
  const auto compute = excess.part(Part::compute);
  const auto part = [&](double time, nanoseconds otherwise) {
    return sum == 0.0 ? otherwise : rounded_ns(in_ns(compute) * std::clamp(time / sum, 0.0, 1.0));
  };
  const nanoseconds at_equal_shape = part(slower, nanoseconds::zero());
  nanoseconds at_unknown_shape = part(unknown, compute);
  if (std::chrono::abs(at_equal_shape + at_unknown_shape) > std::chrono::abs(compute))
    at_unknown_shape = compute - at_equal_shape;
  shares.push_back({LateCause::slower_kernels,
                    at_equal_shape,
                    kernels.at_equal_shape.detail(FindingId::equal_shapes_take)});
  shares.push_back({LateCause::longer_kernels,
                    at_unknown_shape,
                    kernels.at_unknown_shape.detail(FindingId::equal_names_take)});
  shares.push_back(
      {LateCause::more_work, compute - at_equal_shape - at_unknown_shape, kernels.more_detail});
}

std::optional<Finding> waited_for(const Excess& excess, const RankNumbers& numbers) {
  std::vector<std::pair<nanoseconds, Place>> ranks;
  for (const auto& [rank, time] : excess.waited_for)
    if (time > nanoseconds::zero()) ranks.emplace_back(-time, rank);
  std::ranges::sort(ranks);
  if (ranks.empty()) return std::nullopt;
  return Finding(ranks.size() > 1 ? FindingId::waited_for_most : FindingId::waited_for,
                 numbers.names({ranks.front().second}));
}

std::optional<HostCause> largest_host_cause(const Excess& excess) {
  const auto largest = std::ranges::max_element(excess.host);
  if (*largest <= nanoseconds::zero()) return std::nullopt;
  return static_cast<HostCause>(largest - excess.host.begin());
}

/// Windows of both ranks: from when they last met to their arrivals.
struct WindowPair {
  TimeInterval late;
  TimeInterval compared;
};

const CollectiveWait::Participant* participant_of(const CollectiveWait& collective, Place place) {
  const auto found = std::ranges::lower_bound(
      collective.participants, place, {}, &CollectiveWait::Participant::place);
  if (found == collective.participants.end() || found->place != place) return nullptr;
  return &*found;
}

bool has_inputs(const Recording& recording) {
  for (std::size_t i = 0; i < recording.shapes.size(); ++i)
    if (recording.shapes.at(static_cast<NameId>(i)).find(" [[") != std::string_view::npos)
      return true;
  return false;
}

struct Examiner {
  const Job& job;
  const Waits& waits;
  const ClockMap& clocks;
  const std::vector<IntervalSet>& computing;
  /// Operators' inputs tell shapes apart where all recordings have them.
  bool with_inputs = all_have_inputs(job);
  std::vector<std::vector<StepLedger>> ledgers{};  // by rank

  /// Looks back for the collective at which the two ranks of a delay last met.
  std::optional<WindowPair> windows(const Delay& delay) const {
    const CollectiveWait& now = waits.collectives[delay.collective];
    const auto* late = participant_of(now, delay.late);
    const auto* compared = participant_of(now, delay.compared);
    const std::vector<CommunicationSplit>& splits = waits.by_rank[delay.late.index];
    auto here = std::ranges::lower_bound(splits, late->start, {}, &CommunicationSplit::start);
    constexpr int farthest = 256;  // collectives back, for time; presumed: about a step
    for (int back = 0; back < farthest && here != splits.begin(); ++back) {
      --here;
      if (here->collective < 0 || here->collective == delay.collective) continue;
      const CollectiveWait& before = waits.collectives[here->collective];
      const auto* other = participant_of(before, delay.compared);
      if (other == nullptr || other->start > compared->start) continue;
      const auto* own = participant_of(before, delay.late);
      const bool overlapped = covered(*other) || covered(*own);
      WindowPair pair{{overlapped ? own->start : own->end, late->start},
                      {overlapped ? other->start : other->end, compared->start}};
      if (pair.late.start < pair.late.end) return pair;
    }
    return std::nullopt;
  }

  /// Makes the ledgers of all windows in one go: the windows' bounds cut each rank's time.
  void make_ledgers(const std::vector<std::set<nanoseconds>>& bounds) {
    StepPlan plan;
    for (const std::set<nanoseconds>& of_rank : bounds) {
      std::vector<StepSpan>& steps = plan.by_rank.emplace_back();
      for (const nanoseconds bound : of_rank) {
        if (!steps.empty()) steps.back().end = bound;
        steps.push_back({static_cast<std::int32_t>(steps.size()) + 1, bound, bound});
      }
      if (!steps.empty()) steps.pop_back();
    }
    ledgers.resize(bounds.size());
    for (StepLedger& ledger : build_job_ledger(job, plan, waits, clocks))
      ledgers[ledger.place.index].push_back(std::move(ledger));
  }

  /// Adds what the late rank of a delay did in `window`, one of those with ledgers, or takes off
  /// what the rank did that it is compared with.
  void add(
      Place place, TimeInterval window, bool late, Excess& excess, KernelPairs& kernels) const {
    const std::size_t rank = place.index;
    auto ledger = std::ranges::lower_bound(ledgers[rank], window.start, {}, &StepLedger::start);
    for (; ledger != ledgers[rank].end() && ledger->end <= window.end; ++ledger)
      add(*ledger, late ? 1 : -1, excess);
    add_kernels(RankView(job.recordings[rank], clocks, rank), window, late, with_inputs, kernels);
    if (!late) return;
    const std::vector<CommunicationSplit>& splits = waits.by_rank[rank];
    auto split = std::ranges::lower_bound(splits, window.start, {}, &CommunicationSplit::start);
    for (; split != splits.end() && split->start < window.end; ++split)
      if (split->waited_for && split->collective >= 0)
        excess.upstream.emplace_back(split->collective, split->split - split->start);
  }

  /// Kernels ran on under it, so that it did not bring the two to the same point.
  bool covered(const CollectiveWait::Participant& participant) const {
    const nanoseconds length = participant.end - participant.start;
    return computing[participant.place.index]
               .within({participant.start, participant.end})
               .length() > length / 2;
  }

  static void add(const StepLedger& ledger, int sign, Excess& excess) {
    for (const Part part : recording_parts) {
      const bool gap = part == Part::dependency_idle || part == Part::launch_gap ||
                       part == Part::below_clock_error || part == Part::exposed_undivided;
      add_bounded(excess.part(gap ? Part::unattributed : part), sign * ledger.part(part));
    }
    add_bounded(excess.part(Part::exposed_wait), -sign * ledger.uncharged_wait);
    add_bounded(excess.part(Part::unattributed), sign * ledger.uncharged_wait);
    for (std::size_t cause = 0; cause < excess.host.size(); ++cause)
      add_bounded(excess.host[cause], sign * ledger.host_late_by_cause[cause]);
    for (const auto& [place, time] : ledger.waited_for)
      add_bounded(excess.waited_for[place], sign * time);
  }
};

/// The largest delays, as many as ledgers of their windows fit into some ten megabytes.
std::vector<std::size_t> largest_delays(const std::vector<Delay>& delays) {
  constexpr std::size_t most_windows = 8192;  // see above: ten megabytes
  std::vector<std::size_t> order = numbers_below(delays.size());
  if (order.size() > most_windows) {
    const auto exposed = [&](std::size_t index) { return delays[index].exposed; };
    const auto last = order.begin() + most_windows;
    std::ranges::nth_element(order, last, std::ranges::greater{}, exposed);
    order.resize(most_windows);
  }
  return order;
}

/// Sum of excesses without kernels and `upstream`.
void add_excess(Excess& sum, const Excess& one) {
  for (std::size_t part = 0; part < part_count; ++part)
    add_bounded(sum.parts[part], one.parts[part]);
  add_bounded(sum.unrecorded, one.unrecorded);
  for (std::size_t cause = 0; cause < sum.host.size(); ++cause)
    add_bounded(sum.host[cause], one.host[cause]);
  for (const auto& [place, time] : one.waited_for) add_bounded(sum.waited_for[place], time);
}
}  // namespace

std::vector<CauseShare> cause_shares(const Excess& excess,
                                     const std::optional<Finding>& stage,
                                     const RankNumbers& numbers) {
  std::vector<CauseShare> shares;
  if (stage) {
    shares.push_back({LateCause::pipeline_stage, excess.part(Part::compute), stage});
  } else {
    add_compute(excess, shares);
  }
  shares.insert(
      shares.end(),
      {{LateCause::host, excess.part(Part::host_late), {}, largest_host_cause(excess)},
       {LateCause::copies, excess.part(Part::exposed_copy), FindingId::copies_not_hidden},
       {LateCause::communication,
        excess.part(Part::exposed_transfer),
        FindingId::transfers_not_hidden},
       {LateCause::indirect, excess.part(Part::exposed_wait), waited_for(excess, numbers)},
       {LateCause::profiler, excess.part(Part::profiler_overhead)},
       {LateCause::undecided, excess.part(Part::unattributed), FindingId::gaps_on_gpu},
       {LateCause::undecided, excess.unrecorded, FindingId::late_at_first}});
  std::erase_if(shares, [](const CauseShare& share) { return share.time == nanoseconds::zero(); });
  std::ranges::stable_sort(shares, std::ranges::greater{}, &CauseShare::time);
  return shares;
}

LateCause named_cause(const std::vector<CauseShare>& shares) {
  nanoseconds sum{};
  for (const CauseShare& share : shares) add_bounded(sum, share.time);
  if (shares.empty() || sum <= nanoseconds::zero()) return LateCause::undecided;
  const CauseShare& largest = shares.front();
  return in_ns(largest.time) >= explains_enough * in_ns(sum) ? largest.cause : LateCause::undecided;
}

bool all_have_inputs(const Job& job) {
  return std::ranges::all_of(job.recordings, has_inputs);
}

void add_kernels(
    const RankView& rank, TimeInterval window, bool late, bool with_inputs, KernelPairs& kernels) {
  const Recording& recording = rank.recording();
  auto event = std::ranges::lower_bound(
      recording.device_events, window.start, {}, [&](const DeviceEvent& e) {
        return rank.start(e);
      });
  for (; event != recording.device_events.end(); ++event) {
    if (rank.start(*event) >= window.end) break;
    if (!is_compute(*event)) continue;
    const std::string_view shape = recording.shapes.at(NameId{event->shape});
    KernelPair& pair = kernels[{recording.names.at(event->name),
                                shape.substr(0, with_inputs ? shape.npos : shape.find(" [["))}];
    pair.arithmetic = event->work_class == WorkClass::gemm ||
                      event->work_class == WorkClass::attention ||
                      event->work_class == WorkClass::convolution;
    ++(late ? pair.late_count : pair.compared_count);
    add_bounded(late ? pair.late_time : pair.compared_time, event->end - event->start);
  }
}

nanoseconds Excess::total() const {
  nanoseconds sum = unrecorded;
  for (const nanoseconds part : parts) add_bounded(sum, part);
  return sum;
}

void compare_steps(const CountedSteps& steps,
                   const std::vector<StepLedger>& ledger,
                   std::vector<Excess>& by_rank) {
  for (Excess& excess : by_rank) excess = {{}, {}, {}, {}, {}, std::move(excess.kernels)};
  std::map<std::int32_t, std::vector<const StepLedger*>> by_step;
  for (const StepLedger& one : ledger)
    if (steps.counts(one.excluded)) by_step[one.step].push_back(&one);
  const auto add = [&](const auto& time_of) {  // of a ledger or an excess
    for (const auto& step : by_step) {
      const auto times = mapped(step.second, [&](const auto* one) { return time_of(*one); });
      for (const StepLedger* one : step.second)
        add_bounded(time_of(by_rank.at(one->place.index)), time_of(*one) - upper_median(times));
    }
  };
  for (const Part part : own_parts)
    add([part](auto& of) -> auto& { return of.parts[index_of(part)]; });
  for (std::size_t i = 0; i < host_causes; ++i)
    add([i](auto& of) -> auto& {
      if constexpr (requires { of.host; })
        return of.host[i];
      else
        return of.host_late_by_cause[i];
    });
}

Excesses measure_excess(const Job& job,
                        const Waits& waits,
                        const ClockMap& clocks,
                        const std::vector<IntervalSet>& computing,
                        const std::vector<Delay>& delays) {
  Examiner examiner{job, waits, clocks, computing};
  std::vector<std::pair<std::size_t, WindowPair>> examined;          // delay and its windows
  std::vector<std::set<nanoseconds>> bounds(job.recordings.size());  // of the windows
  Excesses all{std::vector<std::optional<Excess>>(delays.size()),
               std::vector<Excess>(job.recordings.size())};
  for (const std::size_t index : largest_delays(delays)) {
    const Delay& delay = delays[index];
    Excess& excess = all.by_delay[index].emplace();
    const auto pair = examiner.windows(delay);
    if (!pair) {
      const auto& here = waits.collectives[delay.collective];
      excess.unrecorded =
          participant_of(here, delay.late)->start - participant_of(here, delay.compared)->start;
      continue;
    }
    examined.emplace_back(index, *pair);
    bounds[delay.late.index].insert({pair->late.start, pair->late.end});
    bounds[delay.compared.index].insert({pair->compared.start, pair->compared.end});
  }
  examiner.make_ledgers(bounds);
  for (const auto& [index, pair] : examined) {
    check_interrupt();
    const Delay& delay = delays[index];
    Excess& excess = *all.by_delay[index];
    KernelPairs& kernels = all.by_rank[delay.late.index].kernels;
    examiner.add(delay.late, pair.late, true, excess, kernels);
    examiner.add(delay.compared, pair.compared, false, excess, kernels);
  }
  for (std::size_t i = 0; i < delays.size(); ++i)
    if (all.by_delay[i]) add_excess(all.by_rank[delays[i].late.index], *all.by_delay[i]);
  return all;
}
}  // namespace scaleworth::trace
