// SPDX-License-Identifier: Apache-2.0
/// stderr and the other standard streams where they are full, closed, or their terminal is gone.
#pragma once

#include <exception>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth {
/// To be called first: descriptors 0 to 2 that are closed are opened so that no file of ours takes
/// their place; what is read from them or written to them fails as before.
void keep_standard_descriptors() noexcept;

/// Writes to stderr as far as that goes. What cannot be written is lost: no message is worth a
/// measurement, and a reader that left does not end the process.
void write_error(std::string_view text) noexcept;

/// The same, formatted.
template <class... Values>
void print_error(fmt::format_string<Values...> format, Values&&... values) noexcept {
  try {
    write_error(fmt::vformat(format, fmt::make_format_args(values...)));
  } catch (const std::exception&) {
    write_error("scaleworth: no memory for a message\n");
  }
}
}  // namespace scaleworth
