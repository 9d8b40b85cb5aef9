// SPDX-License-Identifier: Apache-2.0
/// Rows of comma-separated values, written and read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {
/// One line with its newline; cells that hold a comma, a quote or a line break are quoted
/// (RFC 4180, with "\n" for the line end).
std::string csv_line(const std::vector<std::string>& cells);

/// A text read line by line, in constant memory beside the text itself. Lines end with LF or CRLF;
/// a byte-order mark, blank lines and lines that begin with # are left out; cells lose the blanks
/// around them. A quoted cell ends on its line.
class CsvReader {
 public:
  /// `text` must outlive the reader; `file` is for messages.
  CsvReader(std::string_view text, std::string file);
  /// The cells of the next line; absent at the end. Throws UserError with file and line for a
  /// quoted cell without an end.
  std::optional<std::vector<std::string>> next();
  /// "table.csv:3", of the line that `next` gave last.
  std::string place() const;

 private:
  std::string take_cell(std::string_view& rest) const;

  std::string_view rest_;
  std::string file_;
  std::size_t line_ = 0;
};
}  // namespace scaleworth
