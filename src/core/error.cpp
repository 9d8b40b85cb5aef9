// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"

#include "src/core/lists.h"

#include <array>
#include <bit>
#include <cctype>

namespace scaleworth {
namespace {
/// Beyond this a name is no typing error, and its distance would only cost time.
constexpr std::size_t longest_name = 64;

std::string plain(std::string_view name) {
  std::string text;
  for (const char letter : name.substr(0, longest_name)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0) text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

/// Levenshtein's distance of `from` to each beginning of `to`, the last of which is all of it.
std::vector<std::size_t> edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row = numbers_below(to.size() + 1);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t exchanged = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, exchanged});
    }
  }
  return row;
}
/// Bytes of the UTF-8 character that `text` begins with and its code point; {1, U+FFFD} for none.
std::pair<std::size_t, char32_t> first_character(std::string_view text) {
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};  // by length
  constexpr std::pair<std::size_t, char32_t> none{1, U'\uFFFD'};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto ones = static_cast<std::size_t>(std::countl_one(byte(0)));
  if (ones == 0) return {1, byte(0)};
  if (ones == 1 || ones > 4 || text.size() < ones) return none;
  char32_t code = byte(0) & (0x7FU >> ones);
  for (std::size_t i = 1; i < ones; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return none;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[ones] || code > 0x10FFFF || surrogate ? none : std::pair(ones, code);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    if (code == '\n' || code == '\r' || code == '\t')
      result += ' ';
    else if (control || turns || code == U'\uFFFD')
      result += "\xEF\xBF\xBD";
    else
      result += text.substr(0, length);
    text.remove_prefix(length);
  }
  return result;
}

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string suggestion(std::string_view wanted, const std::vector<std::string>& known) {
  constexpr std::size_t most = 3;  // names; more would hide the likely one
  const std::string asked = plain(wanted);
  std::vector<std::pair<std::pair<bool, std::size_t>, std::string>> ranked;
  for (const std::string& name : known) {
    const std::string text = plain(name);
    const bool within = !asked.empty() && text.find(asked) != std::string::npos;
    const std::vector<std::size_t> distances = edits(asked, text);
    // A third of the letters mistyped is a slip; more is another word.
    const bool near = *std::ranges::min_element(distances) <= asked.size() / 3;
    if (!within && !near && !asked.starts_with(text)) continue;
    if (!asked.empty()) ranked.push_back({{!within, distances.back()}, name});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& left, const auto& right) {
    return left.first < right.first;
  });
  const std::size_t shown = std::min(most, ranked.size());
  if (ranked.empty()) return "";
  std::string text = "; did you mean " + ranked.front().second;
  for (std::size_t at = 1; at < shown; ++at) {
    text += (at + 1 == shown ? " or " : ", ") + ranked[at].second;
  }
  return text + "?";
}
}  // namespace scaleworth
