// SPDX-License-Identifier: Apache-2.0
/// Samples of an array on a GPU, for checks by the host.
#pragma once

#include "cuda/device/workbench.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// A stretch of an array: its first element's index, and its elements' bytes.
struct ArraySample {
  std::uint64_t first = 0;
  std::vector<std::byte> bytes;
};

/// At most 64 stretches of at most 256 elements, evenly spread, the array's start and end among
/// them. Waits for the workbench's stream.
std::vector<ArraySample> take_samples(Workbench& bench,
                                      const void* array,
                                      std::uint64_t elements,
                                      std::size_t element_bytes);

/// Throws ProbeFailure naming GPU, `doing`, place and both values unless every sampled element
/// equals `expected(index)`; a NaN equals nothing.
void require_floats(Workbench& bench,
                    const float* array,
                    std::uint64_t elements,
                    const std::function<float(std::uint64_t)>& expected,
                    const std::string& doing);

/// The failure that such checks throw.
[[noreturn]] void wrong_result(const DeviceHealth& health,
                               const std::string& doing,
                               std::uint64_t index,
                               double found,
                               double expected);

}  // namespace scaleworth::gpu
