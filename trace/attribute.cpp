// SPDX-License-Identifier: Apache-2.0
#include "trace/attribute.h"

#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/stragglers.h"
#include "trace/classify.h"

#include <algorithm>

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

// A communicator may hold but a part of the job.
attribution::JobSize size_of(const Job& job) {
  attribution::JobSize size{static_cast<std::int32_t>(job.recordings.size()), false};
  const RankNumbers numbers(job);
  for (std::size_t place = 0; place < job.recordings.size(); ++place) {
    const Origin& origin = job.recordings[place].origin;
    const std::int32_t world = origin.world_size.value_or(0);
    size.at_least = std::max({size.at_least, numbers.at(place).index + 1, world});
    size.stated = size.stated || (world > 0 && origin.rank_basis == RankBasis::stated);
  }
  return size;
}

// A remark that many recordings make is printed once.
void add_recording_remarks(const Job& job, std::vector<std::string>& remarks) {
  const RankNumbers numbers(job);
  std::map<std::string, std::vector<int>> ranks_of;
  for (std::size_t place = 0; place < job.recordings.size(); ++place) {
    for (const std::string& remark : job.recordings[place].remarks)
      ranks_of[remark].push_back(numbers.at(place).index);
  }
  for (const auto& [remark, ranks] : ranks_of) {
    remarks.push_back(
        ranks.size() == 1
            ? fmt::format("rank {}: {}", ranks.front(), remark)
            : fmt::format("rank {} and {} more: {}", ranks.front(), ranks.size() - 1, remark));
  }
}

// A collective belongs to the step in which it ended on its last rank.
void place_in_steps(const StepPlan& steps, std::vector<attribution::CollectiveWait>& collectives) {
  for (attribution::CollectiveWait& collective : collectives) {
    const auto last = std::ranges::max_element(
        collective.participants, {}, &attribution::CollectiveWait::Participant::end);
    if (last == collective.participants.end()) continue;
    const auto& spans = steps.by_rank.at(static_cast<std::size_t>(last->rank.index));
    const auto after = std::ranges::lower_bound(spans, last->end, {}, &StepSpan::end);
    if (after != spans.end() && after->start < last->end) collective.step = after->number;
  }
}
}  // namespace

Attributed attribute(const Job& job) {
  Attributed all;
  attribution::Attribution& result = all.result;
  for (const Recording& recording : job.recordings)
    result.recordings.push_back({Rank{static_cast<int>(result.recordings.size())},
                                 recording.origin.file,
                                 place(recording.origin),
                                 recording.origin.rank_from,
                                 std::ssize(recording.device_events),
                                 std::ssize(recording.host_events),
                                 recording.losses});
  result.job_size = size_of(job);
  result.remarks = job.remarks;
  if (!job.ranks_from.empty()) result.remarks.insert(result.remarks.begin(), job.ranks_from);
  add_recording_remarks(job, result.remarks);
  result.classes = classified_time(job);

  all.matching = match_collectives(job);
  result.unmatched_collectives = all.matching.unmatched;
  result.remarks.insert(
      result.remarks.end(), all.matching.remarks.begin(), all.matching.remarks.end());
  all.alignment = align_clocks(job, all.matching);
  result.clocks = all.alignment.report;
  all.steps = find_steps(job, all.alignment.map);
  result.step_choice = all.steps.choice;
  all.waits = split_waits(job, all.matching, all.alignment);
  result.collectives = all.waits.collectives;
  place_in_steps(all.steps, result.collectives);
  result.ledger = build_job_ledger(job, all.steps, all.waits, all.alignment.map);
  result.stragglers = find_stragglers(job, all.steps, all.waits, all.alignment, result.ledger);
  EfficiencyResult efficiency =
      measure_efficiency(job, all.steps, all.waits, all.alignment, result.stragglers);
  result.efficiency = std::move(efficiency.efficiency);
  result.efficiency_reason = std::move(efficiency.reason);
  number_ranks(RankNumbers(job), result);
  return all;
}
}  // namespace scaleworth::trace
