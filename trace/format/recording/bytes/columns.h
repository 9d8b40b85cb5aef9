// SPDX-License-Identifier: Apache-2.0
/// Rows as columns of varints, from one list of members per kind of row.
#pragma once

#include "trace/format/recording/bytes/varint.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace scaleworth::trace::recording {

enum class Coding { plain, difference };  // to the row before

/// One member of a row and how it is written.
template <auto Member, Coding coding = Coding::plain>
struct Column {
  template <class Row>
  static std::uint64_t get(const Row& row) {
    return static_cast<std::uint64_t>(row.*Member);
  }
  template <class Row>
  static void set(Row& row, std::uint64_t value) {
    using Value = std::remove_cvref_t<decltype(row.*Member)>;
    row.*Member = static_cast<Value>(value);
  }
  static constexpr bool differences = coding == Coding::difference;
};

template <class... Columns>
struct ColumnList {};

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
void put_rows(std::span<const Row> rows, ColumnList<Columns...>, std::string& out) {
  const auto append_number = [&out](std::uint64_t value) {
    char digits[longest_varint];
    out.append(digits, put_varint(digits, value));
  };
  append_number(rows.size());
  append_number(sizeof...(Columns));
  const auto scratch = std::make_unique_for_overwrite<char[]>(rows.size() * longest_varint);
  bool first = true;
  const auto append_column = [&](auto column) {
    bool all_zero = false;
    const char* end = put_column<decltype(column)>(scratch.get(), rows, all_zero);
    const bool written = first || !all_zero;
    const std::size_t bytes = written ? static_cast<std::size_t>(end - scratch.get()) : 0;
    append_number(bytes);
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
bool take_rows(std::string_view bytes, ColumnList<Columns...>, std::vector<Row>& rows) {
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

}  // namespace scaleworth::trace::recording
