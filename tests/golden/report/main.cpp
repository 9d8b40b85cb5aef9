// SPDX-License-Identifier: Apache-2.0
#include "tests/run_catch.h"

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
  return scaleworth::tests::run_catch(static_cast<int>(arguments.size()), arguments.data());
}
