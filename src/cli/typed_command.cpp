// SPDX-License-Identifier: Apache-2.0
#include "src/cli/typed_command.h"

#include <string_view>

namespace scaleworth::cli {
namespace {

constexpr std::string_view harmless =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+.,:/@%";

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      text += "'\\''";
    } else {
      text += letter;
    }
  }
  return text + "'";
}

}  // namespace

std::string typed_command(const Arguments& arguments) {
  std::string text = "scaleworth";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool split = word == "--format";
    if (split) ++i;  // its value
    if (split || word == "--details" || word.starts_with("--format=")) continue;
    text += " " + quoted(word);
  }
  return text;
}

}  // namespace scaleworth::cli
