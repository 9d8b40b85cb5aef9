// SPDX-License-Identifier: Apache-2.0
/// Records kernels and copies of this process through CUPTI.
#pragma once

#include "cuda/collect/activity.h"
#include "cuda/libraries/cupti.h"

#include <memory>

namespace scaleworth::gpu {

/// One at a time in a process: CUPTI's callbacks know no owner.
class ActivityRecorder {
 public:
  /// Recording begins, on all GPUs. Throws NothingToMeasure with the reason when another tool
  /// listens already or CUPTI refuses.
  explicit ActivityRecorder(std::shared_ptr<const Cupti> cupti);
  ~ActivityRecorder();
  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;

  /// Ends recording; call when the GPUs have finished. Throws LibraryError.
  RecordedActivities stop();

 private:
  void end() noexcept;

  std::shared_ptr<const Cupti> cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool recording_ = false;
};

}  // namespace scaleworth::gpu
