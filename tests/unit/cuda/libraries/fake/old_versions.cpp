// SPDX-License-Identifier: Apache-2.0
/// Versions of cuBLASLt, NCCL and CUPTI that are too old: 11.11.3, 2.17.1 and that of CUDA 11.8.
#include <cstddef>
#include <cstdint>

extern "C" {

std::size_t cublasLtGetVersion() {
  return 111103;
}
int ncclGetVersion(int* version) {
  *version = 21701;
  return 0;
}
int cuptiGetVersion(std::uint32_t* version) {
  *version = 18;
  return 0;
}
}
