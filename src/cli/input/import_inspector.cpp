// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/whole_number.h"

#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
namespace {
using nlohmann::json;

// Format: NVIDIA/nccl plugins/profiler/inspector: README.md ("Output Example", "Per-Dump Stats
// Record"), inspector_json.cc (inspectorCommInfoDumpStats, inspectorCompletedColl), inspector.cc
// (inspectorComputeOpBw: all_gather and reduce_scatter count the bytes of one rank).

/// A record with the kernels of 64 channels has 30 KiB, one of a proxy with its steps some more.
constexpr std::size_t longest_record = 4U << 20U;
/// Each of them is kept until the last file has been read.
constexpr std::size_t most_collectives = 1'000'000;
/// NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES by default: what is smaller is not recorded reliably.
constexpr std::int64_t least_bytes = 8192;
/// Times are whole microseconds: a difference below ten of them is not told apart from none.
constexpr std::int64_t least_wait_us = 10;
// A rank is named that came last to four of five collectives in which anyone waited, of so many.
constexpr std::int64_t least_judged = 20;
constexpr double late_share = 0.8;

/// One record of one rank.
struct Header {
  std::size_t communicator = 0;
  int rank = 0;
};

/// What the ranks recorded of one collective; times in us.
struct Instance {
  std::int64_t bytes = 0;
  std::string algorithm;
  std::string protocol;
  std::int64_t shortest = 0;
  std::int64_t second = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
  int late = 0;            // the rank with the shortest time: it came last and waited for nobody
  std::vector<int> ranks;  // that recorded it, ascending
  bool differs = false;    // the ranks do not agree about its size
};

struct Communicator {
  std::string id;
  std::string name;
  int ranks = 0;
  std::optional<int> nodes;
  std::map<int, std::size_t> file_of_rank;

  bool has_all(const Instance& one) const {
    return one.ranks.size() == static_cast<std::size_t>(ranks);
  }
};

struct Lateness {
  std::int64_t whole = 0;
  std::int64_t judged = 0;
  std::map<int, std::vector<double>> waits;  // of the others, by the rank that came last
  std::vector<double> times;
};
}  // namespace

struct InspectorReader::State {
  std::vector<std::string> files;
  std::set<std::string> versions;
  std::set<std::string> hosts;
  std::map<std::pair<std::string, int>, std::size_t> known;
  std::vector<Communicator> communicators;
  std::map<std::tuple<std::size_t, Collective, std::int64_t>, Instance> instances;
  ProbeRecord probe;

  void count(const char* loss, double amount = 1.0) { probe.losses[loss] += amount; }
  Header header(const json& record, const std::string& place);
  void collective(const json& perf, const Header& header, const std::string& place);
  void judge_ranks();
  void add_points();
  std::optional<Finding> late_rank(const Communicator& communicator,
                                   const Lateness& lateness) const;
};

Header InspectorReader::State::header(const json& record, const std::string& place) {
  const json& head = *member_of(record, "header");
  const auto ranks = rank_count(whole_in(member_of(head, "n_ranks")));
  const auto rank = rank_number(whole_in(member_of(head, "rank")));
  const std::string id = text_in(member_of(head, "id"));
  if (!ranks || !rank || *rank >= *ranks || id.empty())
    throw UserError("{}: no header with id, rank and n_ranks; give what NCCL Inspector wrote",
                    place);
  const auto [at, first] = known.try_emplace({id, *ranks}, communicators.size());
  if (first) {
    if (communicators.size() > most_collectives)
      throw UserError("{}: too many communicators; give a shorter stretch", place);
    Communicator& one = communicators.emplace_back();
    one.id = id;
    one.ranks = *ranks;
    one.name = text_in(member_of(head, "comm_name"));
    one.nodes = rank_count(whole_in(member_of(head, "nnodes")));
  }
  const auto [file, new_rank] =
      communicators[at->second].file_of_rank.try_emplace(*rank, files.size() - 1);
  if (!new_rank && file->second != files.size() - 1)
    throw UserError("{}: rank {} of communicator {} is in {} too; give each process's file once",
                    place,
                    *rank,
                    printable(id),
                    files[file->second]);
  if (const json* data = member_of(record, "metadata")) {
    const std::string version = text_in(member_of(*data, "inspector_output_format_version"));
    if (!version.empty() && versions.size() < 10) versions.insert(version);
    const std::string host = text_in(member_of(*data, "hostname"));
    if (!host.empty() && hosts.size() < most_collectives) hosts.insert(host);
  }
  return {at->second, *rank};
}

