// SPDX-License-Identifier: Apache-2.0
#include "report/text/wrap.h"

#include <algorithm>

namespace scaleworth::report {
namespace {

std::vector<std::string_view> unbreakable_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool before_percent = i + 1 < text.size() && text[i + 1] == '%';
    if (i == text.size() || (text[i] == ' ' && depth == 0 && !before_percent)) {
      if (i > start) {
        words.push_back(text.substr(start, i - start));
      }
      start = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']' && depth > 0) {
      --depth;
    }
  }
  return words;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : unbreakable_words(text)) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += ' ';
      line += word;
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  for (const std::string_view word : unbreakable_words(text)) {
    widest = std::max(widest, display_width(word));
  }
  return widest;
}

}  // namespace scaleworth::report
