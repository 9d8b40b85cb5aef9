// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"
#include "src/core/mean_ledger.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/attribute.h"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
struct FormatWords {
  NumberFormat format;
  std::string_view words;  // divided by blanks
};
/// In kernels' names, small letters; the first that is found counts, so that operands go before
/// accumulators and results: "sm90_xmma_gemm_bf16bf16_bf16f32_f32", "nvjet_tst" (T: bf16, S: fp32).
constexpr std::array format_words{
    FormatWords{NumberFormat::nvfp4, "e2m1 nvfp4"},
    FormatWords{NumberFormat::mxfp8, "mxfp8"},
    FormatWords{NumberFormat::fp8_e5m2, "e5m2"},
    FormatWords{NumberFormat::fp8_e4m3, "e4m3 fp8 nvjet_q nvjet_sm90_q"},
    FormatWords{NumberFormat::int8, "int8 imma"},
    FormatWords{NumberFormat::bf16, "bf16 bfloat16 nvjet_t nvjet_sm90_t"},
    FormatWords{NumberFormat::tf32, "tf32 nvjet_ss"},
    FormatWords{NumberFormat::fp16, "fp16 f16 h16 half hgemm nvjet_h nvjet_sm90_h"},
    FormatWords{NumberFormat::fp64, "dgemm f64 double"},
    FormatWords{NumberFormat::fp32, "sgemm f32 fp32 float"}};

std::optional<NumberFormat> format_of(std::string_view name, bool on_processor) {
  const std::string small = lower_case(name);
  for (const auto& [format, words] : format_words)
    for (const std::string_view word : split(words, ' '))
      if (small.find(word) != std::string::npos) return format;
  return on_processor ? std::optional(NumberFormat::fp32) : std::nullopt;
}

WorkKind kind_of(WorkClass work_class) {
  switch (work_class) {
    case WorkClass::gemm:
      return WorkKind::product;
    case WorkClass::normalization:
    case WorkClass::elementwise:
    case WorkClass::reduction:
    case WorkClass::embedding:
    case WorkClass::optimizer:
    case WorkClass::copy:
      return WorkKind::memory;
    default:
      return WorkKind::other;
  }
}

/// What tells the pace of an event that is no collective. `ranks`: see MachineWork.
MachineWork work_of(const Recording& recording, const DeviceEvent& event, int ranks) {
  MachineWork work{.kind = kind_of(event.work_class), .ranks = ranks};
  if (work.kind == WorkKind::product)
    work.format = format_of(recording.names.at(event.name), ranks > 0);
  if (event.work_class != WorkClass::copy || event.copy >= recording.copies.size()) return work;
  const std::string direction(recording.names.at(recording.copies[event.copy].direction));
  if (direction != "HtoD" && direction != "DtoH" && direction != "PtoP") return work;
  work.kind = WorkKind::copy;
  work.direction = direction;
  return work;
}

MachineWork collective_work(const Recording& recording,
                            const CommunicationSplit& split,
                            const std::vector<CollectiveWait>& collectives,
                            int job_ranks) {
  const DeviceEvent& event = recording.device_events[split.event];
  MachineWork work{
      .kind = WorkKind::collective, .collective = event.collective, .ranks = job_ranks};
  if (split.collective >= 0) {
    const CollectiveWait& wait = collectives[split.collective];
    work.collective = wait.kind;
    work.bytes = wait.bytes;
    work.ranks = static_cast<int>(wait.participants.size());
  } else if (const Communication* known = communication_of(recording, event)) {
    work.bytes = std::max(known->input_bytes, known->output_bytes);
    const ProcessGroup* group = value_at(recording.groups, known->group);
    if (group != nullptr && group->size) work.ranks = *group->size;
  }
  return work;
}

/// Processes of the job on the recording's host, where its work runs on processors; else 0.
int sharing(const Job& job, const Recording& recording) {
  if (!recording.origin.on_processor) return 0;
  return static_cast<int>(std::ranges::count_if(job.recordings, [&](const Recording& one) {
    return one.origin.host == recording.origin.host;
  }));
}

/// Of a rank, from times as recorded to times as replayed: linear between the nodes' starts and
/// ends, beyond them as far as at the nearest.
class TimeMap {
 public:
  void add(nanoseconds before, nanoseconds after) { knots_.emplace_back(before, after); }
  bool empty() const { return knots_.empty(); }
  /// Before `at`: what lies on several streams may end in another order.
  void settle() {
    std::ranges::sort(knots_);
    for (std::size_t i = 1; i < knots_.size(); ++i)
      knots_[i].second = std::max(knots_[i].second, knots_[i - 1].second);
  }
  nanoseconds at(nanoseconds time) const {
    if (knots_.empty()) return time;
    const auto next = std::ranges::lower_bound(knots_, time, {}, &Knot::first);
    if (next == knots_.begin() || next == knots_.end()) {
      const Knot& end = next == knots_.end() ? knots_.back() : *next;
      return end.second + (time - end.first);
    }
    const Knot& last = *(next - 1);
    const double share = in_ns(time - last.first) / in_ns(next->first - last.first);
    return last.second + rounded_ns(share * in_ns(next->second - last.second));
  }

