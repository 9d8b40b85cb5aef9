// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"
#include "src/core/whole_number.h"
#include "trace/analysis/intervals.h"
#include "trace/formats/read_job.h"
#include "trace/formats/swtrace/swtrace.h"

#include <cctype>
#include <map>
#include <set>

namespace scaleworth::trace {
namespace {
using Ranks = std::vector<std::optional<std::int32_t>>;

Ranks metadata_ranks(const std::vector<Recording>& recordings) {
  Ranks ranks;
  for (const Recording& recording : recordings) {
    const Origin& origin = recording.origin;
    ranks.push_back(origin.rank_basis != RankBasis::counted ? origin.rank : std::nullopt);
  }
  return ranks;
}

/// A name stands for a single recording, and for a rank that its job has.
Ranks name_ranks(const std::vector<Recording>& recordings) {
  std::map<std::string, int> uses;
  for (const Recording& recording : recordings) ++uses[recording.origin.file];
  Ranks ranks;
  for (const Recording& recording : recordings) {
    const std::string& file = recording.origin.file;
    const auto rank = uses[file] == 1 ? file_name_rank(file) : std::nullopt;
    // A communicator need not hold the whole job.
    const bool of_job = recording.origin.rank_basis != RankBasis::communicator;
    const auto size = of_job ? recording.origin.world_size : std::nullopt;
    ranks.push_back(rank < size.value_or(most_ranks) ? rank : std::nullopt);
  }
  return ranks;
}

/// Two recordings of the same rank.
std::optional<std::pair<std::size_t, std::size_t>> duplicate(const Ranks& ranks) {
  std::map<std::int32_t, std::size_t> first;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i]) continue;
    const auto [entry, added] = first.emplace(*ranks[i], i);
    if (!added) return std::pair(entry->second, i);
  }
  return std::nullopt;
}

bool complete(const Ranks& ranks) {
  return std::ranges::all_of(ranks, [](const auto& rank) { return rank.has_value(); });
}

void set_ranks(std::vector<Recording>& recordings, const Ranks& ranks) {
  for (std::size_t i = 0; i < recordings.size(); ++i) recordings[i].origin.rank = ranks[i];
}

/// "distributedInfo", "distributedInfo and file name"
std::string sources(const std::vector<Recording>& recordings) {
  std::set<std::string> from;
  for (const Recording& recording : recordings) from.insert(recording.origin.rank_from);
  return fmt::format("{}", fmt::join(from, " and "));
}

/// Those without a rank take the free ones in the order of the files.
Ranks filled_in_order(const std::vector<Recording>& recordings, const Ranks& known) {
  std::set<std::int32_t> taken;
  for (const auto& rank : known)
    if (rank) taken.insert(*rank);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!known[i]) open.push_back(i);
  std::ranges::stable_sort(open, [&](std::size_t a, std::size_t b) {
    return natural_less(recordings[a].origin.file, recordings[b].origin.file);
  });
  Ranks ranks = known;
  std::int32_t next = 0;
  for (const std::size_t i : open) {
    while (taken.contains(next)) ++next;
    ranks[i] = next++;
  }
  return ranks;
}

/// Sets the ranks and returns how they were found.
Finding decide(std::vector<Recording>& recordings) {
  const Ranks metadata = metadata_ranks(recordings);
  const Ranks names = name_ranks(recordings);
  const auto twice = duplicate(metadata);
  if (complete(metadata) && !twice) {
    set_ranks(recordings, metadata);
    return {FindingId::ranks_stated, sources(recordings)};
  }
  if (complete(names) && !duplicate(names)) {
    set_ranks(recordings, names);
    for (Recording& recording : recordings) {
      recording.origin.rank_from = "file name";
      recording.origin.rank_basis = RankBasis::stated;
    }
    if (!twice) return FindingId::ranks_of_names;
    return {FindingId::ranks_of_names_as_both,
            recordings[twice->first].origin.file,
            recordings[twice->second].origin.file,
            *metadata[twice->first]};
  }
  if (twice)
    throw UserError(
        "{} and {} are both rank {}: give one recording per rank of one run, or put "
        "the ranks into the names (rank-0.json)",
        recordings[twice->first].origin.file,
        recordings[twice->second].origin.file,
        *metadata[twice->first]);
  Ranks known = metadata;  // and file names for the rest
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!known[i]) known[i] = names[i];
  if (duplicate(known)) known = metadata;
  const bool nothing_known =
      std::ranges::none_of(known, [](const auto& rank) { return rank.has_value(); });
  const bool one_file = std::ranges::all_of(recordings, [&](const Recording& r) {
    return r.origin.file == recordings.front().origin.file;
  });
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    std::string& from = recordings[i].origin.rank_from;
    if (!metadata[i] && known[i]) from = "file name";
    if ((metadata[i] || known[i] || one_file) && !from.empty()) continue;
    from = "order of files";
    recordings[i].origin.rank_basis = RankBasis::counted;
  }
  set_ranks(recordings, filled_in_order(recordings, known));
  if (complete(known)) return {FindingId::ranks_stated_or_named, sources(recordings)};
  if (!nothing_known) return FindingId::some_ranks_in_order;
  if (one_file && recordings.size() > 1) return {FindingId::ranks_counted, sources(recordings)};
  return FindingId::ranks_in_order;
}

