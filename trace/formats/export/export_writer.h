// SPDX-License-Identifier: Apache-2.0
/// What every format of an exported timeline can hold: processes, tracks of nesting slices, arrows
/// between slices, counters.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/attribute.h"
#include "trace/recording.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace scaleworth::trace {
/// Which part of a job an export shows.
struct Selection {
  TimeInterval window;      // on the common clock
  std::vector<bool> ranks;  // by place in the job

  /// What overlaps the window is shown whole.
  bool shows(nanoseconds start, nanoseconds end) const {
    return start < window.end && (end > window.start || start >= window.start);
  }
};
}  // namespace scaleworth::trace

/// A file that appears under its name only when it is whole, and that has a largest size.
struct gzFile_s;

namespace scaleworth::trace {
/// Thrown by OutputFile: the file would grow beyond its limit.
struct OutputTooLarge {};

class OutputFile {
 public:
  /// Writes to `path` + ".part", compressed when `path` ends in ".gz". Throws UserError.
  OutputFile(const std::string& path, std::uint64_t most_bytes);
  /// Removes the part unless `commit` was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws OutputTooLarge, and UserError when the disk is full.
  void write(std::string_view bytes);
  /// Puts the file into its place; returns its size. Throws as `write` does.
  std::uint64_t commit();

 private:
  void flush();
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::string path_;
  std::string part_;
  std::uint64_t most_bytes_;
  std::string buffer_;
  std::unique_ptr<gzFile_s, Close> file_;
};

struct Argument {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

struct ExportSlice {
  nanoseconds start{};
  nanoseconds end{};
  std::string_view name;
  std::string_view category;  // in Kineto's words, so that the Chrome format can be read back
  std::span<const Argument> arguments;
  std::span<const std::uint64_t> arrows_out;  // begin at this slice's start; each id occurs once
  std::optional<std::uint64_t> arrow_in;      // ends at this slice's start
};

/// Written, of each kind. An arrow is counted where it ends.
struct ExportCounts {
  std::int64_t slices = 0;
  std::int64_t arrows = 0;
  std::int64_t counters = 0;  // values
  std::int64_t left_out = 0;  // slices that overlap too many others
  std::uint64_t bytes = 0;    // of the file
  std::string narrowed;       // for people: how the window was narrowed to keep the file small
};

using TrackId = std::uint32_t;

/// What the Chrome format must say of a rank for a reader of Kineto files.
struct ExportProcess {
  std::int32_t number = 0;  // from 1 on
  std::string_view name;
  const Recording* recording = nullptr;  // null for what is no rank
  std::int32_t world_size = 0;
};

/// Calls come track by track and in time order within one; slices of a track nest.
class ExportWriter {
 public:
  virtual ~ExportWriter() = default;

  /// Whether recordings are made of the file again; those need the marks of their steps.
  virtual bool is_read_back() const = 0;
  virtual void add_process(const ExportProcess& process) = 0;
  /// Tracks show in the order of their creation.
  virtual TrackId add_track(std::int32_t process, std::string_view name) = 0;
  virtual TrackId add_counter(std::int32_t process,
                              std::string_view name,
                              std::string_view unit) = 0;
  virtual void finish() = 0;

  void begin(TrackId track, const ExportSlice& slice) {
    ++counts_.slices;
    if (slice.arrow_in) ++counts_.arrows;
    write_begin(track, slice);
  }
  void end(TrackId track, nanoseconds time) { write_end(track, time); }
  void count(TrackId counter, nanoseconds time, std::int64_t value) {
    ++counts_.counters;
    write_count(counter, time, value);
  }
  void leave_out() { ++counts_.left_out; }
  const ExportCounts& counts() const { return counts_; }

 private:
  virtual void write_begin(TrackId track, const ExportSlice& slice) = 0;
  virtual void write_end(TrackId track, nanoseconds time) = 0;
  virtual void write_count(TrackId counter, nanoseconds time, std::int64_t value) = 0;

  ExportCounts counts_;
};

/// Events that overlap, laid beside each other so that every lane nests.
enum class Nesting : std::uint8_t {
  inside_allowed,  // a call inside a call
  none,            // work on a GPU: kernels that overlap run beside each other
};

/// The lane of each event, from 0; events come by start, longest first. Events that find no room in
/// `most_lanes` have that number.
std::vector<std::uint32_t> assign_lanes(const std::vector<TimeInterval>& events, Nesting nesting);

inline constexpr std::uint32_t most_lanes = 64;

/// Arrows from the kernel of the rank that came last to the ranks that waited for it.
class Arrows {
 public:
  /// Only arrows between events that the selection shows.
  Arrows(const Job& job, const Attributed& attributed, const Selection& selection);

  /// Numbers of the arrows that begin at the start of a rank's device event.
  std::span<const std::uint64_t> out_of(std::size_t rank, std::uint32_t event) const;
  /// Number of the arrow that ends where a rank's waiting does.
  std::optional<std::uint64_t> into(std::size_t rank, std::uint32_t event) const;

 private:
  struct OfRank {
    // By event; the numbers stand apart, so that those of one event are a span.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> out;
    std::vector<std::uint64_t> out_numbers;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> in;
  };
  std::vector<OfRank> by_rank_;
};

// One rank of a job as tracks: steps with their ledger, streams, threads of the host, counters.

/// What all ranks are written from.
struct ExportSource {
  const Job& job;
  const Attributed& attributed;
  const Selection& selection;
  const Arrows& arrows;
  const RankNumbers& numbers;
};

/// Writes the process of the rank at place `rank` of the job, with everything in it.
void export_rank(const ExportSource& source, std::size_t rank, ExportWriter& writer);

/// The first line of a file that ChromeWriter wrote begins with this.
inline constexpr std::string_view chrome_export_begin = R"({"scaleworthExport":1,)";
/// Behind the process number of the line that holds what a Kineto file says of its rank.
inline constexpr std::string_view chrome_rank_line =
    R"(,"ph":"M","name":"scaleworth_rank","args":{"distributedInfo":)";

// The formats. `origin` is the time zero of the file; `file` must outlive the writer.

/// Chrome's trace format in the dialect of PyTorch's profiler, one event a line; `origin` becomes
/// baseTimeNanoseconds.
std::unique_ptr<ExportWriter> chrome_writer(OutputFile& file, nanoseconds origin);
/// Perfetto's own format: a sequence of TracePacket messages.
std::unique_ptr<ExportWriter> perfetto_writer(OutputFile& file, nanoseconds origin);
}  // namespace scaleworth::trace
