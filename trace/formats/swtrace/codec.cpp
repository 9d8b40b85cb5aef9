// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "trace/formats/swtrace/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace scaleworth::trace::recording {
namespace {
// Strings inside of a frame: each with its length before it.

void put_text(std::string_view text, std::string& out) {
  put_number(text.size(), out);
  out.append(text);
}

/// From the front of `bytes`; absent when they end inside of it.
std::optional<std::string_view> take_text(std::string_view& bytes) {
  const auto length = take_varint(bytes);
  if (!length || *length > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *length);
  bytes.remove_prefix(*length);
  return text;
}

/// Calls `visit` with each of RowKinds.
template <class Visit>
void each_kind(Visit visit) {
  std::apply([&](auto... kinds) { (visit(kinds), ...); }, RowKinds{});
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
  const auto append = [&](FrameKind kind, const auto& entries, auto put) {
    if (entries.empty()) return;
    append_frame(kind, out, [&](std::string& to) {
      for (const auto& entry : entries) put(entry, to);
    });
  };
  append(FrameKind::names, batch.names, put_text);
  append(FrameKind::facts, batch.facts, [](const Fact& fact, std::string& to) {
    put_text(fact.first, to);
    put_text(fact.second, to);
  });
  append(FrameKind::losses, batch.losses, [](const auto& loss, std::string& to) {
    put_text(loss.first, to);
    put_number(loss.second, to);
  });
}

/// Appends what `take` makes of the front of `bytes` until they are at an end. False, with `all` as
/// it was, when it finds something else.
template <class Value, class Take>
bool take_all(std::string_view bytes, std::vector<Value>& all, Take take) {
  const std::size_t before = all.size();
  while (!bytes.empty()) {
    if (take(bytes)) continue;
    all.resize(before);
    return false;
  }
  return true;
}

std::optional<bool> take_texts(FrameKind kind, std::string_view payload, Batch& batch) {
  if (kind == FrameKind::names) {
    return take_all(payload, batch.names, [&](std::string_view& bytes) {
      const auto name = take_text(bytes);
      if (name) batch.names.emplace_back(*name);
      return name.has_value();
    });
  }
  const auto take_pairs = [&](auto& pairs, auto take_second) {
    return take_all(payload, pairs, [&](std::string_view& bytes) {
      const auto first = take_text(bytes);
      const auto second = first ? take_second(bytes) : std::nullopt;
      if (second) pairs.emplace_back(*first, *second);
      return second.has_value();
    });
  };
  if (kind == FrameKind::facts) return take_pairs(batch.facts, take_text);
  if (kind == FrameKind::losses) return take_pairs(batch.losses, take_varint);
  if (kind == FrameKind::end) return payload.empty();
  return std::nullopt;
}

std::uint32_t word_at(const char* bytes, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes + index * sizeof(word), sizeof(word));
  return word;
}

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  constexpr std::uint64_t odd_fraction_of_golden_ratio = 0x9e3779b97f4a7c15U;
  return std::rotl((state ^ word) * odd_fraction_of_golden_ratio, 29);
}
}  // namespace

void append_batch(const Batch& batch, std::string& out) {
  append_texts(batch, out);
  each_kind([&](auto kind) { append_rows(kind.kind, batch.*kind.rows, kind.columns, out); });
}

void append_end(std::string& out) {
  append_frame(FrameKind::end, out, [](std::string&) {});
}

std::optional<bool> decode_frame(FrameKind kind, std::string_view payload, Batch& batch) {
  if (std::ranges::count(retired_frames, static_cast<std::uint32_t>(kind)) > 0) return true;
  std::optional<bool> whole = take_texts(kind, payload, batch);
  each_kind([&](auto of) {
    if (of.kind == kind) whole = take_rows(payload, of.columns, batch.*of.rows);
  });
  return whole;
}

FrameReader::FrameReader(ByteSource& source) : source_(source) {
  std::array<char, file_header_bytes> header{};
  const std::size_t bytes = source_.read(header);
  if (bytes < header.size() || std::string_view(header.data(), file_magic.size()) != file_magic) {
    throw UserError("{}: byte 0: no recording of `scaleworth trace`; give files that it wrote",
                    source.name());
  }
  const std::uint32_t version = word_at(header.data() + file_magic.size(), 0);
  if (version == 0 || version > format_version) {
    throw UserError(
        "{}: byte 8: format version {}, this program reads up to {}; use a newer scaleworth",
        source.name(),
        version,
        format_version);
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

void append_frame(FrameKind kind,
                  std::string& out,
                  const std::function<void(std::string& out)>& fill) {
  const std::size_t start = out.size();
  out.append(frame_header_bytes, '\0');
  fill(out);
  const std::string_view payload = std::string_view(out).substr(start + frame_header_bytes);
  const std::uint32_t words[] = {static_cast<std::uint32_t>(kind),
                                 static_cast<std::uint32_t>(payload.size()),
                                 checksum(kind, payload)};
  static_assert(sizeof(words) == frame_header_bytes);
  std::memcpy(out.data() + start, words, sizeof(words));
}

void Batch::clear() {
  each_kind([&](auto kind) { (this->*kind.rows).clear(); });
  names.clear();
  facts.clear();
  losses.clear();
}
}  // namespace scaleworth::trace::recording