void describe_missing(Job& job) {
  // At least the largest rank and one.
  std::int32_t size = job.recordings.back().origin.rank.value_or(0) + 1;
  for (const Recording& recording : job.recordings)
    size = std::max(size, recording.origin.world_size.value_or(0));
  if (size <= static_cast<std::int32_t>(job.recordings.size())) return;
  std::vector<bool> there(size, false);
  for (const Recording& recording : job.recordings) there[*recording.origin.rank] = true;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < there.size(); ++rank)
    if (!there[rank]) missing.push_back(rank);
  job.remarks.emplace_back(
      missing.size() == 1 ? FindingId::other_rank_missing : FindingId::other_ranks_missing,
      rank_names(missing),
      size);
}

constexpr std::size_t most_digits = 6;

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

/// The number that begins at `at`: digits that no letter follows ("rank4x8" is a size).
std::optional<std::int32_t> number_at(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  if (end == at || end - at > most_digits) return std::nullopt;
  if (end < text.size() && is_letter(text[end])) return std::nullopt;
  return parse_number<std::int32_t>(text.substr(at, end - at));
}

constexpr std::size_t least_collectives = 3;

struct Call {
  CollectiveKind kind = CollectiveKind::unknown;
  TimeInterval time;
};

/// The collectives of each GPU that has any work, in the order of their starts.
using CallsOfDevice = std::map<std::uint16_t, std::vector<Call>>;

CallsOfDevice calls_of_devices(const Recording& recording, const RuleTable& rules) {
  auto kind_of = remembered(recording.names, [&](auto name) {  // absent: no collective
    const KernelVerdict verdict = rules.kernel(name);
    const bool collective = verdict.work_class == WorkClass::communication;
    return collective ? std::optional(verdict.collective) : std::nullopt;
  });
  CallsOfDevice calls;
  for (const DeviceEvent& event : recording.device_events) {
    auto& of_device = calls[event.device];
    if (event.operation != DeviceOperation::kernel) continue;
    if (const auto& kind = kind_of(event.name))
      of_device.push_back({*kind, {event.start, event.end}});
  }
  return calls;
}

/// How many collectives each GPU ran together with all others; 0 where they are not the same ones.
std::size_t common_calls(const CallsOfDevice& devices) {
  const std::vector<Call>& first = devices.begin()->second;
  for (const auto& [device, calls] : devices) {
    const bool same = std::ranges::equal(
        calls, first, [](const Call& a, const Call& b) { return a.kind == b.kind; });
    if (!same) return 0;
  }
  std::size_t together = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    TimeInterval common = first[i].time;
    for (const auto& [device, calls] : devices) {
      common.start = std::max(common.start, calls[i].time.start);
      common.end = std::min(common.end, calls[i].time.end);
    }
    together += common.start < common.end;
  }
  return 10 * together >= 9 * first.size() ? first.size() : 0;
}

/// Whether as many processes launched work as GPUs ran it: a file of several ranks. Each process
/// counts its launches from 1; their numbers become those of one file, taking processes and GPUs in
/// their order.
bool tell_processes_apart(Recording& recording, const CallsOfDevice& devices) {
  const auto process = mapped(recording.threads, [](const std::string& thread) {
    return thread.substr(0, thread.rfind('/'));
  });
  std::set<std::string> launching;
  for (const HostEvent& event : recording.host_events)
    if (is_call(event)) launching.insert(process.at(event.thread));
  if (launching.size() < 2 || launching.size() != devices.size()) return false;
  const auto apart = [](auto& event, const auto& all, const auto& own) {
    constexpr int bits = 40;  // above any count of launches
    const auto number = static_cast<std::uint64_t>(std::distance(all.begin(), all.find(own)));
    if (event.correlation != 0) event.correlation += number << bits;
  };
  for (HostEvent& event : recording.host_events) apart(event, launching, process[event.thread]);
  for (DeviceEvent& event : recording.device_events) apart(event, devices, event.device);
  return true;
}

/// What clocks of hosts may differ by, and profilers in when they start.
constexpr nanoseconds tolerated_gap = std::chrono::seconds(60);

[[noreturn]] void refuse(const Recording& a, const Recording& b, const std::string& why) {
  throw UserError("{} and {} are of different runs ({}): give the recordings of one run",
                  a.origin.file,
                  b.origin.file,
                  why);
}

