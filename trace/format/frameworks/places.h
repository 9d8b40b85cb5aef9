// SPDX-License-Identifier: Apache-2.0
/// Which rank and stream of a job each track of a framework's timeline is.
#pragma once

#include "trace/format/frameworks/dialect.h"
#include "trace/format/frameworks/timeline_events.h"

#include <optional>
#include <tuple>
#include <vector>

namespace scaleworth::trace {

/// Numbered like Megatron numbers its ranks: tensor-parallel ones are neighbours, then replicas.
struct RankPlace {
  std::int32_t pipeline = 0;
  std::int32_t data = 0;
  std::int32_t tensor = 0;
  friend bool operator<(const RankPlace& a, const RankPlace& b) {
    return std::tie(a.pipeline, a.data, a.tensor) < std::tie(b.pipeline, b.data, b.tensor);
  }
};

struct TrackPlace {
  std::uint32_t recording = 0;  // index into Places::ranks
  std::uint32_t stream = 0;     // the how-manieth track of its rank
  bool communication = false;
};

struct Places {
  std::vector<RankPlace> ranks;                   // those that occur, in order
  std::vector<std::optional<TrackPlace>> tracks;  // by track; absent where the name does not fit
};

Places place_tracks(const std::vector<TimelineEvents::Track>& tracks,
                    const TimelineDialect& dialect);

}  // namespace scaleworth::trace
