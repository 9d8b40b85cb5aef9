// SPDX-License-Identifier: Apache-2.0
/// The clock of a GPU's multiprocessors over a batch, from stamps at both its ends.
#pragma once

#include "cuda/runtime/memory.h"

#include <cstdint>
#include <optional>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// On the current device.
class ClockCounter {
 public:
  explicit ClockCounter(const DeviceHealth& health);

  /// Queue `begin` before the batch, `end` and `fetch` after it, read `clock_hz` when all is done.
  void begin(cudaStream_t stream);
  void end(cudaStream_t stream);
  void fetch(cudaStream_t stream);
  std::optional<double> clock_hz() const;

 private:
  void stamp(int which, cudaStream_t stream);

  int multiprocessors_ = 0;
  int slots_ = 0;
  std::uint64_t batch_ = 0;
  DeviceBuffer stamps_;
  PinnedBuffer fetched_;
};

}  // namespace scaleworth::gpu
