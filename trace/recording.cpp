// SPDX-License-Identifier: Apache-2.0
#include "trace/recording.h"

#include "src/core/whole_number.h"
#include "trace/capture_settings.h"

#include <array>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
void sort_events(Recording& recording) {
  // All that is known of events decides, not their order in the file.
  const auto device_order = [](const DeviceEvent& a, const DeviceEvent& b) {
    if (a.start != b.start) return a.start < b.start;
    return std::tuple(b.end, a.stream, a.device, a.correlation, a.graph_node, a.name, a.shape) <
           std::tuple(a.end, b.stream, b.device, b.correlation, b.graph_node, b.name, b.shape);
  };
  const auto host_order = [](const HostEvent& a, const HostEvent& b) {
    if (a.start != b.start) return a.start < b.start;
    return std::tuple(b.end, a.thread, a.activity, a.correlation, a.name) <
           std::tuple(a.end, b.thread, b.activity, b.correlation, b.name);
  };
  // Recordings are mostly in order already, and equal events keep theirs.
  if (!std::ranges::is_sorted(recording.device_events, device_order))
    std::ranges::stable_sort(recording.device_events, device_order);
  if (!std::ranges::is_sorted(recording.host_events, host_order))
    std::ranges::stable_sort(recording.host_events, host_order);
  std::ranges::stable_sort(recording.step_marks, {}, [](const StepMark& mark) {
    return std::tuple(mark.start, mark.end, mark.number);
  });
}

void sort_names(Recording& recording) {
  std::vector<NameId> by_text(recording.names.size());
  for (std::size_t i = 0; i < by_text.size(); ++i) by_text[i] = static_cast<NameId>(i);
  std::ranges::sort(by_text, {}, [&](NameId id) { return recording.names.at(id); });
  NameTable sorted;
  std::vector<NameId> moved(by_text.size());
  for (const NameId id : by_text) moved[index_of(id)] = sorted.intern(recording.names.at(id));
  const auto move = [&](NameId& id) { id = moved[index_of(id)]; };
  for (DeviceEvent& event : recording.device_events) move(event.name);
  for (HostEvent& event : recording.host_events) move(event.name);
  for (Copy& copy : recording.copies) move(copy.direction);
  for (Communication& one : recording.communications)
    for (NameId* id : {&one.group, &one.algorithm, &one.protocol}) move(*id);
  std::map<NameId, ProcessGroup> groups;
  for (auto& [id, group] : recording.groups) groups[moved[index_of(id)]] = std::move(group);
  recording.groups = std::move(groups);
  recording.names = std::move(sorted);
}

void state_rank(Recording& recording,
                std::optional<std::int64_t> rank,
                std::optional<std::int64_t> world_size,
                const std::string& from) {
  Origin& origin = recording.origin;
  origin.rank = rank_number(rank);
  origin.world_size = rank_count(world_size);
  if (world_size && !origin.world_size)
    recording.remarks.emplace_back(FindingId::no_size_of_a_job, from, *world_size);
  if (origin.rank && origin.rank >= origin.world_size.value_or(most_ranks)) origin.rank.reset();
  if (rank && !origin.rank)
    recording.remarks.push_back(
        origin.world_size ? Finding(FindingId::no_rank_of_job, from, *rank, *origin.world_size)
                          : Finding(FindingId::no_rank, from, *rank));
  if (origin.rank) origin.rank_from = from;
}

