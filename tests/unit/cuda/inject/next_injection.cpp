// SPDX-License-Identifier: Apache-2.0
/// Another tool's injection library: says on stderr that it was started.
#include <cstdio>

extern "C" {

int InitializeInjection() {
  std::fputs("the next tool was started\n", stderr);
  return 1;
}
}
