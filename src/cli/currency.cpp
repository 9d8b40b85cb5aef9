// SPDX-License-Identifier: Apache-2.0
#include "src/cli/currency.h"

#include "report/currency.h"
#include "src/core/error.h"

#include <algorithm>
#include <cctype>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {
namespace {

std::string problem_of(const std::string& text) {
  constexpr std::size_t longest = 8;
  const bool letters =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return letters && !text.empty() && text.size() <= longest
             ? ""
             : "a currency has 1 to 8 letters, as EUR";
}

}  // namespace

void add_currency(CLI::App& command, std::string& currency) {
  command
      .add_option(
          "--currency", currency, "label of all amounts in place of USD; nothing is converted")
      ->check(problem_of)
      ->capture_default_str();
}

int in_currency(const std::string& currency, const std::function<int()>& body) {
  try {
    return body();
  } catch (const UserError& error) {
    std::string message = error.what();
    report::label_amounts(message, currency);
    throw UserError(message);
  }
}

}  // namespace scaleworth::cli
