// SPDX-License-Identifier: Apache-2.0
/// What ran on a GPU from when to when, as the tracer reports it.
#pragma once

#include "cuda/libraries/cupti.h"
#include "src/core/non_copyable.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

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

/// Records kernels and copies of this process through CUPTI. One at a time in a process: CUPTI's
/// callbacks know no owner.
class ActivityRecorder : NonCopyable {
 public:
  /// Recording begins, on all GPUs. Throws NothingToMeasure with the reason when another tool
  /// listens already or CUPTI refuses.
  explicit ActivityRecorder(std::shared_ptr<const Cupti> cupti);
  ~ActivityRecorder();

  /// Ends recording; call when the GPUs have finished. Throws LibraryError.
  RecordedActivities stop();

 private:
  void end() noexcept;

  std::shared_ptr<const Cupti> cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool recording_ = false;
};

/// Adds what `record` says; one that carries no times counts as dropped, one of another kind is
/// passed over.
void add_record(const CUpti_Activity& record, RecordedActivities& recorded);

/// A named range for tools that listen to NVTX; nothing where none does. From construction to the
/// end of the scope, on this thread.
class NvtxRange : NonCopyable {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
};
}  // namespace scaleworth::gpu
