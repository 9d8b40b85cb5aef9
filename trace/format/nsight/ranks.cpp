// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/ranks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

namespace scaleworth::trace::nsight {
namespace {

/// Launchers' variables for a rank and the number of ranks.
struct Launcher {
  std::string_view rank;
  std::string_view size;
};
constexpr std::array launchers = {Launcher{"RANK", "WORLD_SIZE"},
                                  Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  Launcher{"PMIX_RANK", ""},
                                  Launcher{"PMI_RANK", "PMI_SIZE"},
                                  Launcher{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                  Launcher{"SLURM_PROCID", "SLURM_NTASKS"}};

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
    const auto joined = std::find_if(
        member.communicators.begin(), member.communicators.end(), [&](const CommunicatorStart& c) {
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

/// A number out of `NAME="12"`, when the name is right.
std::optional<std::int32_t> variable(std::string_view setting, std::string_view name) {
  if (name.empty() || !setting.starts_with(name)) return std::nullopt;
  setting.remove_prefix(name.size());
  if (!setting.starts_with('=')) return std::nullopt;
  setting.remove_prefix(1);
  if (setting.starts_with('"')) setting.remove_prefix(1);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(setting.data(), setting.data() + setting.size(), value);
  if (error != std::errc() || end == setting.data() || value < 0) return std::nullopt;
  return value;
}

bool rank_from_environment(Database& database, Origin& origin) {
  std::vector<std::string> settings;
  Rows row = database.select("META_DATA_CAPTURE", {"name", "value"});
  while (row.next()) {
    const auto name = row.text(0);
    const auto value = row.text(1);
    if (name && value && name->ends_with("ENVIRONMENT_VARIABLE")) settings.emplace_back(*value);
  }
  for (const Launcher& launcher : launchers) {
    for (const std::string& setting : settings) {
      if (!origin.rank) origin.rank = variable(setting, launcher.rank);
      if (!origin.world_size) origin.world_size = variable(setting, launcher.size);
    }
    if (origin.rank) {
      origin.rank_from = "environment variable " + std::string(launcher.rank);
      return true;
    }
    origin.world_size.reset();
  }
  return false;
}

/// Sizes of the communicators, and their ranks where all of them are in this file.
void describe_groups(std::vector<Membership>& members) {
  std::map<std::int64_t, std::vector<std::int32_t>> ranks;  // by place in the communicator
  for (const Membership& member : members)
    for (const CommunicatorStart& joined : member.communicators) {
      if (joined.ranks > static_cast<std::int32_t>(members.size())) continue;
      auto& places = ranks[joined.communicator];
      places.resize(std::max(places.size(), static_cast<std::size_t>(joined.ranks)), -1);
      places[static_cast<std::size_t>(joined.rank)] = *member.recording->origin.rank;
    }
  for (Membership& member : members)
    for (const CommunicatorStart& joined : member.communicators) {
      Recording& recording = *member.recording;
      ProcessGroup group;
      group.size = joined.ranks;
      const auto places = ranks.find(joined.communicator);
      if (places != ranks.end() &&
          std::find(places->second.begin(), places->second.end(), -1) == places->second.end())
        group.ranks = places->second;
      recording.groups[recording.names.intern(communicator_name(joined.communicator))] = group;
    }
}

}  // namespace

void find_ranks(Database& database, std::vector<Membership>& members) {
  if (members.empty()) return;
  if (!ranks_from_communicator(members) &&
      !(members.size() == 1 &&
        rank_from_environment(database, members.front().recording->origin))) {
    std::int32_t next = 0;
    for (Membership& member : members) {
      member.recording->origin.rank = next++;
      member.recording->origin.rank_from = order_of_processes;
      member.recording->origin.rank_basis = RankBasis::counted;
    }
  }
  describe_groups(members);
}

}  // namespace scaleworth::trace::nsight
