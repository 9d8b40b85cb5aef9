// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/bytes/frame.h"

#include <bit>
#include <cstring>

namespace scaleworth::trace::recording {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  constexpr std::uint64_t odd_fraction_of_golden_ratio = 0x9e3779b97f4a7c15U;
  return std::rotl((state ^ word) * odd_fraction_of_golden_ratio, 29);
}

}  // namespace

std::string file_header(std::uint32_t version) {
  std::string header(file_header_bytes, '\0');
  std::memcpy(header.data(), file_magic.data(), file_magic.size());
  std::memcpy(header.data() + file_magic.size(), &version, sizeof(version));
  return header;
}

std::uint32_t checksum(FrameKind kind, std::string_view payload) {
  std::uint64_t state = mix(static_cast<std::uint64_t>(kind), payload.size());
  while (!payload.empty()) {
    std::uint64_t word = 0;
    const std::size_t bytes = payload.size() < sizeof(word) ? payload.size() : sizeof(word);
    std::memcpy(&word, payload.data(), bytes);
    state = mix(state, word);
    payload.remove_prefix(bytes);
  }
  state = mix(state, state >> 32U);
  return static_cast<std::uint32_t>(state >> 32U);
}

void put_frame_header(FrameKind kind, std::string_view payload, char* header) {
  const std::uint32_t words[] = {static_cast<std::uint32_t>(kind),
                                 static_cast<std::uint32_t>(payload.size()),
                                 checksum(kind, payload)};
  static_assert(sizeof(words) == frame_header_bytes);
  std::memcpy(header, words, sizeof(words));
}

}  // namespace scaleworth::trace::recording
