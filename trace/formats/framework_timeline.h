// SPDX-License-Identifier: Apache-2.0
/// Timelines that training frameworks write themselves: one file for the whole job, a track for
/// each kind of work of each rank.
#pragma once

#include "src/core/step_ledger.h"
#include "trace/formats/byte_source.h"
#include "trace/recording.h"

#include <map>
#include <optional>

namespace scaleworth::trace {
/// What the names in a framework's own timeline mean.
struct TimelineDialect {
  std::string name;
  std::vector<std::string> known_by;       // all in quotes near the beginning of the file
  std::string track;                       // "PP rank {pipeline}, TP rank {tensor}, {class}"
  std::string step;                        // key of the argument with the step's number
  std::vector<std::string> communication;  // classes of tracks
  std::vector<std::string> host;           // names of events on the host
  std::map<std::string, CollectiveKind, std::less<>> collectives;  // by event name
};

/// The dialects compiled into the program (data/timelines.toml).
std::vector<TimelineDialect> built_in_timelines();

/// The dialects of `toml`; throws UserError naming `origin` and line.
std::vector<TimelineDialect> parse_timelines(std::string_view toml, const std::string& origin);

/// Which of `dialects` a file of Chrome's JSON format that begins with `front` is of: the first all
/// of whose known_by occur. nullptr when none does.
const TimelineDialect* find_timeline(const std::vector<TimelineDialect>& dialects,
                                     std::string_view front);

/// Files of other tools, which no reader takes.
struct ForeignFormat {
  std::vector<std::string> known_by;  // all near the beginning of the file
  std::vector<std::string> unless;    // none of these
  std::vector<std::string> endings;   // or, whatever it holds, of its name: ".qdrep"
  std::string says;                   // "is a timeline of Horovod: ...; record with ..."
};
/// Those of data/timelines.toml.
const std::vector<ForeignFormat>& foreign_formats();

/// What a file is that begins with `front` and what to give in its place; absent for all others.
std::optional<std::string> foreign_file(std::string_view name, std::string_view front);

/// A rank's place in the job, and one of its tracks.
struct TrackName {
  std::int32_t pipeline = 0;
  std::int32_t tensor = 0;
  std::optional<std::int32_t> data;
  std::string_view track_class;  // part of the name that was parsed
};

/// `name` by the pattern of a dialect; absent when it does not fit.
std::optional<TrackName> parse_track(std::string_view pattern, std::string_view name);

/// One recording for each place in the job, in the order of their ranks. Operations are device
/// events, on one stream for each track; what the dialect calls host work is on the host; a step
/// reaches from its first event on the rank to its last. Losses stand in the first recording.
/// Throws UserError when no track is named as `dialect` says.
std::vector<Recording> read_timeline(ByteSource& source, const TimelineDialect& dialect);
}  // namespace scaleworth::trace
