// SPDX-License-Identifier: Apache-2.0
/// An exported timeline: processes, tracks of nesting slices, arrows between slices.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/attribute.h"
#include "trace/recording.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

namespace scaleworth::trace {
/// When an event of the rank at that place of the job was, on the common clock.
template <typename Event>
TimeInterval common_time(const ClockMap& clocks, std::size_t rank, const Event& event) {
  return {clocks.to_common(rank, event.start), clocks.to_common(rank, event.end)};
}

/// Which part of a job an export shows.
struct Selection {
  const ClockMap& clocks;
  TimeInterval window;      // on the common clock
  std::vector<bool> ranks;  // by place in the job

  /// What overlaps the window is shown whole.
  bool shows(TimeInterval time) const {
    return time.start < window.end && (time.end > window.start || time.start >= window.start);
  }
  template <typename Event>
  bool shows(std::size_t rank, const Event& event) const {
    return ranks.at(rank) && shows(common_time(clocks, rank, event));
  }
};

/// Takes the bytes of a file, in their order.
using Sink = std::function<void(std::string_view bytes)>;

struct Argument {
  std::string_view name;
  std::variant<std::int64_t, std::string_view> value;
};

struct ExportSlice {
  TimeInterval time;
  std::string_view name;
  std::string_view category;  // in Kineto's words
  std::span<const Argument> arguments{};
  std::span<const std::uint64_t> arrows_out{};  // begin at this slice's start; each id occurs once
  /// Ends at this slice's start. That is no earlier than where the arrow begins, and the slice's
  /// end is later: viewers take events by time and leave out an arrow that ends before it began.
  std::optional<std::uint64_t> arrow_in{};
};

/// Written, of each kind. An arrow is counted where it ends.
struct ExportCounts {
  std::int64_t slices = 0;
  std::int64_t arrows = 0;
  std::int64_t left_out = 0;  // slices that overlap too many others
  std::uint64_t bytes = 0;    // of the file
};

using TrackId = std::uint32_t;

/// The first line of an export of recordings begins with this, by which it is refused as a
/// recording (data/timelines.toml).
inline constexpr std::string_view chrome_export_begin = R"({"scaleworthExport":1,)";

/// Chrome's trace format in the dialect of PyTorch's profiler, one event a line. Calls come track
/// by track and in time order within one; slices of a track nest.
class ExportWriter {
 public:
  /// `origin` becomes baseTimeNanoseconds, `begin` stands before it.
  ExportWriter(Sink sink, nanoseconds origin, std::string_view begin = chrome_export_begin);

  /// Numbers are from 1 on.
  void add_process(std::int32_t process, std::string_view name);
  /// Tracks show in the order of their creation.
  TrackId add_track(std::int32_t process, std::string_view name);
  void add(TrackId track, const ExportSlice& slice);
  void leave_out() { ++counts_.left_out; }
  void finish();
  const ExportCounts& counts() const { return counts_; }

 private:
  struct Track {
    std::int32_t process;
    std::string name;
  };

  void metadata(std::int32_t process, std::string_view what, std::string_view arguments);
  void write_arrow(char phase, TrackId track, nanoseconds time, std::uint64_t id);
  void begin_line(std::int32_t process);
  void end_line();

  Sink sink_;
  nanoseconds origin_;
  std::vector<Track> tracks_;
  std::string line_;
  /// Lines behind all others: at one time viewers take events in the order of the file, and an
  /// arrow that ends before it began is left out.
  std::string arrow_ends_;
  bool first_line_ = true;
  ExportCounts counts_;
};

/// What is open in one lane, by its end; the innermost last.
using OpenEnds = std::vector<nanoseconds>;

/// Events that overlap, laid beside each other so that every lane nests.
enum class Nesting : std::uint8_t {
  inside_allowed,  // a call inside a call
  none,            // work on a GPU: kernels that overlap run beside each other
};

/// The lane of each event, from 0; events come by start, longest first. Events that find no room in
/// `most_lanes` have that number.
std::vector<std::uint32_t> assign_lanes(const std::vector<TimeInterval>& events, Nesting nesting);

inline constexpr std::uint32_t most_lanes = 64;

/// What ranks are written from.
struct ExportSource {
  const Job& job;
  const Attributed& attributed;
  const Selection& selection;
  const RankNumbers& numbers;
};

/// Writes a process for each rank that the selection shows: steps with their ledger, streams,
/// threads of the host.
void export_ranks(const ExportSource& source, ExportWriter& writer);
}  // namespace scaleworth::trace
