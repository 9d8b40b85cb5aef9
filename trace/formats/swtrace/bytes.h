// SPDX-License-Identifier: Apache-2.0
/// Integers, texts, columns and frames as the bytes of a .swtrace file.
#pragma once

#include "trace/formats/byte_source.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace scaleworth::trace::recording {
// Integers in as many bytes as they need: seven bits each, lowest first, the top bit set on all
// but the last.

inline constexpr std::size_t longest_varint = 10;

/// Writes `value` at `to`, which has room for `longest_varint`; returns the end of it.
inline char* put_varint(char* to, std::uint64_t value) {
  while (value >= 0x80U) {
    *to++ = static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  *to++ = static_cast<char>(value);
  return to;
}

inline void put_number(std::uint64_t value, std::string& out) {
  char digits[longest_varint];
  out.append(digits, put_varint(digits, value));
}

/// Takes a number from the front of `bytes`; absent when they end inside of it or it has more than
/// 64 bits.
inline std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < longest_varint; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7U * i);
    if (byte >= 0x80U) continue;
    if (i + 1 == longest_varint && byte > 1) return std::nullopt;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

/// Small differences of either sign as small numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
constexpr std::uint64_t fold_sign(std::uint64_t difference) {
  return (difference << 1U) ^ (0 - (difference >> 63U));
}
constexpr std::uint64_t unfold_sign(std::uint64_t folded) {
  return (folded >> 1U) ^ (0 - (folded & 1U));
}

// Rows as columns of varints, from one list of members per kind of row.

/// One member of a row and how it is written: as it is or as its difference to the row before.
template <auto Member, bool as_difference>
struct Column {
  template <class Row>
  static std::uint64_t get(const Row& row) {
    if constexpr (Member == nullptr)
      return 0;
    else
      return static_cast<std::uint64_t>(row.*Member);
  }
  template <class Row>
  static void set(Row& row, std::uint64_t value) {
    if constexpr (Member != nullptr)
      row.*Member = static_cast<std::remove_cvref_t<decltype(row.*Member)>>(value);
  }
  static constexpr bool differences = as_difference;
};

template <auto... Members>
using Plain = std::tuple<Column<Members, false>...>;
template <auto... Members>
using Delta = std::tuple<Column<Members, true>...>;

template <class... Runs>
using ColumnList = decltype(std::tuple_cat(std::declval<Runs>()...));

template <class Column, class Row>
char* put_column(char* to, std::span<const Row> rows, bool& all_zero) {
  std::uint64_t before = 0;
  std::uint64_t any = 0;
  for (const Row& row : rows) {
    const std::uint64_t value = Column::get(row);
    any |= value;
    to = put_varint(to, Column::differences ? fold_sign(value - before) : value);
    before = value;
  }
  all_zero = any == 0;
  return to;
}

/// Appends the count of rows, the count of columns, and each column with its length in bytes. A
/// column of zeros has none, but the first one always has: so rows cost bytes, and a damaged count
/// cannot ask for more memory than the file is worth.
template <class Row, class... Columns>
void put_rows(std::span<const Row> rows, std::tuple<Columns...>, std::string& out) {
  put_number(rows.size(), out);
  put_number(sizeof...(Columns), out);
  const auto scratch = std::make_unique_for_overwrite<char[]>(rows.size() * longest_varint);
  bool first = true;
  const auto append_column = [&](auto column) {
    bool all_zero = false;
    const char* end = put_column<decltype(column)>(scratch.get(), rows, all_zero);
    const bool written = first || !all_zero;
    const std::size_t bytes = written ? static_cast<std::size_t>(end - scratch.get()) : 0;
    put_number(bytes, out);
    out.append(scratch.get(), bytes);
    first = false;
  };
  (append_column(Columns{}), ...);
}

template <class Column, class Row>
bool take_column(std::string_view bytes, std::span<Row> rows) {
  std::uint64_t before = 0;
  for (Row& row : rows) {
    const auto number = take_varint(bytes);
    if (!number) return false;
    before = Column::differences ? before + unfold_sign(*number) : *number;
    Column::set(row, before);
  }
  return bytes.empty();
}

/// Reads what `put_rows` wrote and appends it to `rows`; columns of a later writer are passed over,
/// those that an earlier one had not are zero. False, with `rows` as they were, when the bytes are
/// not such.
template <class Row, class... Columns>
bool take_rows(std::string_view bytes, std::tuple<Columns...>, std::vector<Row>& rows) {
  const auto count = take_varint(bytes);
  const auto columns = take_varint(bytes);
  if (!count || !columns || *count > bytes.size()) return false;
  const std::size_t first_row = rows.size();
  rows.resize(first_row + *count);
  std::uint64_t index = 0;
  const auto take_next = [&](auto column) {
    if (index++ >= *columns) return index > 1 || *count == 0;
    const auto length = take_varint(bytes);
    if (!length || *length > bytes.size()) return false;
    const std::string_view own = bytes.substr(0, *length);
    bytes.remove_prefix(*length);
    if (own.empty()) return index > 1 || *count == 0;
    return take_column<decltype(column)>(own, std::span(rows).subspan(first_row));
  };
  const bool whole = (take_next(Columns{}) && ...);
  if (!whole) rows.resize(first_row);
  return whole;
}

// The outer shape of a recording file (.swtrace): a header, then frames that are only ever
// appended, each with its length and a checksum, so that a torn end is found and what is before it
// reads.

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
  // Those of retired_frames are of earlier versions.
};

/// Clocks, windows of recording, NCCL's network operations and channels: nothing used them.
inline constexpr std::array<std::uint32_t, 4> retired_frames{4, 5, 17, 18};

std::string file_header(std::uint32_t version = format_version);

/// Of a frame: multiply and rotate, eight bytes at a time; finds torn and overwritten frames, and
/// is no protection against forgery.
std::uint32_t checksum(FrameKind kind, std::string_view payload);

/// Appends a frame whose payload `fill` appends to `out`.
void append_frame(FrameKind kind,
                  std::string& out,
                  const std::function<void(std::string& out)>& fill);

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
