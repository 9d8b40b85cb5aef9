// SPDX-License-Identifier: Apache-2.0
/// The main of test programs that need none of their own.
#include "tests/run_catch.h"

int main(int argc, char** argv) {
  return scaleworth::tests::run_catch(argc, argv);
}