void InspectorReader::State::collective(const json& perf,
                                        const Header& header,
                                        const std::string& place) {
  const auto kind = collective_of_program(text_in(member_of(perf, "coll")));
  const auto number = whole_in(member_of(perf, "coll_sn"));
  constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
  auto bytes = whole_number<std::int64_t>(
      whole_in(member_of(perf, "coll_msg_size_bytes")), std::int64_t{0}, most_bytes);
  const auto time = whole_number<std::int64_t>(
      whole_in(member_of(perf, "coll_exec_time_us")), std::int64_t{0}, std::int64_t{1} << 50);
  if (!number || !bytes || !time)
    throw UserError(
        "{}: a collective without coll_sn, coll_msg_size_bytes or coll_exec_time_us; "
        "give what NCCL Inspector wrote",
        place);
  const Communicator& communicator = communicators[header.communicator];
  const std::string source = text_in(member_of(perf, "coll_timing_source"));
  // Of all_to_all Inspector defines no size.
  if (!kind || *kind == Collective::all_to_all || communicator.ranks < 2)
    return count("other_records");
  if (!source.empty() && source != "kernel_gpu") return count("records_timed_by_the_cpu");
  if (*bytes < least_bytes || *time == 0) return count("records_too_small");
  if (*kind == Collective::all_gather || *kind == Collective::reduce_scatter) {
    if (*bytes > most_bytes / communicator.ranks)
      throw UserError("{}: more bytes than {} ranks hold; give what NCCL Inspector wrote",
                      place,
                      communicator.ranks);
    *bytes *= communicator.ranks;
  }
  const auto [at, first] = instances.try_emplace({header.communicator, *kind, *number});
  if (instances.size() > most_collectives)
    throw UserError(
        "{}: more than {} collectives; give a shorter stretch of the job", place, most_collectives);
  Instance& one = at->second;
  if (first) {
    one.bytes = *bytes;
    one.algorithm = library_word(text_in(member_of(perf, "coll_algo")));
    one.protocol = library_word(text_in(member_of(perf, "coll_proto")));
  }
  one.differs = one.differs || one.bytes != *bytes;
  const auto behind = std::ranges::lower_bound(one.ranks, header.rank);
  if (behind != one.ranks.end() && *behind == header.rank) return count("repeated_records");
  one.ranks.insert(behind, header.rank);
  if (one.ranks.size() == 1 || *time < one.shortest) {
    if (one.ranks.size() > 1) one.second = one.shortest;
    one.shortest = *time;
    one.late = header.rank;
  } else {
    one.second = std::min(one.second, *time);
  }
  one.longest = std::max(one.longest, *time);
}

std::optional<Finding> InspectorReader::State::late_rank(const Communicator& communicator,
                                                         const Lateness& lateness) const {
  if (lateness.judged < least_judged) return std::nullopt;
  const auto late = std::ranges::max_element(
      lateness.waits, {}, [](const auto& one) { return one.second.size(); });
  const auto times = static_cast<double>(late->second.size());
  if (times < late_share * static_cast<double>(lateness.judged)) return std::nullopt;
  return Finding(FindingId::rank_came_last,
                 late->first,
                 times,
                 lateness.whole,
                 printable(communicator.name.empty() ? communicator.id : communicator.name),
                 communicator.ranks,
                 *median(late->second),
                 *median(lateness.times));
}

void InspectorReader::State::judge_ranks() {
  std::map<std::size_t, Lateness> by_communicator;
  for (const auto& [key, one] : instances) {
    const std::size_t communicator = std::get<0>(key);
    if (!communicators[communicator].has_all(one) || one.differs) continue;
    Lateness& lateness = by_communicator[communicator];
    ++lateness.whole;
    const std::int64_t wait = one.longest - one.shortest;
    if (wait < least_wait_us) continue;
    ++lateness.judged;
    if (one.second - one.shortest < 2) continue;  // two may have come last
    lateness.waits[one.late].push_back(static_cast<double>(wait));
    lateness.times.push_back(static_cast<double>(one.longest));
  }
  constexpr std::size_t most_said = 8;
  for (const auto& [communicator, lateness] : by_communicator) {
    if (lateness.waits.empty() || probe.warnings.size() >= most_said) continue;
    if (const auto late = late_rank(communicators[communicator], lateness))
      probe.warnings.push_back(*late);
  }
}

void InspectorReader::State::add_points() {
  const auto is_whole = [&](const auto& entry) {
    return communicators[std::get<0>(entry.first)].has_all(entry.second);
  };
  const bool any_whole = std::ranges::any_of(instances, is_whole);
  std::map<Setting, Series> points;
  for (const auto& entry : instances) {
    const auto& [communicator, kind, number] = entry.first;
    const Instance& one = entry.second;
    const Communicator& among = communicators[communicator];
    if (one.differs || (any_whole && !is_whole(entry))) {
      count("collectives_not_of_all_ranks");
      continue;
    }
    Setting setting{{Parameter::collective, kind},
                    {Parameter::mode, CollectiveMode::isolated},
                    {Parameter::ranks, std::int64_t{among.ranks}},
                    {Parameter::selection, RankSelection::all},
                    {Parameter::message_bytes, one.bytes},
                    {Parameter::algorithm, std::string()},
                    {Parameter::protocol, std::string()},
                    {Parameter::in_place, false},
                    {Parameter::shared_gpu, false}};
    if (among.nodes) setting.set(Parameter::nodes, std::int64_t{*among.nodes});
    if (!one.algorithm.empty()) setting.set(Parameter::ran_algorithm, one.algorithm);
    if (!one.protocol.empty()) setting.set(Parameter::ran_protocol, one.protocol);
    Series& times = points[setting];
    times.push_back(static_cast<double>(one.shortest) / 1e6);
    times.sampling.resolution = 1e-6;
  }
  for (auto& [setting, times] : points)
    probe.points.push_back({setting, {}, {{Metric::time_s, std::move(times)}}});
  if (!any_whole && !points.empty()) {
    const Instance& one = instances.begin()->second;
    probe.warnings.emplace_back(FindingId::collectives_without_all_ranks,
                                one.ranks.size(),
                                communicators[std::get<0>(instances.begin()->first)].ranks);
  }
}

