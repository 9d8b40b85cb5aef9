// SPDX-License-Identifier: Apache-2.0
/// `Finding`: what was found of an input or a result, as values. Its words are in
/// data/findings.toml, from whose names `FindingId` is generated; report/words.h puts them
/// together.
#pragma once

#include "src/core/estimate.h"
#include "src/core/finding_id.h"
#include "src/core/units.h"

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace scaleworth {
struct Argument;

/// `arguments` stand in the order of the numbers in its words.
struct Finding {
  FindingId id{};
  std::vector<Argument> arguments;

  template <class... Values>
  Finding(FindingId what, const Values&... values);
  bool operator==(const Finding& other) const;
  std::partial_ordering operator<=>(const Finding& other) const;
};

/// A number, in base units where it has one, a name from the input, a word of a vocabulary, or
/// other findings.
struct Argument {
  std::variant<std::int64_t, double, Estimate<double>, std::string, std::vector<Finding>> value;

  Argument(std::integral auto number) : value(static_cast<std::int64_t>(number)) {}
  Argument(std::floating_point auto number) : value(static_cast<double>(number)) {}
  Argument(std::string_view name) : value(std::string(name)) {}
  Argument(const std::string& name) : value(name) {}
  Argument(const char* name) : value(std::string(name)) {}
  Argument(const Estimate<double>& number) : value(number) {}
  template <int S, int B, int F, int D>
  Argument(const Estimate<Quantity<S, B, F, D>>& number)
      : value(transform(number, [](const auto& quantity) { return quantity.value(); })) {}
  Argument(const Finding& of) : value(std::vector{of}) {}
  Argument(const std::vector<Finding>& list) : value(list) {}
  bool operator==(const Argument&) const = default;
  std::partial_ordering operator<=>(const Argument&) const = default;
};

template <class... Values>
Finding::Finding(FindingId what, const Values&... values)
    : id(what), arguments{Argument(values)...} {}

inline bool Finding::operator==(const Finding& other) const {
  return id == other.id && arguments == other.arguments;
}
inline std::partial_ordering Finding::operator<=>(const Finding& other) const {
  return id != other.id ? id <=> other.id : arguments <=> other.arguments;
}
}  // namespace scaleworth
