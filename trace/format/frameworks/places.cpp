// SPDX-License-Identifier: Apache-2.0
#include "trace/format/frameworks/places.h"

#include "trace/format/json/number.h"

#include <algorithm>
#include <limits>

namespace scaleworth::trace {

namespace {

struct Named {
  RankPlace rank;
  bool communication = false;
};

std::optional<Named> read_track(const TimelineEvents::Track& track,
                                const TimelineDialect& dialect) {
  const auto name = parse_track(dialect.track, track.name);
  if (!name) return std::nullopt;
  Named named{{name->pipeline, 0, name->tensor}, false};
  const auto data =
      name->data ? std::optional<std::int64_t>(*name->data) : parse_integer(track.process);
  if (!data || *data < 0 || *data > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  named.rank.data = static_cast<std::int32_t>(*data);
  named.communication =
      std::find(dialect.communication.begin(), dialect.communication.end(), name->track_class) !=
      dialect.communication.end();
  return named;
}

}  // namespace

Places place_tracks(const std::vector<TimelineEvents::Track>& tracks,
                    const TimelineDialect& dialect) {
  std::vector<std::optional<Named>> named;
  std::map<RankPlace, std::uint32_t> numbers;
  for (const auto& track : tracks) {
    named.push_back(read_track(track, dialect));
    if (named.back()) numbers[named.back()->rank] = 0;
  }
  Places places;
  for (auto& [rank, number] : numbers) {
    number = static_cast<std::uint32_t>(places.ranks.size());
    places.ranks.push_back(rank);
  }
  std::vector<std::uint32_t> streams(places.ranks.size(), 0);
  for (const auto& track : named) {
    auto& place = places.tracks.emplace_back();
    if (!track) continue;
    const auto recording = numbers.at(track->rank);
    place = TrackPlace{recording, streams[recording]++, track->communication};
  }
  return places;
}

}  // namespace scaleworth::trace
