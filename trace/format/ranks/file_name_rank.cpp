// SPDX-License-Identifier: Apache-2.0
#include "trace/format/ranks/file_name_rank.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

namespace scaleworth::trace {
namespace {

/// By how sure they are.
constexpr std::array<std::string_view, 4> words = {"rank", "worker", "gpu", "proc"};
constexpr std::size_t most_digits = 6;

bool digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::optional<std::int32_t> number_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && digit(text[end])) ++end;
  if (end == at || end - at > most_digits) return std::nullopt;
  std::int32_t value = 0;
  std::from_chars(text.data() + at, text.data() + end, value);
  return value;
}

/// The number that follows the last occurrence of `word`, perhaps behind one of "-_.=".
std::optional<std::int32_t> number_after(std::string_view name, std::string_view word) {
  for (std::size_t at = name.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : name.rfind(word, at - 1)) {
    std::size_t from = at + word.size();
    if (from < name.size() && std::string_view("-_.=").find(name[from]) != std::string_view::npos)
      ++from;
    if (const auto number = number_at(name, from)) return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int32_t> file_name_rank(std::string_view path) {
  std::string name(path.substr(path.find_last_of("/:") + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  for (const std::string_view word : words)
    if (const auto number = number_after(name, word)) return number;
  const std::string_view stem = std::string_view(name).substr(0, name.find('.'));
  const std::size_t from = stem.find_last_not_of("0123456789") + 1;
  if (from > 0 && stem[from - 1] != '_' && stem[from - 1] != '-') return std::nullopt;
  return number_at(stem, from);
}

}  // namespace scaleworth::trace
