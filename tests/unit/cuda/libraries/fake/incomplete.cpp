// SPDX-License-Identifier: Apache-2.0
/// A cuBLASLt of version 13.1.0 that has lost its other functions.
#include <cstddef>

extern "C" std::size_t cublasLtGetVersion() {
  return 130100;
}
