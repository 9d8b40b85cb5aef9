// SPDX-License-Identifier: Apache-2.0
/// A catalogue's text with one thing changed, and what its reader says to that.
#pragma once

#include "src/core/error.h"
#include "tests/catch.h"

#include <string>

namespace scaleworth::catalogue_tests {

/// `text` with the first `what` exchanged for `by`.
inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

/// The message of the UserError that `read` throws; "accepted" without one.
template <class Read>
std::string refusal_of(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace scaleworth::catalogue_tests
