// SPDX-License-Identifier: Apache-2.0
#include "trace/attribute.h"

#include "src/core/mean_ledger.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/stragglers.h"
#include "trace/classify.h"

#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
std::string place(const Origin& origin) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!origin.host.empty()) add("host " + origin.host);
  if (origin.process) add(fmt::format("pid {}", *origin.process));
  if (origin.device) add(fmt::format("GPU {}", *origin.device));
  if (origin.pipeline_stage) add(fmt::format("pipeline stage {}", *origin.pipeline_stage));
  if (origin.data_parallel_rank) add(fmt::format("replica {}", *origin.data_parallel_rank));
  if (!origin.tool.empty()) add(origin.tool);
  return text;
}

// Ranks belong together where each spends half of its compute time or more in kernels that the
// other runs too. Stages of a pipeline may differ, and are of one program.
std::vector<std::string> programs(const Job& job) {
  using Times = std::map<std::string_view, double>;  // ns by kernel
  const auto half_is_in = [](const Times& other, const Times& times) {
    double sum = 0.0;
    for (const auto& [name, time] : times) sum += other.contains(name) ? time : -time;
    return sum >= 0.0;
  };
  std::vector<std::pair<Times, std::vector<Place>>> programs;
  for (Place place; place.index < job.recordings.size(); ++place.index) {
    const Recording& recording = job.recordings[place.index];
    Times times;
    for (const DeviceEvent& event : recording.device_events)
      if (is_compute(event) && !recording.origin.pipeline_stage)
        times[recording.names.at(event.name)] +=
            static_cast<double>((event.end - event.start).count());
    if (times.empty()) continue;
    const auto same = std::ranges::find_if(programs, [&](const auto& program) {
      return half_is_in(program.first, times) && half_is_in(times, program.first);
    });
    if (same == programs.end()) {
      programs.emplace_back(std::move(times), std::vector{place});
    } else {
      same->second.push_back(place);
    }
  }
  if (programs.size() < 2) return {};
  return mapped(programs, [&](const auto& one) { return RankNumbers(job).names(one.second); });
}

// A remark that many recordings make is printed once.
void add_recording_remarks(const Job& job, std::vector<Finding>& remarks) {
  const RankNumbers numbers(job);
  std::map<Finding, std::vector<int>> ranks_of;
  for (Place place; place.index < job.recordings.size(); ++place.index)
    for (const Finding& remark : job.recordings[place.index].remarks)
      ranks_of[remark].push_back(numbers.at(place).index);
  for (const auto& [remark, ranks] : ranks_of)
    remarks.push_back(ranks.size() == 1
                          ? Finding(FindingId::rank_says, ranks.front(), remark)
                          : Finding(FindingId::ranks_say, ranks.front(), ranks.size() - 1, remark));
}

// The longest on any rank, of those that count; of all where none does.
std::optional<std::int32_t> slowest_step(const StepPlan& steps) {
  const StepSpan* slowest = nullptr;
  const auto rank_of = [](const StepSpan& step) {
    return std::pair(!step.excluded, step.end - step.start);
  };
  for (const auto& of_rank : steps.by_rank)
    for (const StepSpan& step : of_rank)
      if (slowest == nullptr || rank_of(step) > rank_of(*slowest)) slowest = &step;
  return slowest == nullptr ? std::nullopt : std::optional(slowest->number);
}

// A collective belongs to the step in which it ended on its last rank.
void place_in_steps(const StepPlan& steps, std::vector<CollectiveWait>& collectives) {
  for (CollectiveWait& collective : collectives) {
    const auto last =
        std::ranges::max_element(collective.participants, {}, &CollectiveWait::Participant::end);
    if (last == collective.participants.end()) continue;
    const auto& spans = steps.by_rank.at(last->place.index);
    const auto after = std::ranges::lower_bound(spans, last->end, {}, &StepSpan::end);
    if (after != spans.end() && after->start < last->end) collective.step = after->number;
  }
}
/// Of the mean step and rank, by cause and name.
std::vector<HostRange> longest_ranges(const Job& job,
                                      const HostTimes& host,
                                      const std::optional<JobMeans>& means) {
  constexpr std::size_t most = 5;
  std::map<std::pair<HostCause, std::string_view>, nanoseconds> sums;
  for (std::size_t rank = 0; rank < host.size(); ++rank)
    for (const auto& [key, time] : host[rank])
      if (key.second != NameId::none)
        add_bounded(sums[{key.first, job.recordings[rank].names.at(key.second)}], time);
  std::int64_t steps = 0;
  for (const MeanLedger& rank : means ? means->ranks : std::vector<MeanLedger>{})
    steps += rank.steps;
  std::vector<HostRange> ranges;
  for (const auto& [key, time] : sums)
    ranges.push_back({shortened(key.second), key.first, time / std::max<std::int64_t>(steps, 1)});
  std::ranges::stable_sort(ranges, std::ranges::greater{}, &HostRange::time);
  ranges.resize(std::min(ranges.size(), most));
  return ranges;
}

