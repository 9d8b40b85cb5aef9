// SPDX-License-Identifier: Apache-2.0
/// The answers to the questions of probes/gpu/device.h, one function each, on a workbench whose GPU
/// is current. They throw gpu::Error for a failed call, besides what the questions say.
#pragma once

#include "cuda/device/cuda_device.h"
#include "cuda/runtime/memory.h"
#include "probes/gpu/device.h"
#include "probes/gpu/numbers.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::gpu {
/// Chains on the CUDA cores: fp64, fp32, fp16, bf16. An operation is one launch of about 1 ms.
/// The end values of shorter chains are compared with the host's, bit by bit.
probes::DeviceMeasured time_cuda_cores(Workbench& bench,
                                       probes::NumberFormat format,
                                       const probes::Target& target);

/// mma.sync on registers: fp64, tf32, bf16, fp16, int8. Checked with constant operands.
probes::DeviceMeasured time_tensor_cores(Workbench& bench,
                                         probes::NumberFormat format,
                                         const probes::Target& target);

/// Scope device. An operation is one walk over the working set. Results are checked: copy, triad
/// and write by samples, read by its sum.
probes::DeviceMeasured time_device_stream(Workbench& bench,
                                          const probes::StreamWork& work,
                                          const probes::Target& target);

/// Scopes multiprocessor and shared, read only; an operation is one walk of all multiprocessors,
/// each over its own working set. Sums are checked.
probes::DeviceMeasured time_multiprocessor_read(Workbench& bench,
                                                const probes::StreamWork& work,
                                                const probes::Target& target);

/// An operation is one load. That the chain goes where it should is checked.
probes::DeviceMeasured time_chase(Workbench& bench,
                                  const probes::ChaseWork& work,
                                  const probes::Target& target);

/// An operation is one walk over the working set. Samples are compared with the host's chain, bit
/// by bit.
probes::DeviceMeasured time_ladder(Workbench& bench,
                                   const probes::LadderWork& work,
                                   const probes::Target& target);

/// An operation is one transfer, both ways at once if asked so. What arrived is checked by samples.
probes::DeviceMeasured time_transfer(Workbench& bench,
                                     const probes::TransferWork& work,
                                     const probes::Target& target);

/// An operation is one launch.
probes::DeviceMeasured time_launch(Workbench& bench,
                                   probes::LaunchKind kind,
                                   const probes::Target& target);

// Samples of an array on a GPU, for checks by the host.

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

// What the questions about chains of multiply-adds share: formats, data and the check by the host.

/// Throws NothingToMeasure with the reason unless the GPU's CUDA cores multiply and add in
/// `format`: fp64, fp32 and fp16 on all, bf16 from compute capability 8.0.
void require_chain_format(const probes::DeviceDescription& description,
                          probes::NumberFormat format);

/// Queues: data[0..numbers) uniform in [-1, 1], fp64, fp32, fp16 or bf16.
void fill_uniform(Workbench& bench, probes::NumberFormat format, void* data, std::uint64_t numbers);

/// Throws ProbeFailure unless each number in `after` is the one in `before` after `steps` of the
/// format's chain (probes::chain_constants). Both were taken from arrays of the same layout.
void require_chains(const DeviceHealth& health,
                    probes::NumberFormat format,
                    const std::vector<ArraySample>& before,
                    const std::vector<ArraySample>& after,
                    int steps,
                    const std::string& doing);

// The memory at one end of a transfer: a GPU's or the host's.

/// Lets kernels and copies of `from` reach the memory of `to` from now on. False where the hardware
/// or its isolation forbids it. Throws gpu::Error.
bool enable_peer_access(int from, int to);

/// `bytes` (a multiple of 16) of memory.
class TransferEnd {
 public:
  /// Host memory without a wanted NUMA node lies on the asked GPU's. Throws OutOfMemory,
  /// NothingToMeasure, gpu::Error.
  TransferEnd(Workbench& bench, const probes::Endpoint& endpoint, std::size_t bytes);

  void* data() const;
  /// The GPU whose memory it is; absent for host memory.
  std::optional<int> device() const { return endpoint_.device; }
  const std::string& remark() const { return remark_; }

  /// fp32 numbers uniform_value(i modulo 2^20, seed).
  void fill(std::uint32_t seed);
  /// All bits set, so that what does not arrive shows.
  void poison();
  /// Throws ProbeFailure unless samples hold what `fill(seed)` writes.
  void require(std::uint32_t seed, const std::string& doing);

 private:
  /// Copies `length` bytes of page-locked memory over all of it, again and again; waits.
  void spread(const void* pattern, std::size_t length);

  Workbench& bench_;
  probes::Endpoint endpoint_;
  std::size_t bytes_;
  DeviceBuffer on_device_;
  std::optional<HostRegion> on_host_;
  std::string remark_;
};
}  // namespace scaleworth::gpu
