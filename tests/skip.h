// SPDX-License-Identifier: Apache-2.0
/// Cases that cannot be tried on this machine.
#pragma once

#include <cstdio>
#include <string>

namespace scaleworth::tests {

inline int skips = 0;  // how often skip() was called

/// Tells that the running case cannot be tried here, and prints why; the case returns after it. A
/// program that skipped and did not fail is shown as skipped, not as passed (run_catch()).
inline void skip(const std::string& reason) {
  ++skips;
  std::printf("skipped: %s\n", reason.c_str());
}

}  // namespace scaleworth::tests
