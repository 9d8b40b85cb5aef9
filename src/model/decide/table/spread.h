// SPDX-License-Identifier: Apache-2.0
/// How far repeats of one time lie apart.
#pragma once

#include <optional>
#include <vector>

namespace scaleworth::decide {

/// Standard deviation (n - 1) over the mean; absent for fewer than two times.
std::optional<double> relative_sd(const std::vector<double>& times);

}  // namespace scaleworth::decide
