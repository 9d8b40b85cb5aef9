// SPDX-License-Identifier: Apache-2.0
/// Lines of running text -> the rows of a table.
#pragma once

#include "src/cli/input/table_input.h"

namespace scaleworth::cli {
/// A line of a text, without the blanks around it.
struct TextLine {
  std::size_t number = 0;  // from 1 on
  std::string_view text;
};

/// The counts that running text states, such as logs, reports and lists, with what it says of each
/// up to the next: "4 GPUs: 390 img/s", "real 0m4.2s" below "make -j 8". No columns where it states
/// fewer than two, or measures nothing.
RawTable running_text(const std::vector<TextLine>& lines, const std::string& file);
}  // namespace scaleworth::cli
