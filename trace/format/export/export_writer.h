// SPDX-License-Identifier: Apache-2.0
/// What every format of an exported timeline can hold: processes, tracks of nesting slices, arrows
/// between slices, counters.
#pragma once

#include "trace/timeline/recording.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace scaleworth::trace {

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

}  // namespace scaleworth::trace
