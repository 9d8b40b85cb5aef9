// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "trace/format/recording/bytes/frame.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace scaleworth::trace::recording {
namespace {

std::uint32_t word_at(const char* bytes, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes + index * sizeof(word), sizeof(word));
  return word;
}

}  // namespace

FrameReader::FrameReader(ByteSource& source) : source_(source) {
  std::array<char, file_header_bytes> header{};
  const std::size_t bytes = source_.read(header);
  if (bytes < header.size() || std::string_view(header.data(), file_magic.size()) != file_magic) {
    throw UserError(fmt::format(
        "{}: byte 0: no recording of `scaleworth trace`; give files that it wrote", source.name()));
  }
  const std::uint32_t version = word_at(header.data() + file_magic.size(), 0);
  if (version == 0 || version > format_version) {
    throw UserError(fmt::format(
        "{}: byte 8: format version {}, this program reads up to {}; use a newer scaleworth",
        source.name(),
        version,
        format_version));
  }
}

bool FrameReader::give_up(std::string_view reason, std::size_t bytes_read) {
  lost_bytes_ = static_cast<std::int64_t>(bytes_read);
  std::array<char, 65536> rest{};
  while (const std::size_t more = source_.read(rest))
    lost_bytes_ += static_cast<std::int64_t>(more);
  damage_ = fmt::format("byte {}: {}", position_, reason);
  if (!source_.damage().empty()) damage_ += fmt::format(" ({})", source_.damage());
  return false;
}

bool FrameReader::read_payload(std::uint32_t length) {
  // In pieces, so that a damaged length costs no more memory than the file has bytes.
  constexpr std::size_t piece = std::size_t{1} << 20U;
  payload_.clear();
  while (payload_.size() < length) {
    const std::size_t have = payload_.size();
    const std::size_t wanted = std::min<std::size_t>(piece, length - have);
    payload_.resize(have + wanted);
    const std::size_t got = source_.read(std::span(payload_).subspan(have));
    payload_.resize(have + got);
    if (got < wanted) return false;
  }
  return true;
}

bool FrameReader::next() {
  if (!damage_.empty()) return false;
  std::array<char, frame_header_bytes> header{};
  const std::size_t bytes = source_.read(header);
  if (bytes == 0) return source_.damage().empty() ? false : give_up("the file ends early", 0);
  if (bytes < header.size()) return give_up("the file ends inside of a frame's header", bytes);
  const std::uint32_t length = word_at(header.data(), 1);
  if (length > longest_payload) return give_up("a frame of impossible length", bytes);
  if (!read_payload(length))
    return give_up("the file ends inside of a frame", bytes + payload_.size());
  kind_ = static_cast<FrameKind>(word_at(header.data(), 0));
  if (checksum(kind_, payload_) != word_at(header.data(), 2))
    return give_up("a frame whose checksum is wrong", bytes + payload_.size());
  position_ += bytes + length;
  return true;
}

}  // namespace scaleworth::trace::recording
