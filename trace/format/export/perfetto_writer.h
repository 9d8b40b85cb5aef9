// SPDX-License-Identifier: Apache-2.0
/// Perfetto's own format: a sequence of TracePacket messages.
#pragma once

#include "trace/format/export/export_writer.h"
#include "trace/format/export/output_file.h"
#include "trace/format/export/protobuf.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace {

/// Field numbers are those of google/perfetto protos/perfetto/trace.
class PerfettoWriter final : public ExportWriter {
 public:
  /// Times are written since `origin`. `file` must outlive the writer.
  PerfettoWriter(OutputFile& file, nanoseconds origin);

  bool is_read_back() const override { return false; }
  void add_process(const ExportProcess& process) override;
  TrackId add_track(std::int32_t process, std::string_view name) override;
  TrackId add_counter(std::int32_t process, std::string_view name, std::string_view unit) override;
  void finish() override {}

 private:
  /// Names by number; a number is explained in the first packet that uses it.
  struct Interned {
    std::uint32_t field;  // of InternedData
    std::unordered_map<std::string, std::uint64_t> numbers;
  };

  void write_begin(TrackId track, const ExportSlice& slice) override;
  void write_end(TrackId track, nanoseconds time) override;
  void write_count(TrackId counter, nanoseconds time, std::int64_t value) override;
  std::uint64_t intern(Interned& names, std::string_view name);
  void add_argument(const Argument& argument);
  void begin_event(nanoseconds time, TrackId track, std::uint64_t type);
  void write_event();
  void write_descriptor(const ProtobufMessage& descriptor);
  void write_packet();
  TrackId next_track(std::int32_t process);

  OutputFile& file_;
  nanoseconds origin_;
  std::uint64_t first_flags_ = 1;      // SEQ_INCREMENTAL_STATE_CLEARED, in the first packet
  std::vector<std::uint64_t> tracks_;  // uuid by TrackId
  Interned categories_{1, {}};
  Interned names_{2, {}};
  Interned argument_names_{3, {}};
  // Reused from packet to packet.
  ProtobufMessage packet_;
  ProtobufMessage event_;
  ProtobufMessage interned_;
  ProtobufMessage part_;
  ProtobufMessage frame_;
};

}  // namespace scaleworth::trace