 private:
  using Knot = std::pair<nanoseconds, nanoseconds>;
  std::vector<Knot> knots_;
};

/// Gives the recording of `view` the times of the common clock that the maps and, of replayed
/// events, `replayed` say; no_time for others. Returns where each device event stands now.
std::vector<std::uint32_t> move_events(Recording& recording,
                                       const RankView& view,
                                       const std::vector<TimeInterval>& replayed,
                                       const TimeMap& of_device,
                                       const TimeMap& of_host) {
  const auto move = [&](auto& event, const TimeMap& map) {
    const TimeInterval span{view.start(event), view.end(event)};
    event.start = map.at(span.start);
    event.end = map.at(span.end);
  };
  std::vector<std::pair<DeviceEvent, std::uint32_t>> events;
  for (std::uint32_t i = 0; i < recording.device_events.size(); ++i) {
    DeviceEvent event = recording.device_events[i];
    const auto& [start, end] = replayed[i];
    const bool known = start <= end;
    if (!known) move(event, of_device);
    if (known) std::tie(event.start, event.end) = std::tie(start, end);
    events.emplace_back(event, i);
  }
  for (HostEvent& event : recording.host_events) move(event, of_host);
  for (StepMark& mark : recording.step_marks) move(mark, of_host);
  // As sort_events, which then finds them in order.
  std::ranges::stable_sort(events, {}, [](const auto& one) {
    return std::tuple(one.first.start, -one.first.end, one.first.stream, one.first.device);
  });
  std::vector<std::uint32_t> places(events.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    recording.device_events[i] = events[i].first;
    places[events[i].second] = i;
  }
  sort_events(recording);
  return places;
}

Change change_of(const std::vector<WorkPace>& paces) {
  Change change;
  for (const WorkPace& one : paces) {
    change.paces.push_back(one.ratio);
    if (one.work.kind == WorkKind::host) change.host_pace = one.ratio;
  }
  return change;
}
}  // namespace

MachineChange::MachineChange(Job& job, const Attributed& recorded)
    : job_(job),
      recorded_(recorded),
      replay_(job, recorded.steps, recorded.waits, recorded.alignment, 1) {
  reason = obstacle();
  if (!reason) number_work();
}

std::optional<Finding> MachineChange::obstacle() const {
  constexpr double most_error = 0.05;
  constexpr double most_unknown = 0.05;  // of the step
  const auto means = job_means(recorded_.result.ledger);
  if (!means || means->mean.step.mean <= 0.0) return FindingId::no_step_in_recordings;
  const double unknown = means->mean.all_unknown_work() / means->mean.step.mean;
  if (unknown > most_unknown) return Finding(FindingId::much_work_unknown, unknown);
  if (replay_.reason || std::abs(replay_.error) <= most_error) return replay_.reason;
  return Finding(FindingId::replay_too_far_off, replay_.error);
}

void MachineChange::number_work() {
  std::map<MachineWork, std::uint16_t> numbers;
  double rank_steps = 0.0;
  for (const EfficiencyWindow& run : replay_.windows.runs) rank_steps += run.steps();
  rank_steps *= static_cast<double>(job_.recordings.size());
  const auto number = [&](MachineWork work) {
    // Beyond so many kinds of messages their sizes are not told apart.
    if (numbers.size() > 0xff00) work.bytes.reset();
    const auto [known, fresh] = numbers.try_emplace(work, static_cast<std::uint16_t>(paces.size()));
    if (fresh) paces.push_back({.work = work});
    return known->second;
  };
  const MeanLedger mean = job_means(recorded_.result.ledger)->mean;
  paces[number({.ranks = sharing(job_, job_.recordings.front())})].recorded =
      group_times(mean.part_times())[index_of(PartGroup::host)].value_or(0.0);
  const int job_ranks =
      std::max(static_cast<int>(job_.recordings.size()), recorded_.result.job_size.at_least);
  for (ReplayGraph& run : replay_.runs)
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
      const Recording& recording = job_.recordings[rank];
      for (const CommunicationSplit& split : recorded_.waits.by_rank[rank])
        if (const NodeIndex node = run.node_of(rank, split.event); node != no_index)
          run.devices[node].work =
              number(collective_work(recording, split, recorded_.waits.collectives, job_ranks));
      const int ranks = sharing(job_, recording);
      std::map<std::tuple<NameId, WorkClass, std::uint32_t>, std::uint16_t> known;
      for (NodeIndex i = run.ranks[rank].first; i < run.ranks[rank].last; ++i) {
        DeviceNode& node = run.devices[i];
        const DeviceEvent& event = recording.device_events[node.event];
        const auto [place, fresh] =
            known.try_emplace({event.name, event.work_class, event.copy}, node.work);
        const bool communicates = node.kind == DeviceNode::Kind::communication;
        if (fresh && !communicates) place->second = number(work_of(recording, event, ranks));
        if (!communicates) node.work = place->second;
        paces[node.work].recorded +=
            1e-9 * static_cast<double>(recorded_length(run, node)) / rank_steps;
        paces[node.work].calls += 1.0 / rank_steps;
      }
    }
}

