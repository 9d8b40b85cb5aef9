// SPDX-License-Identifier: Apache-2.0
/// The outer shape of a recording file (.swtrace): a header, then frames that are only ever
/// appended, each with its length and a checksum, so that a torn end is found and what is before it
/// reads.
#pragma once

#include "trace/format/input/byte_source.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace scaleworth::trace::recording {

inline constexpr std::string_view file_magic = "SWTRACE\n";
/// Raised when a file of today could be misread by yesterday's reader; columns and kinds of frames
/// may be added without.
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::size_t file_header_bytes = 16;   // magic, version, 4 bytes for later
inline constexpr std::size_t frame_header_bytes = 12;  // kind, length of the payload, checksum
inline constexpr std::uint32_t longest_payload = 64U << 20U;

/// The numbers are the file's.
enum class FrameKind : std::uint32_t {
  facts = 1,
  names = 2,
  losses = 3,
  clocks = 4,
  windows = 5,
  shapes = 6,
  kernels = 7,
  copies = 8,
  fills = 9,
  calls = 10,
  waits = 11,
  events = 12,
  overheads = 13,
  marks = 14,
  collectives = 15,
  end = 16,  // the process ended its recording itself; the payload is empty
  networks = 17,
  channels = 18,
};

std::string file_header(std::uint32_t version = format_version);

/// Of a frame: multiply and rotate, eight bytes at a time; finds torn and overwritten frames, and
/// is no protection against forgery.
std::uint32_t checksum(FrameKind kind, std::string_view payload);

/// Appends a frame whose payload `fill` appends to `out`.
template <class Fill>
void append_frame(FrameKind kind, std::string& out, Fill fill);

/// The bytes of a frame's header.
void put_frame_header(FrameKind kind, std::string_view payload, char* header);

template <class Fill>
void append_frame(FrameKind kind, std::string& out, Fill fill) {
  const std::size_t start = out.size();
  out.append(frame_header_bytes, '\0');
  fill(out);
  const std::string_view payload = std::string_view(out).substr(start + frame_header_bytes);
  put_frame_header(kind, payload, out.data() + start);
}

/// Frame after frame of a source.
class FrameReader {
 public:
  /// Reads the header. Throws UserError when it is none or of a newer version, naming both.
  explicit FrameReader(ByteSource& source);

  /// Reads the next frame; false at the end of the whole frames.
  bool next();
  FrameKind kind() const { return kind_; }
  std::string_view payload() const { return payload_; }

  /// Why the file did not end after a whole frame, with the position; empty when it did.
  const std::string& damage() const { return damage_; }
  /// Bytes from the first damaged one to the end of the file.
  std::int64_t lost_bytes() const { return lost_bytes_; }

 private:
  bool read_payload(std::uint32_t length);
  bool give_up(std::string_view reason, std::size_t bytes_read);

  ByteSource& source_;
  FrameKind kind_ = FrameKind::end;
  std::string payload_;
  std::uint64_t position_ = file_header_bytes;  // of the next frame
  std::string damage_;
  std::int64_t lost_bytes_ = 0;
};

}  // namespace scaleworth::trace::recording
