// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "tests/run_catch.h"

#include "tests/catch.h"
#include "tests/skip.h"

namespace scaleworth::tests {

int run_catch(int argc, char** argv) {
  if (Catch::Session().run(argc, argv) != 0) return 1;
  return skips > 0 ? 77 : 0;
}

}  // namespace scaleworth::tests