InspectorReader::InspectorReader() : state_(std::make_unique<State>()) {
  state_->probe.name = probe_name::comm_nccl;
  state_->probe.status = ProbeStatus::measured;
}
InspectorReader::~InspectorReader() = default;

void InspectorReader::take(std::istream& lines, const std::string& file) {
  State& state = *state_;
  state.files.push_back(file);
  PlainLines reader(lines, longest_record);
  std::optional<Header> marker;  // of a batch, whose records have no header since v4.3
  std::int64_t left = 0;         // in that batch
  std::string line;
  while (reader.next(line)) {
    if (trimmed(line).empty()) continue;
    const std::string place = fmt::format("{}:{}", file, reader.number());
    const json record = parse_bounded_json(line, place, std::size_t{1} << 28U);
    const json* stats = member_of(record, "dump_stats");
    const json* perf = member_of(record, "coll_perf");
    const bool own_header = member_of(record, "header") != nullptr;
    if (stats != nullptr && own_header) {
      if (left > 0)
        throw UserError(
            "{}: {} lines of the dump before are missing; give the file unchanged", place, left);
      marker = state.header(record, place);
      for (const char* kind : {"coll_records", "p2p_records", "proxy_records"})
        left += std::clamp<std::int64_t>(
            whole_in(member_of(*stats, kind)).value_or(0), 0, 1'000'000'000);
      for (const char* kind : {"coll_dropped_since_last_dump", "p2p_dropped_since_last_dump"})
        if (const auto lost = number_in(member_of(*stats, kind)); lost && *lost > 0.0)
          state.count("records_lost_by_inspector", *lost);
      continue;
    }
    const bool other =
        member_of(record, "p2p_perf") != nullptr || member_of(record, "proxy_trace") != nullptr;
    if (perf == nullptr && !other)
      throw UserError("{}: no record of NCCL Inspector ('coll_perf'); give its files alone", place);
    if (!own_header && left == 0)
      throw UserError(
          "{}: a record whose header is not known: lines were sorted or split; give the file as "
          "NCCL Inspector wrote it",
          place);
    const Header header = own_header ? state.header(record, place) : *marker;
    if (left > 0) --left;
    if (perf == nullptr) {
      state.count("other_records");
    } else {
      state.collective(*perf, header, place);
    }
  }
  if (left > 0)
    throw UserError("{}: ends {} records before its last dump does: cut short; give the whole file",
                    file,
                    left);
}

ImportedProbes InspectorReader::finish() {
  State& state = *state_;
  state.judge_ranks();
  state.add_points();
  ProbeRecord& probe = state.probe;
  if (probe.points.empty())
    throw UserError("{}: no collective of 8 KiB or more, timed by the GPU, in it",
                    listed(state.files));
  if (const double* lost = value_at(probe.losses, std::string("records_lost_by_inspector")))
    probe.warnings.emplace_back(FindingId::inspector_lost_records, *lost);
  const std::set<std::string> known{"v4.0", "v4.1", "v4.2", "v4.3", "v4.4"};
  for (const std::string& version : state.versions)
    if (!known.contains(version))
      probe.warnings.emplace_back(FindingId::format_not_known, printable(version), "v4.0", "v4.4");
  ImportedProbes found;
  FactSection facts{"nccl_inspector", {}};
  const auto add = [&](const char* name, Value value) {
    facts.facts.push_back({name, std::move(value), base_name(state.files.front())});
  };
  add("file", listed(state.files));
  add("program", "NCCL Inspector " + listed(state.versions));
  add("hosts", static_cast<std::int64_t>(state.hosts.size()));
  add("communicators", static_cast<std::int64_t>(state.communicators.size()));
  found.facts.push_back(std::move(facts));
  for (const Communicator& one : state.communicators)
    if (one.nodes && one.ranks > (found.placement ? found.placement->ranks : 1))
      found.placement = RankPlacement{one.ranks, *one.nodes, true};
  found.probes.push_back(std::move(probe));
  return found;
}
}  // namespace scaleworth::cli
