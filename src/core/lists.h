// SPDX-License-Identifier: Apache-2.0
/// Short forms of what is often asked of a list or a map. Its standard headers come with it, and so
/// with error.h, estimate.h and span.h.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace scaleworth {
/// The place in a list that has one element for each of an enumeration's values.
template <class Enumeration>
requires std::is_enum_v<Enumeration>
constexpr std::size_t index_of(Enumeration value) {
  return static_cast<std::size_t>(value);
}
/// What `make` makes of each element.
template <class Range, class Make>
auto mapped(const Range& range, Make make) {
  std::vector<std::decay_t<std::invoke_result_t<Make&, decltype(*std::begin(range))>>> values;
  for (const auto& one : range) values.push_back(std::invoke(make, one));
  return values;
}

/// 0, 1, 2 and so on, `count` of them.
template <class Number = std::size_t>
std::vector<Number> numbers_below(std::size_t count) {
  std::vector<Number> numbers(count);
  std::iota(numbers.begin(), numbers.end(), Number{});
  return numbers;
}
/// The first element with this value of `project`; null where none has it.
template <class Range, class Value, class Project = std::identity>
auto* find_in(Range& range, const Value& value, Project project = {}) {
  const auto found = std::ranges::find(range, value, project);
  return found == range.end() ? nullptr : &*found;
}

/// The value of a map at `key`; null without one.
template <class Map, class Key = typename Map::key_type>
auto* value_at(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// Whether the rows of a list stand in the order of the enumeration of their `id`, without a gap.
template <class List>
constexpr bool ids_in_order(const List& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (static_cast<std::size_t>(list[i].id) != i) return false;
  }
  return true;
}

/// What `text_of` gives for each of them, without empty ones: "a, b".
template <class Range, class TextOf = std::identity>
std::string listed(const Range& range, TextOf text_of = {}, std::string_view separator = ", ") {
  std::string list;
  for (const auto& one : range) {
    const std::string text(std::invoke(text_of, one));
    if (!list.empty() && !text.empty()) list += separator;
    list += text;
  }
  return list;
}
}  // namespace scaleworth
