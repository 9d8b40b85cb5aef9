// SPDX-License-Identifier: Apache-2.0
/// Whole numbers of a file, a flag or a variable, on their way to an index, a count or a size.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace scaleworth {
/// `value` as an Integer where it lies from `least` to `most`; absent for others.
template <std::integral Integer, std::integral Value>
constexpr std::optional<Integer> whole_number(Value value,
                                              Integer least = 0,
                                              Integer most = std::numeric_limits<Integer>::max()) {
  const bool fits = std::cmp_greater_equal(value, least) && std::cmp_less_equal(value, most);
  return fits ? std::optional(static_cast<Integer>(value)) : std::nullopt;
}
/// The same of a value that may be absent.
template <std::integral Integer, std::integral Value>
constexpr std::optional<Integer> whole_number(const std::optional<Value>& value,
                                              Integer least = 0,
                                              Integer most = std::numeric_limits<Integer>::max()) {
  return value ? whole_number<Integer>(*value, least, most) : std::nullopt;
}

/// No job has more: a larger number counts something else, or is damage.
inline constexpr std::int32_t most_ranks = 1 << 22;

/// A rank's number in its job or group; absent for what is none.
template <class Value>
constexpr std::optional<std::int32_t> rank_number(const Value& value) {
  return whole_number<std::int32_t>(value, 0, most_ranks - 1);
}
/// The number of a step, with room for sums of two; absent for what is none.
template <class Value>
constexpr std::optional<std::int32_t> step_number(const Value& value) {
  return whole_number<std::int32_t>(value, 0, std::numeric_limits<std::int32_t>::max() / 2);
}
/// How many ranks there are; absent for what is no number of ranks.
template <class Value>
constexpr std::optional<std::int32_t> rank_count(const Value& value) {
  return whole_number<std::int32_t>(value, 1, most_ranks);
}
}  // namespace scaleworth
