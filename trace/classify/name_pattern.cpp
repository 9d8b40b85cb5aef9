// SPDX-License-Identifier: Apache-2.0
#include "trace/classify/name_pattern.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

bool holds_any(std::string_view text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [text](const std::string& word) {
    return text.find(word) != std::string_view::npos;
  });
}

std::string without_brackets(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char character : text) {
    if (character == '<' || character == '(') {
      ++depth;
    } else if (character == '>' || character == ')') {
      depth = std::max(0, depth - 1);  // the arrow of a return type closes nothing
    } else if (depth == 0) {
      result += character;
    }
  }
  return result;
}

std::string_view without_version(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return name;
  const std::string_view stem = name.substr(0, last + 1);
  return stem.ends_with("_v") ? stem.substr(0, stem.size() - 2) : name;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& character : result) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return result;
}

NameForms::NameForms(std::string_view name)
    : whole(lower_case(name)),
      function(without_brackets(whole)),
      unversioned(without_version(whole)) {}

bool NamePattern::matches(const NameForms& name) const {
  if (!is.empty() && std::find(is.begin(), is.end(), name.unversioned) == is.end()) return false;
  const auto fails = [](const std::vector<std::string>& words, std::string_view text) {
    return !words.empty() && !holds_any(text, words);
  };
  return !fails(function, name.function) && !fails(and_function, name.function) &&
         !fails(contains, name.whole) && !fails(and_contains, name.whole) &&
         !holds_any(name.whole, unless);
}

}  // namespace scaleworth::trace
