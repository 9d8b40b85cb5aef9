// SPDX-License-Identifier: Apache-2.0
/// A measurement that could not be had is a value with a reason, not an exception.
#pragma once

#include <string>
#include <variant>

namespace scaleworth {

/// Cannot be measured here, for this reason.
struct Skipped {
  std::string reason;
};

/// Was tried and broke, for this reason.
struct Failed {
  std::string reason;
};

template <class T>
using Outcome = std::variant<T, Skipped, Failed>;

}  // namespace scaleworth
