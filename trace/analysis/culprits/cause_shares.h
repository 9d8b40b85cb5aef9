// SPDX-License-Identifier: Apache-2.0
/// Why a rank is late, from all that it did longer than others.
#pragma once

#include "src/core/attribution/culprits.h"
#include "trace/analysis/culprits/excess.h"
#include "trace/analysis/rank_numbers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// Sum of excesses, kernels by name; `upstream` is left out.
void add_excess(Excess& sum, const Excess& one);

/// How `excess` divides, largest first; the shares sum to excess.total(). Computing longer is the
/// same kernels being slower (equal names, longer on average) or other counts, in proportion; all
/// of it is the stage's when `stage` is given, with that text.
std::vector<attribution::CauseShare> cause_shares(const Excess& excess,
                                                  const std::optional<std::string>& stage,
                                                  const RankNumbers& numbers);

/// The cause that explains at least 80 % of what the shares sum to; else undecided.
attribution::LateCause named_cause(const std::vector<attribution::CauseShare>& shares);

}  // namespace scaleworth::trace
