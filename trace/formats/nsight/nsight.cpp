// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"
#include "trace/formats/nsight/contents.h"

#include <array>
#include <iterator>
#include <set>
#include <tuple>

namespace scaleworth::trace::nsight {
namespace {
constexpr std::size_t most_diagnostics = 5;

std::optional<nanoseconds> session_start(Database& database) {
  Rows row = database.select("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  if (!row.next()) return std::nullopt;
  const auto epoch = row.integer(0);
  if (!epoch || *epoch <= 0 || *epoch >= farthest_time.count()) return std::nullopt;
  return nanoseconds(*epoch);
}

/// The value of a name in a table of names and values; empty when there is none.
std::string setting(Database& database, const char* table, std::string_view name) {
  Rows row = database.select(table, {"name", "value"});
  while (row.next())
    if (row.text(0) == name) return std::string(row.text(1).value_or(""));
  return {};
}

/// What Nsight Systems itself says about lost events.
std::vector<Finding> diagnostics(Database& database) {
  std::vector<Finding> lines;
  Rows row = database.select("DIAGNOSTIC_EVENT", {"text"});
  while (lines.size() < most_diagnostics && row.next()) {
    const std::string text(row.text(0).value_or(""));
    if (text.find("drop") != std::string::npos || text.find("lost") != std::string::npos)
      lines.emplace_back(FindingId::nsight_says, text.substr(0, text.find('\n')));
  }
  return lines;
}

std::ptrdiff_t kernels(const Recording& recording) {
  return std::ranges::count(
      recording.device_events, DeviceOperation::kernel, &DeviceEvent::operation);
}

/// Names of one recording as numbers of another.
auto name_translation(const NameTable& from, NameTable& to) {
  return remembered(from, [&](std::string_view name) { return to.intern(name); });
}

/// Devices without kernels give their copies to the one with the most: a process touches other
/// GPUs' memory without being a rank there.
void fold_devices(Process& process) {
  auto busiest = std::ranges::max_element(
      process.devices, {}, [](const auto& a) { return kernels(a.second.recording); });
  Recording& to = busiest->second.recording;
  std::erase_if(process.devices, [&](const auto& side) {
    const Recording& from = side.second.recording;
    if (&from == &to || kernels(from) > 0) return false;
    auto translate = name_translation(from.names, to.names);
    const auto first_copy = static_cast<std::uint32_t>(to.copies.size());
    for (Copy copy : from.copies) to.copies.push_back({copy.bytes, translate(copy.direction)});
    for (DeviceEvent event : from.device_events) {
      event.name = translate(event.name);
      if (event.copy != no_index) event.copy += first_copy;
      to.device_events.push_back(event);
    }
    for (const auto& [name, count] : from.losses) to.losses[name] += count;
    return true;
  });
}

/// Processes that only copy are helpers, not ranks; when some have kernels the others go.
std::vector<Finding> drop_helpers(Contents& contents) {
  const auto works = [](const auto& process) {
    return std::ranges::any_of(process.second.devices,
                               [](const auto& side) { return kernels(side.second.recording) > 0; });
  };
  std::vector<Finding> remarks;
  if (std::ranges::none_of(contents.processes, works)) return remarks;
  std::erase_if(contents.processes, [&](const auto& process) {
    if (works(process)) return false;
    remarks.emplace_back(FindingId::helper_left_out, (process.first >> 24) & 0xFFFFFF);
    return true;
  });
  return remarks;
}

/// By thread: whether it launches for other devices of its process and never for this one.
std::vector<bool> foreign_threads(const Process& process, const Recording& recording) {
  const std::size_t threads = process.host.recording.threads.size();
  std::vector<bool> launches_here(threads, false);
  std::vector<bool> launches_elsewhere(threads, false);
  for (const auto& [device, side] : process.devices) {
    auto correlations = mapped(side.recording.device_events, &DeviceEvent::correlation);
    std::ranges::sort(correlations);
    auto& launches = &side.recording == &recording ? launches_here : launches_elsewhere;
    for (const HostEvent& event : process.host.recording.host_events)
      if (event.correlation != 0 && std::ranges::binary_search(correlations, event.correlation))
        launches[event.thread] = true;
  }
  for (std::size_t i = 0; i < threads; ++i)
    launches_elsewhere[i] = launches_elsewhere[i] && !launches_here[i];
  return launches_elsewhere;
}

/// The host's events for one device: all of them, but for the threads of other devices.
void add_host(Recording& to, Process& process) {
  Recording& host = process.host.recording;
  to.threads = host.threads;
  to.synchronizations = host.synchronizations;
  to.losses.insert(host.losses.begin(), host.losses.end());
  if (process.devices.size() == 1) {
    to.host_events = std::move(host.host_events);
  } else {
    const std::vector<bool> foreign = foreign_threads(process, to);
    std::ranges::copy_if(host.host_events, std::back_inserter(to.host_events), [&](auto& event) {
      return !foreign[event.thread];
    });
  }
  auto translate = name_translation(host.names, to.names);
  for (HostEvent& event : to.host_events) event.name = translate(event.name);
}

/// The communicators that the recording's process joined for its device, in time order.
struct Membership {
  Recording* recording = nullptr;
  std::vector<CommunicatorStart> communicators;
};

/// The largest communicator of the first recording that all recordings have a rank of their own in.
const CommunicatorStart* common_world(const std::vector<Membership>& members) {
  const CommunicatorStart* world = nullptr;
  for (const CommunicatorStart& candidate : members.front().communicators) {
    std::set<std::int32_t> ranks;
    for (const Membership& member : members)
      for (const CommunicatorStart& joined : member.communicators)
        if (joined.communicator == candidate.communicator && joined.ranks == candidate.ranks) {
          ranks.insert(joined.rank);
          break;
        }
    if (ranks.size() == members.size() && (!world || candidate.ranks > world->ranks))
      world = &candidate;
  }
  return world;
}

bool ranks_from_communicator(std::vector<Membership>& members) {
  const CommunicatorStart* world = common_world(members);
  if (!world) return false;
  for (Membership& member : members) {
    const auto joined = std::ranges::find_if(member.communicators, [&](const CommunicatorStart& c) {
      return c.communicator == world->communicator;
    });
    Origin& origin = member.recording->origin;
    origin.rank = joined->rank;
    origin.world_size = joined->ranks;
    origin.run = communicator_name(world->communicator);
    origin.rank_from = "NCCL communicator";
    origin.rank_basis = RankBasis::communicator;
  }
  return true;
}

bool rank_from_environment(Database& database, Recording& recording) {
  std::map<std::string, std::string, std::less<>> variables;
  Rows row = database.select("META_DATA_CAPTURE", {"name", "value"});
  while (row.next()) {
    const std::string_view setting = row.text(1).value_or("");  // RANK="12"
    const std::size_t equals = setting.find('=');
    if (equals != std::string_view::npos &&
        row.text(0).value_or("").ends_with("ENVIRONMENT_VARIABLE"))
      variables.emplace(setting.substr(0, equals), trimmed(setting.substr(equals + 1), "\""));
  }
  const RankFacts facts = rank_facts([&](const char* name) {
    const std::string* value = value_at(variables, name);
    return value ? value->c_str() : nullptr;
  });
  state_rank(recording,
             parse_number<std::int64_t>(facts.rank),
             parse_number<std::int64_t>(facts.world_size),
             "environment variable " + facts.source);
  return recording.origin.rank.has_value();
}

/// Sizes of the communicators, and their ranks where all of them are in this file.
void describe_groups(std::vector<Membership>& members) {
  std::map<std::int64_t, std::vector<std::int32_t>> ranks;  // by place in the communicator
  for (const Membership& member : members)
    for (const CommunicatorStart& joined : member.communicators) {
      if (joined.ranks > static_cast<std::int32_t>(members.size())) continue;
      auto& places = ranks[joined.communicator];
      places.resize(std::max(places.size(), static_cast<std::size_t>(joined.ranks)), -1);
      places[joined.rank] = *member.recording->origin.rank;
    }
  for (Membership& member : members)
    for (const CommunicatorStart& joined : member.communicators) {
      Recording& recording = *member.recording;
      ProcessGroup group;
      group.size = joined.ranks;
      const auto* places = value_at(ranks, joined.communicator);
      if (places && std::ranges::count(*places, -1) == 0) group.ranks = *places;
      recording.groups[recording.names.intern(communicator_name(joined.communicator))] = group;
    }
}

/// Sets rank, rank_from, world_size, run and the process groups of all recordings of a file, which
/// are in the order of (process, device). The rank is that in the largest communicator, if all
/// recordings agree on one; else, for a file with a single recording, the environment that nsys ran
/// in; else the order, which rank_from then says.
void find_ranks(Database& database, std::vector<Membership>& members) {
  if (!ranks_from_communicator(members) &&
      !(members.size() == 1 && rank_from_environment(database, *members.front().recording))) {
    std::int32_t next = 0;
    for (Membership& member : members) {
      member.recording->origin.rank = next++;
      member.recording->origin.rank_from = "order of process and device";
      member.recording->origin.rank_basis = RankBasis::counted;
    }
  }
  describe_groups(members);
}

Membership membership(const Process& process, Recording& recording, std::int32_t device) {
  Membership member{&recording, {}};
  for (const CommunicatorStart& joined : process.communicators)
    if (process.devices.size() == 1 || !joined.device || *joined.device == device)
      member.communicators.push_back(joined);
  std::ranges::stable_sort(member.communicators, {}, &CommunicatorStart::at);
  return member;
}

std::vector<Recording> recordings_of(Contents& contents,
                                     const Origin& origin,
                                     const std::vector<Finding>& remarks) {
  std::vector<Recording> recordings;
  std::size_t devices = 0;
  for (auto& [id, process] : contents.processes) {
    fold_devices(process);
    devices += process.devices.size();
  }
  recordings.reserve(devices);  // memberships point into it
  std::vector<Membership> members;
  for (auto& [id, process] : contents.processes) {
    Recording& host = process.host.recording;
    marks_from_ranges(host, "NVTX range");
    for (auto& [device, side] : process.devices) add_host(side.recording, process);
    for (auto& [device, side] : process.devices) {
      Recording& recording = recordings.emplace_back(std::move(side.recording));
      recording.origin = origin;
      recording.origin.process = (id >> 24) & 0xFFFFFF;
      recording.origin.device = device;
      recording.remarks = remarks;
      recording.remarks.insert(recording.remarks.end(), host.remarks.begin(), host.remarks.end());
      recording.step_marks = host.step_marks;
      recording.step_marks_from = host.step_marks_from;
      sort_events(recording);
      link_nccl_calls(recording, process.nccl_calls, process.devices.size(), contents.rules);
      members.push_back(membership(process, recording, device));
    }
  }
  find_ranks(contents.database, members);
  return recordings;
}
}  // namespace
}  // namespace scaleworth::trace::nsight

namespace scaleworth::trace {
std::vector<Recording> read_nsight(const std::string& path, const RuleTable& rules) {
  using namespace nsight;
  Database database(path);
  const auto epoch = session_start(database);
  Contents contents{database, rules, epoch.value_or(nanoseconds(0))};
  read_device_tables(contents);
  const std::vector<Finding> helpers = drop_helpers(contents);
  std::erase_if(contents.processes, [](const auto& process) {
    return std::ranges::all_of(process.second.devices, [](const auto& side) {
      return side.second.recording.device_events.empty();
    });
  });
  if (contents.processes.empty()) {
    const auto& damaged = database.trouble().damaged;
    throw UserError(
        "{} holds no work on a GPU{}: record with nsys profile --trace=cuda,nvtx and export again",
        path,
        damaged.empty() ? "" : " (" + damaged.front() + ")");
  }
  read_host_tables(contents);
  read_ranges(contents);
  read_thread_names(contents);
  Origin origin;
  origin.file = path;
  origin.tool = "Nsight Systems";
  const std::string version = setting(database, "META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION");
  if (!version.empty()) origin.tool += " " + version;
  origin.host = setting(database, "TARGET_INFO_SYSTEM_ENV", "Hostname");
  std::vector<Finding> remarks = diagnostics(database);
  if (!epoch) remarks.emplace_back(FindingId::capture_time_not_stated);
  auto recordings = recordings_of(contents, origin, remarks);
  // Losses that belong to no single recording stand in the first one.
  Recording& first = recordings.front();
  const RowTrouble& trouble = database.trouble();
  if (trouble.wrong_types > 0) first.losses["values_of_wrong_type"] = trouble.wrong_types;
  if (!trouble.damaged.empty())
    first.losses["damaged_tables"] = static_cast<std::int64_t>(trouble.damaged.size());
  first.remarks.insert(first.remarks.end(), helpers.begin(), helpers.end());
  for (const std::string& one : trouble.damaged) first.remarks.emplace_back(FindingId::stated, one);
  return recordings;
}
}  // namespace scaleworth::trace
