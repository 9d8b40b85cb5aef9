// SPDX-License-Identifier: Apache-2.0
#include "cuda/collect/activity_records.h"

#include <utility>

namespace scaleworth::gpu {
namespace {

// The fields that kernels and copies share by name.
template <class Record>
DeviceActivity activity_of(const Record& record, DeviceActivity::Kind kind) {
  DeviceActivity activity;
  activity.kind = kind;
  activity.device = static_cast<int>(record.deviceId);
  activity.stream = record.streamId;
  activity.start_ns = static_cast<std::int64_t>(record.start);
  activity.end_ns = static_cast<std::int64_t>(record.end);
  return activity;
}

void add(DeviceActivity activity, RecordedActivities& recorded) {
  const bool timed = activity.start_ns > 0 && activity.end_ns >= activity.start_ns;
  if (timed) {
    recorded.activities.push_back(std::move(activity));
  } else {
    ++recorded.dropped;
  }
}

}  // namespace

void add_record(const CUpti_Activity& record, RecordedActivities& recorded) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
      record.kind == CUPTI_ACTIVITY_KIND_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
    DeviceActivity activity = activity_of(kernel, DeviceActivity::Kind::kernel);
    if (kernel.name != nullptr) activity.name = kernel.name;
    add(std::move(activity), recorded);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
    add(activity_of(copy, DeviceActivity::Kind::copy), recorded);
  }
}

}  // namespace scaleworth::gpu