std::string_view synchronization_name(Synchronization::Kind kind) {
  constexpr std::array<std::string_view, 4> names{
      "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
  return names[index_of(kind)];
}

std::uint16_t shape_number(Recording& recording, const std::array<std::int64_t, 6>& launch) {
  const auto& [x, y, z, threads_x, threads_y, threads_z] = launch;
  return shape_number(
      recording,
      fmt::format("[{}, {}, {}] [{}, {}, {}]", x, y, z, threads_x, threads_y, threads_z));
}

bool dropped_records(const Recording& recording) {
  return std::ranges::any_of(recording.losses, [](const auto& loss) {
    return loss.first.starts_with("dropped") && loss.second > 0;
  });
}

// A communicator may hold but a part of the job.
JobSize job_size(const Job& job) {
  JobSize size{static_cast<std::int32_t>(job.recordings.size()), false};
  const RankNumbers numbers(job);
  for (std::size_t place = 0; place < job.recordings.size(); ++place) {
    const Origin& origin = job.recordings[place].origin;
    const std::int32_t world = origin.world_size.value_or(0);
    size.at_least = std::max({size.at_least, numbers.at(place_at(place)).index + 1, world});
    size.stated = size.stated || (world > 0 && origin.rank_basis == RankBasis::stated);
  }
  return size;
}

RankNumbers::RankNumbers(const Job& job) {
  Rank last{-1};
  bool ascending = true;
  for (const Recording& recording : job.recordings) {
    const Rank rank{recording.origin.rank.value_or(-1)};
    ascending = ascending && last < rank;
    ranks_.push_back(last = rank);
  }
  for (std::size_t place = 0; !ascending && place < ranks_.size(); ++place)
    ranks_[place] = Rank{static_cast<int>(place)};
}

std::optional<Place> RankNumbers::place_of(Rank rank) const {
  const auto found = std::ranges::lower_bound(ranks_, rank);
  if (found == ranks_.end() || *found != rank) return std::nullopt;
  return place_at(static_cast<std::size_t>(found - ranks_.begin()));
}

std::string RankNumbers::names(const std::vector<Place>& places) const {
  return rank_names(
      mapped(places, [&](Place place) { return static_cast<std::uint32_t>(at(place).index); }));
}

std::string shortened(std::string_view name) {
  constexpr std::size_t longest = 60;
  if (name.size() <= longest) return std::string(name);
  // Of "package/folder/file.py(12): function" the end says most.
  if (const std::size_t file = name.find(".py("); file != std::string_view::npos)
    if (const std::size_t folder = name.rfind('/', file); folder != std::string_view::npos)
      return shortened(name.substr(folder + 1));
  return fmt::format("{}...", name.substr(0, longest - 3));
}

std::string rank_names(const std::vector<std::uint32_t>& ranks, const char* word) {
  if (ranks.empty()) return "";
  constexpr std::size_t most_runs = 6;
  std::vector<std::string> runs;
  std::size_t more = 0;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (runs.size() == most_runs) {
      more += last - first + 1;
    } else {
      runs.push_back(last == first ? fmt::format("{}", ranks[first])
                                   : fmt::format("{}-{}", ranks[first], ranks[last]));
    }
    first = last + 1;
  }
  if (more > 0) runs.push_back(fmt::format("{} more", more));
  std::string text = fmt::format("{}{} ", word, ranks.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return text;
}

namespace {
constexpr std::size_t fewest_programs = 3;
constexpr int of_programs = 9;  // the preference of their names, behind all others

/// XLA opens a range for each run of a compiled program, "XlaModule:#hlo_module=jit_update,
/// program_id=5972#" (modules that its autotuning tries have no such number): the program is a step
/// where nothing better names one.
std::optional<StepName> program_of_xla(std::string_view name) {
  constexpr std::string_view prefix = "XlaModule:#hlo_module=";
  const std::size_t end = name.find(",program_id=");
  if (!name.starts_with(prefix) || end == std::string_view::npos) return std::nullopt;
  return StepName{
      std::string(name.substr(prefix.size(), end - prefix.size())), std::nullopt, of_programs};
}
}  // namespace

bool marks_from_ranges(Recording& recording, const char* what) {
  struct Kind {
    StepName name;
    bool numbered = true;
    std::vector<StepMark> marks;
    nanoseconds covered{};
  };
  std::map<std::pair<std::string, std::uint32_t>, Kind> found;  // by kind and thread
  auto step_name = remembered(recording.names, [](std::string_view name) {
    const auto step = parse_step_name(name);
    return step ? step : program_of_xla(name);
  });
  for (const HostEvent& event : recording.host_events) {
    if (event.activity != HostActivity::annotation) continue;
    const std::optional<StepName>& step = step_name(event.name);
    if (!step) continue;
    Kind& kind = found[{step->kind, event.thread}];
    kind.name = *step;
    kind.numbered = kind.numbered && step->number.has_value();
    kind.marks.push_back({step->number.value_or(0), event.start, event.end});
  }
  for (auto& entry : found) {
    Kind& kind = entry.second;
    std::ranges::stable_sort(kind.marks, [](const StepMark& a, const StepMark& b) {
      return std::tie(a.start, b.end) < std::tie(b.start, a.end);
    });
    nanoseconds end = nanoseconds::min();
    std::erase_if(kind.marks, [&](const StepMark& mark) {  // inside of another
      if (mark.start < end) return true;
      end = mark.end;
      kind.covered += mark.end - mark.start;
      return false;
    });
  }
  std::erase_if(found, [](const auto& one) {
    const std::size_t fewest = one.second.name.preference == of_programs ? fewest_programs : 2;
    return !one.second.numbered && !one.second.name.of_engine && one.second.marks.size() < fewest;
  });
  const auto best = std::ranges::max_element(found, {}, [](const auto& one) {
    const Kind& kind = one.second;
    return std::tuple(-kind.name.preference, kind.numbered, kind.covered);
  });
  if (best == found.end()) return false;
  const std::string& name = best->first.first;
  auto& [step, numbered, marks, covered] = best->second;
  const bool rising =
      std::ranges::adjacent_find(marks, std::greater_equal<>{}, &StepMark::number) == marks.end();
  if (numbered && !rising)
    recording.remarks.emplace_back(FindingId::step_numbers_do_not_rise, name);
  if (!numbered || !rising)
    for (std::size_t i = 0; i < marks.size(); ++i) marks[i].number = static_cast<std::int32_t>(i);
  recording.step_marks = std::move(marks);
  recording.step_marks_from = name == "ProfilerStep" ? name : fmt::format("{} '{}'", what, name);
  return step.of_engine;
}
}  // namespace scaleworth::trace
