// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "tests/run_catch.h"

#include "tests/catch.h"

namespace scaleworth::tests {

int run_catch(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}

}  // namespace scaleworth::tests