MachinePrediction MachineChange::predict(const std::vector<WorkPace>& with) const {
  constexpr double noise = 0.028;  // from one recording to the next, both taken at 1 %
  std::vector<Change> changes{change_of(with)};
  for (const WorkKind kind : every<WorkKind>)
    for (const double side : {-normal_reach, normal_reach}) {
      std::vector<WorkPace> moved = with;
      for (WorkPace& one : moved)
        if (one.work.kind == kind) one.ratio *= std::exp(side * one.error);
      changes.push_back(change_of(moved));
    }
  const Predictor predictor(replay_.runs, changes);
  MachinePrediction result{
      replay_.error, with, {predictor.ratio(changes.front()), std::nullopt, 0}};
  double down = noise * noise + replay_.error * replay_.error;
  double up = down;
  for (std::size_t i = 1; i + 1 < changes.size(); i += 2) {
    const double one = std::log(predictor.ratio(changes[i]) / result.ratio.value);
    const double other = std::log(predictor.ratio(changes[i + 1]) / result.ratio.value);
    down += std::pow(std::min({one, other, 0.0}), 2.0);
    up += std::pow(std::max({one, other, 0.0}), 2.0);
  }
  result.ratio.interval = Interval<double>{result.ratio.value * std::exp(-std::sqrt(down)),
                                           result.ratio.value * std::exp(std::sqrt(up))};
  return result;
}

Attribution MachineChange::attribute_with(const std::vector<WorkPace>& with) {
  const Change change = change_of(with);
  const std::size_t ranks = job_.recordings.size();
  std::vector<TimeMap> devices(ranks);
  std::vector<TimeMap> hosts(ranks);
  std::vector<std::vector<TimeInterval>> replayed;  // by rank and event
  for (const Recording& one : job_.recordings)
    replayed.emplace_back(one.device_events.size(), no_time);
  nanoseconds later{};  // than recorded, by the runs before
  for (const ReplayGraph& run : replay_.runs) {
    ReplayedTimes times;
    const auto end = last_end(run, change, replay(run, change, &times));
    const auto add = [&](TimeMap& map, const auto& node, const ReplayedTimes::Span& span) {
      const TimeInterval after{nanoseconds(span.start) + later,
                               nanoseconds(std::max(span.start, span.end)) + later};
      map.add(nanoseconds(node.start), after.start);
      map.add(nanoseconds(node.end), after.end);
      return after;
    };
    for (std::size_t i = 0; i < run.devices.size(); ++i) {
      const DeviceNode& node = run.devices[i];
      replayed[node.rank][node.event] = add(devices[node.rank], node, times.devices[i]);
    }
    for (std::size_t i = 0; i < run.hosts.size(); ++i)
      add(hosts[run.hosts[i].rank], run.hosts[i], times.hosts[i]);
    if (end) later += nanoseconds(*end - *last_end(run, change, recorded_ends(run)));
  }
  Known known{recorded_.matching, recorded_.alignment, {recorded_.steps.choice, {}}};
  known.alignment.map = ClockMap(ranks);
  std::vector<std::vector<std::uint32_t>> places(ranks);  // of recorded events
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    devices[rank].settle();
    hosts[rank].settle();
    const TimeMap& of_host = hosts[rank].empty() ? devices[rank] : hosts[rank];
    const RankView view(job_.recordings[rank], recorded_.alignment.map, rank);
    places[rank] = move_events(job_.recordings[rank], view, replayed[rank], devices[rank], of_host);
    auto& steps = known.steps.by_rank.emplace_back();
    for (StepSpan step : recorded_.steps.by_rank[rank]) {
      const bool in_a_run =
          std::ranges::any_of(replay_.windows.runs, [&](const EfficiencyWindow& run) {
            return step.start >= run.by_rank[rank].start && step.end <= run.by_rank[rank].end;
          });
      if (!in_a_run && !step.excluded) continue;  // too many to replay
      step.start = devices[rank].at(step.start);
      step.end = devices[rank].at(step.end);
      steps.push_back(step);
    }
  }
  for (MatchedCollective& one : known.matching.collectives)
    for (auto& member : one.members) member.event = places[member.place.index][member.event];
  return attribute(job_, &known).result;
}
}  // namespace scaleworth::trace
