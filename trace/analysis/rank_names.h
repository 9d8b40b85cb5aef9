// SPDX-License-Identifier: Apache-2.0
/// Ranks in a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// "rank 3", "ranks 0, 2-5 and 7" for ascending numbers; of more than six runs the first six and
/// "and N more". Empty for none.
std::string rank_names(const std::vector<std::uint32_t>& ranks);

}  // namespace scaleworth::trace
