// SPDX-License-Identifier: Apache-2.0
/// Binding flags to the members that they fill; for sources that add flags, which read CLI11
/// anyway.
#pragma once

#include "src/core/units.h"

#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {
// From the units of the flags.

inline constexpr auto hours = [](double number) { return Seconds(number * 3600.0); };
inline constexpr auto seconds = [](double number) { return Seconds(number); };
inline constexpr auto milliseconds = [](double number) { return Seconds(number * 1e-3); };
inline constexpr auto microseconds = [](double number) { return Seconds(number * 1e-6); };
inline constexpr auto megabytes = [](double number) { return Bytes(number * 1e6); };
inline constexpr auto gigabytes_per_second = [](double number) {
  return BytesPerSecond(number * 1e9);
};
inline constexpr auto dollars = [](double number) { return Dollars(number); };

/// Flags of one group of a command's help, bound to the members that they fill.
class Flags {
 public:
  explicit Flags(CLI::App& command) : Flags(command, command.option_defaults()->get_group()) {}
  /// `needed`: a flag without which these are refused; `check`: of every value.
  Flags(CLI::App& command,
        std::string group,
        CLI::Option* needed = nullptr,
        std::optional<CLI::Validator> check = {})
      : command_(command), group_(std::move(group)), needed_(needed), check_(std::move(check)) {}

  template <class Member>
  CLI::Option* add(const char* name, Member& member, const std::string& help) const {
    return placed(command_.add_option(name, member, help));
  }
  /// `take` is called with the value.
  template <class Value, class Take>
  CLI::Option* call(const char* name, Take take, const char* help) const {
    return placed(command_.add_option_function<Value>(name, take, help));
  }
  /// A number that `convert` brings into the unit of `member`.
  template <class Member, class Convert>
  CLI::Option* add(const char* name, Member& member, Convert convert, const char* help) const {
    const auto take = [&member, convert](const double& number) { member = convert(number); };
    return call<double>(name, take, help);
  }

 private:
  CLI::Option* placed(CLI::Option* option) const {
    if (needed_ != nullptr) option->needs(needed_);
    if (check_) option->check(*check_);
    return option->group(group_);
  }

  CLI::App& command_;
  std::string group_;
  CLI::Option* needed_;
  std::optional<CLI::Validator> check_;
};
}  // namespace scaleworth::cli
