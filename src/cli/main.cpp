// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"

int main(int argc, char** argv) {
  return scaleworth::cli::run_application(argc, argv);
}
