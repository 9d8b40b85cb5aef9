// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "tests/catch.h"

#include <cstdlib>
#include <cstring>
#include <vector>

/// As the stock main, plus --update, which rewrites the golden files.
int main(int argc, char** argv) {
  std::vector<char*> arguments;
  for (int i = 0; i < argc; ++i) {
    if (std::strcmp(argv[i], "--update") == 0) {
      setenv("UPDATE_GOLDEN", "1", 1);
    } else {
      arguments.push_back(argv[i]);
    }
  }
  return Catch::Session().run(static_cast<int>(arguments.size()), arguments.data());
}
