// SPDX-License-Identifier: Apache-2.0
#include "trace/format/input/step_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace scaleworth::trace {
namespace {

constexpr std::string_view separators = " _-#:=.";
constexpr std::size_t longest_name = 40;

struct Word {
  std::string_view text;
  int preference;
};

/// The last word of the name, in the order of preference.
constexpr std::array words = {Word{"profilerstep", 0},
                              Word{"step", 1},
                              Word{"iteration", 2},
                              Word{"iter", 2},
                              Word{"minibatch", 3},
                              Word{"batch", 3}};

/// What may stand before it.
constexpr std::array<std::string_view, 6> qualifiers = {
    "", "train", "training", "global", "inference", "main"};

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(separators);
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace

std::optional<StepName> parse_step_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name) return std::nullopt;
  StepName step;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits < name.size()) {
    std::int32_t number = 0;
    const auto [end, error] =
        std::from_chars(name.data() + digits, name.data() + name.size(), number);
    if (error != std::errc()) return std::nullopt;
    step.number = number;
  }
  step.kind = trimmed(name.substr(0, digits));
  std::string lower = step.kind;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  for (const Word& word : words) {
    if (!lower.ends_with(word.text)) continue;
    const std::string_view before =
        trimmed(std::string_view(lower).substr(0, lower.size() - word.text.size()));
    if (std::find(qualifiers.begin(), qualifiers.end(), before) == qualifiers.end()) continue;
    step.preference = word.preference;
    return step;
  }
  return std::nullopt;
}

}  // namespace scaleworth::trace
