// SPDX-License-Identifier: Apache-2.0
/// Comparison of a report with the committed text.
#pragma once

#include "tests/catch.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace scaleworth::report {

inline std::string golden_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Compares with the committed text; with UPDATE_GOLDEN set, rewrites it instead.
inline void require_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(GOLDEN_DIRECTORY) + "/" + name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
  }
  INFO("after an intended change run this program with --update: " << path);
  REQUIRE(actual == golden_text(path));
}

}  // namespace scaleworth::report
