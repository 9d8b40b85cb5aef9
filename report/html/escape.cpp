// SPDX-License-Identifier: Apache-2.0
#include "report/html/escape.h"

#include <cctype>

namespace scaleworth::report {
namespace {

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) {
    return false;
  }
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != lower[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string json_in_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string code_in_script(std::string_view code) {
  std::string result;
  result.reserve(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    result += code[i];
    if (code[i] != '<') {
      continue;
    }
    const std::string_view rest = code.substr(i + 1);
    if (starts_with_ignoring_case(rest, "/script") || rest.starts_with("!--")) {
      result += '\\';
    }
  }
  return result;
}

}  // namespace scaleworth::report
