// SPDX-License-Identifier: Apache-2.0
/// Rows whose efficiency is above 1: what of the table explains them.
#pragma once

#include "src/model/decide/table/metrics.h"

#include <string>
#include <vector>

namespace scaleworth::decide {

/// One sentence per reason, with the rows that it explains: those whose efficiency lies above 1
/// with its whole interval (with its value, where there is none). Reasons are the part of the
/// baseline that shrank by more than the counts, another layout, a single run that may be noise, or
/// what else is known to do it. Such rows are never clipped.
std::vector<std::string> superlinear_remarks(const std::vector<DecisionRow>& rows);

/// Within this efficiency a row measured once may be noise.
inline constexpr double superlinear_noise = 1.03;

}  // namespace scaleworth::decide
