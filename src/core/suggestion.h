// SPDX-License-Identifier: Apache-2.0
/// What a person who mistyped a name may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

/// The `most` names of `known` that are nearest to `wanted`, nearest first. The distance is the
/// number of letters to insert, delete or exchange; letter case and all but letters and digits do
/// not count, and a name that has `wanted` within it is nearer than one that has not.
std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& known,
                                       std::size_t most);

/// "did you mean llama-2-7b, llama-3.1-8b or llama-7b?"; of nothing known: "nothing is known".
std::string suggestion(std::string_view wanted, const std::vector<std::string>& known);

}  // namespace scaleworth
