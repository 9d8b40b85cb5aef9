// SPDX-License-Identifier: Apache-2.0
/// The answers to the questions of probes/gpu/device.h, one function each, on a workbench whose GPU
/// is current. They throw gpu::Error for a failed call, besides what the questions say.
#pragma once

#include "cuda/device/cuda_device.h"
#include "probes/gpu/device.h"
#include "probes/gpu/numbers.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::gpu {
template <class Work>
using Question = DeviceMeasured(Workbench& bench, Work work, const Target& target);

/// Chains on the CUDA cores: fp64, fp32, fp16, bf16. An operation is one launch of about 1 ms.
/// The end values of shorter chains are compared with the host's, bit by bit.
Question<NumberFormat> time_cuda_cores;

/// An operation is one walk over the working set. Results are checked: copy, triad
/// and write by samples, read by its sum.
Question<const StreamWork&> time_device_stream;

/// An operation is one load. That the chain goes where it should is checked.
Question<const ChaseWork&> time_chase;

/// An operation is one transfer, both ways at once if asked so. What arrived is checked by samples.
Question<const TransferWork&> time_transfer;

/// An operation is one launch.
Question<LaunchKind> time_launch;

/// A stretch of an array on a GPU, for checks by the host: its first element's index, and its
/// elements' bytes.
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

/// Throws WrongResult naming GPU, `doing`, place and both values unless every sampled element
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
