// SPDX-License-Identifier: Apache-2.0
/// Binding flags to the members that they fill; for sources that add flags: it includes CLI11.
#pragma once

#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/units.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
/// The quantity that a flag's number stands for: of rates of money USD per hour, of money USD, of
/// all else the unit at the end of the flag's name.
template <class Unit>
Unit quantity_of(std::string_view flag, double number) {
  if constexpr (std::is_same_v<Unit, DollarsPerSecond>) return dollars_per_hour(number);
  using Ending = std::pair<std::string_view, double>;
  constexpr std::array endings{Ending{"-hours", 3600.0},
                               Ending{"-ms", 1e-3},
                               Ending{"-us", 1e-6},
                               Ending{"-mb", 1e6},
                               Ending{"-gib", gibibyte},
                               Ending{"-gbs", 1e9},
                               Ending{"-gb-per-s", 1e9}};
  const auto* found = std::ranges::find_if(
      endings, [&](const Ending& ending) { return flag.ends_with(ending.first); });
  return Unit(found == endings.end() ? number : number * found->second);
}

/// A check of a flag's value: a finite number above 0, or of 0 or more.
inline CLI::Validator number_check(bool or_zero) {
  const auto problem_of = [or_zero](const std::string& text) -> std::string {
    const auto number = parse_number<double>(text);
    if (number && (*number > 0.0 || (or_zero && *number == 0.0))) return "";
    return fmt::format("{} is not a number {}{}",
                       text,
                       or_zero ? "of 0 or more" : "above 0",
                       text.find(',') != std::string::npos ? "; write 2.5, not 2,5"
                       : number                            ? ""
                                : "; write it alone, in the flag's unit");
  };
  return {problem_of, or_zero ? "NONNEGATIVE" : "POSITIVE"};
}
inline const CLI::Validator nonnegative_number = number_check(true);
inline const CLI::Validator positive_number = number_check(false);

/// A table of data/help.toml: what --help says, by flag; empty where there is none of that name.
const toml_file::Texts& help_texts(const std::string& table);

/// The subcommand with what its table says it does.
CLI::App* add_command(CLI::App& app, const std::string& name);

/// Flags of one group of a command's help, bound to the members that they fill. What is not said of
/// a flag here stands in the command's table of data/help.toml.
class Flags {
 public:
  explicit Flags(CLI::App& command) : Flags(command, command.option_defaults()->get_group()) {}
  /// Of flags that several commands share, in a table of their own.
  Flags(CLI::App& command, const toml_file::Texts& texts) : Flags(command) { texts_ = &texts; }
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
  template <class Member>
  CLI::Option* add(const char* name, Member& member) const {
    const std::string& help = texts_->at(name);
    if constexpr (std::is_same_v<Member, bool>) {
      return placed(command_.add_flag(name, member, help));
    } else {
      return add(name, member, help.c_str());
    }
  }
  /// A list as 1,2,4, or one by one with the flag before each.
  template <class Member>
  CLI::Option* list(const char* name, Member& member, const std::string& help) const {
    return add(name, member, help)->delimiter(',')->allow_extra_args(false);
  }
  template <class Member>
  CLI::Option* list(const char* name, Member& member) const {
    return list(name, member, texts_->at(name));
  }
  /// `take` is called with the value.
  template <class Value, class Take>
  CLI::Option* call(const char* name, Take take, const char* help = nullptr) const {
    const std::string text = help != nullptr ? help : texts_->at(name);
    return placed(command_.add_option_function<Value>(name, take, text));
  }
  template <int... Dimension>
  CLI::Option* add(const char* name, Quantity<Dimension...>& member, const char* help) const {
    return add_quantity<Quantity<Dimension...>>(name, member, help);
  }
  template <int... Dimension>
  CLI::Option* add(const char* name,
                   std::optional<Quantity<Dimension...>>& member,
                   const char* help) const {
    return add_quantity<Quantity<Dimension...>>(name, member, help);
  }

 private:
  template <class Unit, class Member>
  CLI::Option* add_quantity(const char* name, Member& member, const char* help) const {
    const auto take = [&member, name](double number) { member = quantity_of<Unit>(name, number); };
    return call<double>(name, take, help);
  }
  CLI::Option* placed(CLI::Option* option) const {
    if (needed_ != nullptr) option->needs(needed_);
    if (check_) option->check(*check_);
    return option->group(group_);
  }

  CLI::App& command_;
  const toml_file::Texts* texts_ = &help_texts(command_.get_name());
  std::string group_;
  CLI::Option* needed_;
  std::optional<CLI::Validator> check_;
};
}  // namespace scaleworth::cli