/// Efficiency is of what a recording shows: not where much of a step is unknown.
void drop_unknown_efficiency(const std::optional<JobMeans>& means, EfficiencyResult& efficiency) {
  constexpr double most = 0.03;
  if (!means || means->mean.step.mean <= 0.0) return;
  const double unknown = means->mean.all_unknown_work() / means->mean.step.mean;
  if (unknown < most) return;
  efficiency = {std::nullopt, Finding(FindingId::much_work_unknown, unknown)};
}

void add(const CollectiveWait& collective, CollectiveSum& sum) {
  sum.kind = collective.kind;
  ++sum.count;
  bool all_known = true;
  for (const auto& part : collective.participants) {
    add_bounded(part.below_error ? sum.either : sum.wait, part.wait);
    add_bounded(part.known ? sum.transfer : sum.either, part.transfer);
    all_known &= part.known;
  }
  sum.spread_of_ends.push_back(in_seconds(collective.spread_of_ends));
  // Unrecorded ranks may have come after the last that is known.
  if (!all_known) return;
  sum.shortest.push_back(in_seconds(collective.shortest));
  if (!collective.bytes || collective.shortest <= nanoseconds::zero()) return;
  sum.bytes = sum.bytes.value_or(0.0) + static_cast<double>(*collective.bytes);
  sum.seconds_with_bytes += in_seconds(collective.shortest);
}

void sum_collectives(Attribution& job) {
  const std::set<std::int32_t> counted = counted_steps(job.ledger);
  std::map<CollectiveKind, CollectiveSum> kinds;
  std::map<std::pair<std::string, std::string>, CollectiveSum> ways;
  for (const CollectiveWait& one : job.collectives) {
    if (!counted.contains(one.step)) continue;
    const bool both = !one.algorithm.empty() && !one.protocol.empty();
    const std::string way = one.algorithm + (both ? " " : "") + one.protocol;
    CollectiveSum& of_way = ways[{word_of(one.kind), way}];
    of_way.way = way;
    add(one, of_way);
    add(one, kinds[one.kind]);
  }
  const auto value = [](const auto& sum) { return sum.second; };
  job.collective_sums = mapped(kinds, value);
  job.collective_ways = mapped(ways, value);
}

/// Of the work on GPUs, by number.
double share_in_graphs(const Job& job) {
  double all = 0.0;
  double in_graphs = 0.0;
  for (const Recording& recording : job.recordings)
    for (const DeviceEvent& event : recording.device_events) {
      all += 1.0;
      in_graphs += event.graph_node != 0 ? 1.0 : 0.0;
    }
  return all > 0.0 ? in_graphs / all : 0.0;
}
}  // namespace

Attributed attribute(const Job& job, const Known* known) {
  Attributed all;
  Attribution& result = all.result;
  const RankNumbers numbers(job);
  for (const Recording& recording : job.recordings)
    result.recordings.push_back({numbers.at(place_at(result.recordings.size())),
                                 recording.origin.file,
                                 place(recording.origin),
                                 recording.origin.rank_from,
                                 std::ssize(recording.device_events),
                                 std::ssize(recording.host_events),
                                 recording.losses,
                                 recording.origin.on_processor});
  result.job_size = job_size(job);
  result.programs = programs(job);
  result.remarks = job.remarks;
  result.contradictions = job.contradictions;
  const bool alone = job.recordings.size() == 1 && result.job_size.at_least <= 1;
  if (!alone && job.ranks_from) result.remarks.insert(result.remarks.begin(), *job.ranks_from);
  add_recording_remarks(job, result.remarks);
  result.classes = classified_time(job);

  all.matching = known ? known->matching : match_collectives(job);
  result.unmatched_collectives = all.matching.unmatched;
  result.remarks.insert(
      result.remarks.end(), all.matching.remarks.begin(), all.matching.remarks.end());
  all.alignment = known ? known->alignment : align_clocks(job, all.matching);
  result.clocks = all.alignment.report;
  all.steps = known ? known->steps : find_steps(job, all.alignment.map);
  all.steps.drawn = slowest_step(all.steps);
  result.step_choice = all.steps.choice;
  result.graph_share = share_in_graphs(job);
  all.waits = split_waits(job, all.matching, all.alignment);
  result.collectives = all.waits.collectives;
  place_in_steps(all.steps, result.collectives);
  HostTimes host;
  result.ledger = build_job_ledger(job, all.steps, all.waits, all.alignment.map, &host);
  const std::optional<JobMeans> means = job_means(result.ledger);
  result.host_ranges = longest_ranges(job, host, means);
  sum_collectives(result);
  const JobReplay replay(job, all.steps, all.waits, all.alignment);
  result.stragglers = find_stragglers(replay, result.ledger, host);
  result.slow_fabric = find_slow_fabric(job, all.steps, all.waits, all.alignment);
  EfficiencyResult efficiency = measure_efficiency(replay, result.stragglers);
  drop_unknown_efficiency(means, efficiency);
  result.efficiency = std::move(efficiency.efficiency);
  result.efficiency_reason = std::move(efficiency.reason);
  return all;
}
}  // namespace scaleworth::trace
