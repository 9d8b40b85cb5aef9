// SPDX-License-Identifier: Apache-2.0
/// Chrome's trace format in the dialect of PyTorch's profiler, one event a line.
#pragma once

#include "trace/format/export/export_writer.h"
#include "trace/format/export/output_file.h"

#include <string>
#include <vector>

namespace scaleworth::trace {

/// The first line of a file that ChromeWriter wrote begins with this.
inline constexpr std::string_view chrome_export_begin = R"({"scaleworthExport":1,)";
/// Behind the process number of the line that tells what a Kineto file says of its rank.
inline constexpr std::string_view chrome_rank_line =
    R"(,"ph":"M","name":"scaleworth_rank","args":{"distributedInfo":)";

class ChromeWriter final : public ExportWriter {
 public:
  /// `origin` becomes baseTimeNanoseconds. `file` must outlive the writer.
  ChromeWriter(OutputFile& file, nanoseconds origin);

  bool is_read_back() const override { return true; }
  void add_process(const ExportProcess& process) override;
  TrackId add_track(std::int32_t process, std::string_view name) override;
  TrackId add_counter(std::int32_t process, std::string_view name, std::string_view unit) override;
  void finish() override;

 private:
  struct Track {
    std::int32_t process;
    std::string name;
  };

  void write_begin(TrackId track, const ExportSlice& slice) override;
  void write_end(TrackId, nanoseconds) override {}  // a slice is written whole at its begin
  void write_count(TrackId counter, nanoseconds time, std::int64_t value) override;
  void metadata(std::int32_t process, std::string_view what, std::string_view arguments);
  void arrow(char phase, TrackId track, nanoseconds time, std::uint64_t id);
  void begin_line(std::int32_t process);
  void end_line();

  OutputFile& file_;
  nanoseconds origin_;
  std::vector<Track> tracks_;
  std::string line_;
  bool first_line_ = true;
};

}  // namespace scaleworth::trace
