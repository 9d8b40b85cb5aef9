// SPDX-License-Identifier: Apache-2.0
/// Process groups of a job, one per set of ranks, whatever number each recording gave it.
#pragma once

#include "trace/timeline/recording.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

class GroupTable {
 public:
  struct Group {
    std::string name;
    std::vector<std::int32_t> ranks;  // global, in the group's order; empty when unknown
    std::optional<std::int32_t> size;
  };

  explicit GroupTable(const Job& job);

  /// Of a group as recording `rank` names it.
  std::uint32_t index(std::uint32_t rank, NameId name) const { return by_name_[rank].at(name); }
  const Group& at(std::uint32_t index) const { return groups_.at(index); }
  /// The recording of the member that is `place` in the group's own order; without a list of ranks
  /// places are global ranks. Absent when that rank left no recording.
  std::optional<std::uint32_t> recording(std::uint32_t index, std::int32_t place) const;
  /// Of a rank of the job.
  std::optional<std::uint32_t> recording_of_rank(std::int32_t global) const;
  /// The recordings of the group's list of ranks, ascending.
  std::vector<std::uint32_t> recordings(std::uint32_t index) const;

 private:
  std::vector<Group> groups_;
  std::vector<std::map<NameId, std::uint32_t>> by_name_;       // by recording
  std::map<std::int32_t, std::uint32_t> recording_of_global_;  // global rank to recording
};

}  // namespace scaleworth::trace
