// SPDX-License-Identifier: Apache-2.0
/// What the records of CUPTI and those of Nsight Systems have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace scaleworth::trace {
/// "cudaLaunchKernel_v7000" without what says since when it exists: the rules know functions, not
/// their versions. "cuMemcpyHtoD_v2" as it is.
constexpr std::string_view without_release(std::string_view name) {
  constexpr std::size_t shortest_release =
      4;  // digits of "v3020", the oldest runtime call there is
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos || name.size() - mark - 2 < shortest_release) return name;
  const bool digits = name.find_first_not_of("0123456789", mark + 2) == std::string_view::npos;
  return digits ? name.substr(0, mark) : name;
}

/// Bytes of an entry of an NVTX payload, by the number of its type (NVTX_PAYLOAD_ENTRY_TYPE_..); 0
/// for what is no predefined integer.
constexpr std::size_t nvtx_integer_bytes(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 4> of_four = {5, 6, 15, 16};  // int, unsigned, int32, uint32
  // long, unsigned long, long long, unsigned long long, int64, uint64, size_t
  constexpr std::array<std::uint64_t, 7> of_eight = {7, 8, 9, 10, 17, 18, 22};
  if (std::ranges::find(of_four, type) != of_four.end()) return 4;
  return std::ranges::find(of_eight, type) != of_eight.end() ? 8 : 0;
}
}  // namespace scaleworth::trace
