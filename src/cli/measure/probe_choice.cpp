// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/probe_choice.h"

#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

bool means(const std::string& word, std::string_view probe) {
  return probe == word || (probe.starts_with(word) && probe.substr(word.size(), 1) == ".");
}

}  // namespace

bool is_asked_for(std::string_view probe, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& word) {
           return means(word, probe);
         });
}

void check_words(const std::vector<std::string>& only,
                 const std::vector<std::string_view>& known,
                 const std::string& remedy) {
  for (const std::string& word : only) {
    const auto found = std::any_of(
        known.begin(), known.end(), [&](std::string_view probe) { return means(word, probe); });
    if (found) continue;
    throw UserError(
        fmt::format("--only {}: no such probe; known: {}{}", word, fmt::join(known, ", "), remedy));
  }
}

}  // namespace scaleworth::cli
