// SPDX-License-Identifier: Apache-2.0
/// What ran on a GPU from when to when, as the tracer tells it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// Times in ns of the tracer's clock: the host's real time, to which it fits the GPUs' clocks.
struct DeviceActivity {
  enum class Kind : std::uint8_t { kernel, copy };
  Kind kind = Kind::kernel;
  int device = 0;  // CUDA ordinal
  std::uint32_t stream = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string name;  // mangled; empty for a copy
};

struct RecordedActivities {
  std::vector<DeviceActivity> activities;
  std::int64_t dropped = 0;  // that the tracer lost, or that came without times
};

}  // namespace scaleworth::gpu
