// SPDX-License-Identifier: Apache-2.0
/// Who takes part in an operation of a framework's own timeline, from the places of the ranks in
/// pipeline and replicas and from the operation's name.
#pragma once

#include "src/core/attribution/work_class.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::trace {

/// Ranks that meet in an operation; of a message exactly sender and receiver.
struct PipelineMeeting {
  std::vector<std::uint32_t> members;  // recordings, ascending
  std::optional<std::uint32_t> sender;
  std::string operation;  // the name without "-send", "-recv": equal on both sides
};

class PipelineLayout {
 public:
  explicit PipelineLayout(const Job& job);

  /// Whether the timeline says where in the pipeline `rank` stands.
  bool knows(std::uint32_t rank) const { return places_[rank].known; }

  /// Names as Megatron's timers give them. "forward-send" of a stage meets "forward-recv" of the
  /// next one, backward the other way round; an operation on the embedding joins the first and the
  /// last stage of a replica, the gradient norm ("clip") everybody, one on "layernorm" only the
  /// tensor-parallel ranks of a place, and all others the replicas of a stage.
  PipelineMeeting meeting(std::uint32_t rank,
                          attribution::CollectiveKind kind,
                          std::string_view name) const;

 private:
  struct Place {
    bool known = false;
    std::int32_t stage = 0;
    std::int32_t replica = 0;
    std::int32_t sibling = 0;  // the how-manieth recording of this place: tensor-parallel ranks
  };
  template <class Predicate>
  std::vector<std::uint32_t> all_where(Predicate predicate) const;

  std::vector<Place> places_;  // by recording
  std::int32_t stages_ = 1;
};

}  // namespace scaleworth::trace
