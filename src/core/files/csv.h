// SPDX-License-Identifier: Apache-2.0
/// Rows of values that commas or other characters separate, and the numbers in their cells.
#pragma once

#include "src/core/error.h"

#include <charconv>
#include <cstddef>
#include <optional>

namespace scaleworth {
/// One line with its newline; cells that hold a comma, a quote or a line break are quoted
/// (RFC 4180, with "\n" for the line end).
std::string csv_line(const std::vector<std::string>& cells);

/// Without what is `blank` at both ends: spaces, tabs and line ends.
std::string_view trimmed(std::string_view text, std::string_view blank = " \t\r\n");

/// With lower case in place of ASCII's upper case letters.
std::string lower_case(std::string_view text);
/// What stands between the separators, one part more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// What stands between any of the separators, without empty parts.
std::vector<std::string_view> words_between(std::string_view text,
                                            std::string_view separators = " \t\r\n");

/// The number that the whole of `text` is; absent for anything else, infinity and NaN too.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value - value == Number{} ? std::optional(value) : std::nullopt;
}

/// A text read line by line, in constant memory beside the text itself. Lines end with LF or CRLF;
/// a byte-order mark, blank lines and lines that begin with # are left out; cells lose the blanks
/// around them. A quoted cell ends on its line.
class CsvReader {
 public:
  /// `text` must outlive the reader; `file` is for messages.
  CsvReader(std::string_view text, std::string file, char separator = ',');
  /// The cells of the next line; absent at the end. Throws UserError for a quote without an end.
  std::optional<std::vector<std::string>> next();
  /// "table.csv:3", of the line that `next` gave last.
  std::string place() const { return file_ + ":" + std::to_string(line_); }
  /// Of that line.
  UserError error(const std::string& what) const { return UserError(place() + ": " + what); }

 private:
  std::string take_cell(std::string_view& rest) const;

  std::string_view rest_;
  std::string file_;
  char separator_;
  std::size_t line_ = 0;
};
}  // namespace scaleworth