/// Refuses recordings for which `fact` is known and differs; `unit` follows it in the message.
template <typename Fact>
void compare(const std::vector<Recording>& recordings, Fact fact, std::string_view unit) {
  const Recording* first = nullptr;
  for (const Recording& recording : recordings) {
    if (!fact(recording.origin)) continue;
    if (!first) first = &recording;
    const auto known = fact(first->origin);
    const auto other = fact(recording.origin);
    if (known != other) refuse(*first, recording, fmt::format("{} and {}{}", *known, *other, unit));
  }
}

void compare_times(const std::vector<Recording>& recordings) {
  std::vector<std::pair<TimeInterval, const Recording*>> spans;
  nanoseconds longest{};
  for (const Recording& recording : recordings) {
    const TimeInterval span = device_span(recording);
    if (recording.device_events.empty() || span.start < wall_clock_begins) continue;
    spans.emplace_back(span, &recording);
    longest = std::max(longest, span.end - span.start);
  }
  std::ranges::sort(spans, {}, [](const auto& span) { return span.first.start; });
  const std::pair<TimeInterval, const Recording*>* latest = nullptr;
  for (const auto& span : spans) {
    const auto gap = latest ? span.first.start - latest->first.end : nanoseconds::min();
    if (gap > std::max(tolerated_gap, longest))
      refuse(*latest->second,
             *span.second,
             fmt::format("{:.0f} s lie between them", std::chrono::duration<double>(gap).count()));
    if (!latest || span.first.end > latest->first.end) latest = &span;
  }
}
}  // namespace

TimeInterval device_span(const Recording& recording) {
  TimeInterval span = no_time;
  for (const DeviceEvent& event : recording.device_events) extend(span, {event.start, event.end});
  return span;
}

void assign_ranks(Job& job) {
  if (job.recordings.empty()) return;
  job.ranks_from = decide(job.recordings);
  std::ranges::stable_sort(job.recordings, {}, [](const Recording& a) { return a.origin.rank; });
  describe_missing(job);
}

std::optional<std::int32_t> file_name_rank(std::string_view path) {
  constexpr std::string_view word = "rank";
  const std::string name = lower_case(path.substr(path.find_last_of("/:") + 1));
  for (std::size_t at = name.rfind(word); at != std::string::npos;
       at = at == 0 ? std::string::npos : name.rfind(word, at - 1)) {
    // "lowrank8" is a model; a local rank is one of its node's.
    const std::string_view before = std::string_view(name).substr(0, at);
    if (!before.empty() && is_letter(before.back())) continue;
    if (before.ends_with("local_") || before.ends_with("local-")) continue;
    std::size_t from = at + word.size();
    if (from < name.size() && std::string_view("-_.=").find(name[from]) != std::string_view::npos)
      ++from;
    if (const auto number = number_at(name, from)) return number;
  }
  return std::nullopt;
}

void split_lone_process(Job& job, const RuleTable& rules) {
  if (job.recordings.size() != 1) return;
  Recording& whole = job.recordings.front();
  const Origin& origin = whole.origin;
  const CallsOfDevice devices = calls_of_devices(whole, rules);
  const bool merged = origin.tool == "Kineto" && tell_processes_apart(whole, devices);
  const bool one_rank = origin.world_size.value_or(1) > 1 || origin.rank.value_or(0) > 0;
  if (origin.framework_timeline || (one_rank && !merged) || devices.size() < 2) return;
  const std::size_t calls = common_calls(devices);
  if (calls < least_collectives) return;
  recording::DeviceRanks ranks;
  ranks.size = static_cast<std::int32_t>(devices.size());
  std::int32_t next = 0;
  for (const auto& [device, unused] : devices) ranks.ranks[device] = {next++};
  std::vector<Recording> parts =
      recording::split_by_device(std::move(whole), {{0, std::move(ranks)}});
  if (parts.size() > 1) {
    for (Recording& part : parts) {
      part.origin.rank_basis = RankBasis::counted;
      part.origin.rank_from =
          merged ? "order of the GPUs of merged processes" : "order of the GPUs of one process";
    }
    if (!merged) job.remarks.emplace_back(FindingId::gpus_are_ranks, parts.size(), calls);
  }
  job.recordings = std::move(parts);
}

void refuse_mixed_runs(const Job& job) {
  // A communicator's size is the job's only where it holds all ranks.
  const auto size = [](const Origin& origin) {
    return origin.rank_basis == RankBasis::communicator ? std::nullopt : origin.world_size;
  };
  // Communicators of parts of the job differ in one run.
  const auto count = static_cast<std::int32_t>(job.recordings.size());
  const auto run = [&](const Origin& origin) {
    const bool of_all = !origin.run.empty() && origin.world_size.value_or(count) >= count;
    return of_all ? std::optional(origin.run) : std::nullopt;
  };
  compare(job.recordings, size, " ranks");
  compare(job.recordings, run, "");
  compare_times(job.recordings);
}
}  // namespace scaleworth::trace
