// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/swtrace/codec.h"

#include "src/core/error.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::trace::recording {
namespace {
// Strings inside of a frame: each with its length before it.

inline void put_number(std::uint64_t value, std::string& out) {
  char digits[longest_varint];
  out.append(digits, put_varint(digits, value));
}

inline void put_text(std::string_view text, std::string& out) {
  put_number(text.size(), out);
  out.append(text);
}

/// From the front of `bytes`; absent when they end inside of it.
inline std::optional<std::string_view> take_text(std::string_view& bytes) {
  const auto length = take_varint(bytes);
  if (!length || *length > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *length);
  bytes.remove_prefix(*length);
  return text;
}

template <class Row, class Columns>
void append_rows(FrameKind kind, const std::vector<Row>& rows, Columns columns, std::string& out) {
  std::span<const Row> left(rows);
  while (!left.empty()) {
    const auto part = left.first(std::min(left.size(), rows_per_frame));
    left = left.subspan(part.size());
    append_frame(kind, out, [&](std::string& to) { put_rows(part, columns, to); });
  }
}

void append_texts(const Batch& batch, std::string& out) {
  if (!batch.names.empty()) {
    append_frame(FrameKind::names, out, [&](std::string& to) {
      for (const std::string& name : batch.names) put_text(name, to);
    });
  }
  if (!batch.facts.empty()) {
    append_frame(FrameKind::facts, out, [&](std::string& to) {
      for (const auto& [key, value] : batch.facts) {
        put_text(key, to);
        put_text(value, to);
      }
    });
  }
  if (!batch.losses.empty()) {
    append_frame(FrameKind::losses, out, [&](std::string& to) {
      for (const auto& [name, count] : batch.losses) {
        put_text(name, to);
        put_number(count, to);
      }
    });
  }
}
}  // namespace

void append_batch(const Batch& batch, std::string& out) {
  append_texts(batch, out);
  append_rows(FrameKind::clocks, batch.clocks, ClockColumns{}, out);
  append_rows(FrameKind::windows, batch.windows, WindowColumns{}, out);
  append_rows(FrameKind::shapes, batch.shapes, ShapeColumns{}, out);
  append_rows(FrameKind::kernels, batch.kernels, KernelColumns{}, out);
  append_rows(FrameKind::copies, batch.copies, CopyColumns{}, out);
  append_rows(FrameKind::fills, batch.fills, FillColumns{}, out);
  append_rows(FrameKind::calls, batch.calls, CallColumns{}, out);
  append_rows(FrameKind::waits, batch.waits, WaitColumns{}, out);
  append_rows(FrameKind::events, batch.events, EventColumns{}, out);
  append_rows(FrameKind::overheads, batch.overheads, OverheadColumns{}, out);
  append_rows(FrameKind::marks, batch.marks, MarkColumns{}, out);
  append_rows(FrameKind::collectives, batch.collectives, CollectiveColumns{}, out);
  append_rows(FrameKind::networks, batch.networks, NetworkColumns{}, out);
  append_rows(FrameKind::channels, batch.channels, ChannelColumns{}, out);
}

void append_end(std::string& out) {
  append_frame(FrameKind::end, out, [](std::string&) {});
}

std::uint32_t NameIndex::intern(std::string_view name, Batch& batch) {
  if (name.empty()) return 0;
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  numbers_.emplace(std::string(name), number);
  batch.names.emplace_back(name);
  return number;
}

namespace {
bool take_names(std::string_view bytes, std::vector<std::string>& names) {
  const std::size_t before = names.size();
  while (!bytes.empty()) {
    const auto name = take_text(bytes);
    if (!name) {
      names.resize(before);
      return false;
    }
    names.emplace_back(*name);
  }
  return true;
}

bool take_facts(std::string_view bytes, std::vector<Fact>& facts) {
  const std::size_t before = facts.size();
  while (!bytes.empty()) {
    const auto key = take_text(bytes);
    const auto value = key ? take_text(bytes) : key;
    if (!value) {
      facts.resize(before);
      return false;
    }
    facts.emplace_back(*key, *value);
  }
  return true;
}

bool take_losses(std::string_view bytes, std::vector<std::pair<std::string, std::uint64_t>>& all) {
  const std::size_t before = all.size();
  while (!bytes.empty()) {
    const auto name = take_text(bytes);
    const auto count = name ? take_varint(bytes) : std::nullopt;
    if (!count) {
      all.resize(before);
      return false;
    }
    all.emplace_back(*name, *count);
  }
  return true;
}

std::optional<bool> take_work(FrameKind kind, std::string_view bytes, Batch& batch) {
  switch (kind) {
    case FrameKind::shapes:
      return take_rows(bytes, ShapeColumns{}, batch.shapes);
    case FrameKind::kernels:
      return take_rows(bytes, KernelColumns{}, batch.kernels);
    case FrameKind::copies:
      return take_rows(bytes, CopyColumns{}, batch.copies);
    case FrameKind::fills:
      return take_rows(bytes, FillColumns{}, batch.fills);
    case FrameKind::calls:
      return take_rows(bytes, CallColumns{}, batch.calls);
    case FrameKind::waits:
      return take_rows(bytes, WaitColumns{}, batch.waits);
    case FrameKind::events:
      return take_rows(bytes, EventColumns{}, batch.events);
    default:
      return std::nullopt;
  }
}

std::optional<bool> take_context(FrameKind kind, std::string_view bytes, Batch& batch) {
  switch (kind) {
    case FrameKind::facts:
      return take_facts(bytes, batch.facts);
    case FrameKind::names:
      return take_names(bytes, batch.names);
    case FrameKind::losses:
      return take_losses(bytes, batch.losses);
    case FrameKind::clocks:
      return take_rows(bytes, ClockColumns{}, batch.clocks);
    case FrameKind::windows:
      return take_rows(bytes, WindowColumns{}, batch.windows);
    case FrameKind::overheads:
      return take_rows(bytes, OverheadColumns{}, batch.overheads);
    case FrameKind::marks:
      return take_rows(bytes, MarkColumns{}, batch.marks);
    case FrameKind::collectives:
      return take_rows(bytes, CollectiveColumns{}, batch.collectives);
    case FrameKind::networks:
      return take_rows(bytes, NetworkColumns{}, batch.networks);
    case FrameKind::channels:
      return take_rows(bytes, ChannelColumns{}, batch.channels);
    case FrameKind::end:
      return bytes.empty();
    default:
      return std::nullopt;
  }
}
}  // namespace

Decoded decode_frame(FrameKind kind, std::string_view payload, Batch& batch) {
  std::optional<bool> whole = take_work(kind, payload, batch);
  if (!whole) whole = take_context(kind, payload, batch);
  if (!whole) return Decoded::unknown_kind;
  return *whole ? Decoded::whole : Decoded::malformed;
}

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

void Batch::clear() {
  kernels.clear();
  shapes.clear();
  copies.clear();
  fills.clear();
  calls.clear();
  waits.clear();
  events.clear();
  overheads.clear();
  marks.clear();
  collectives.clear();
  networks.clear();
  channels.clear();
  clocks.clear();
  windows.clear();
  names.clear();
  facts.clear();
  losses.clear();
}
}  // namespace scaleworth::trace::recording
