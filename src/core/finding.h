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
#include <optional>
#include <stdexcept>
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
  Finding(FindingId what = {}, const Values&... values);
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

/// A probe has no question to ask here (a collective of one rank): skipped with this reason. Its
/// words are the report's; `what()` is a text that was given, else the name of the finding.
struct NothingToMeasure : std::runtime_error {
  explicit NothingToMeasure(const std::string& text)
      : std::runtime_error(text), reason(FindingId::stated, text) {}
  NothingToMeasure(const Finding& why)
      : std::runtime_error(std::string(finding_keys[index_of(why.id)])), reason(why) {}
  template <class... Values>
  NothingToMeasure(FindingId why, const Values&... values)
      : NothingToMeasure(Finding(why, values...)) {}

  Finding reason;
};

/// A failure that a finding describes.
struct FailureFound : ProbeFailure {
  explicit FailureFound(const Finding& why)
      : ProbeFailure(std::string(finding_keys[index_of(why.id)])), reason(why) {}

  Finding reason;
};

inline bool Finding::operator==(const Finding& other) const {
  return id == other.id && arguments == other.arguments;
}
inline std::partial_ordering Finding::operator<=>(const Finding& other) const {
  return id != other.id ? id <=> other.id : arguments <=> other.arguments;
}

// A measurement that could not be had is a value with a reason, not an exception.

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

/// Why there is no value; empty where there is one.
template <class T>
std::string reason_of(const Outcome<T>& outcome) {
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) return skipped->reason;
  if (const auto* failed = std::get_if<Failed>(&outcome)) return failed->reason;
  return {};
}

/// The value. Throws NothingToMeasure with the reason where it was skipped, ProbeFailure where it
/// failed.
template <class T>
T required(const Outcome<T>& outcome) {
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) throw NothingToMeasure(skipped->reason);
  if (const auto* failed = std::get_if<Failed>(&outcome)) throw ProbeFailure(failed->reason);
  return std::get<T>(outcome);
}

/// The outcome that `use` makes of the value, or why there is no value.
template <class T, class Use>
auto and_then(const Outcome<T>& outcome, Use use) -> decltype(use(std::declval<const T&>())) {
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) return *skipped;
  if (const auto* failed = std::get_if<Failed>(&outcome)) return *failed;
  return use(std::get<T>(outcome));
}
}  // namespace scaleworth
