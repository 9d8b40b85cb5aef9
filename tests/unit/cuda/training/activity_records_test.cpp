// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/activity.h"
#include "tests/catch.h"

using namespace scaleworth;

namespace {

CUpti_ActivityKernel9 kernel(std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel9 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = start;
  record.end = end;
  record.deviceId = 2;
  record.streamId = 13;
  record.name = "multiply";
  return record;
}

template <class Record>
gpu::RecordedActivities added(const Record& record) {
  gpu::RecordedActivities recorded;
  add_record(reinterpret_cast<const CUpti_Activity&>(record), recorded);
  return recorded;
}

}  // namespace

TEST_CASE("a kernel's record keeps times, GPU, stream and name", "[gpu training]") {
  const auto recorded = added(kernel(100, 250));
  REQUIRE(recorded.activities.size() == 1);
  const gpu::DeviceActivity& one = recorded.activities.front();
  REQUIRE(one.start_ns == 100);
  REQUIRE(one.end_ns == 250);
  REQUIRE(one.device == 2);
  REQUIRE(one.stream == 13);
  REQUIRE(one.name == "multiply");
}

TEST_CASE("a copy's record is a copy", "[gpu training]") {
  CUpti_ActivityMemcpy5 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.start = 5;
  record.end = 9;
  const auto recorded = added(record);
  REQUIRE(recorded.activities.front().kind == gpu::DeviceActivity::Kind::copy);
  REQUIRE(recorded.activities.front().end_ns == 9);
}

TEST_CASE("a record without times counts as dropped, one of another kind does not",
          "[gpu training]") {
  REQUIRE(added(kernel(0, 0)).dropped == 1);
  REQUIRE(added(kernel(0, 0)).activities.empty());
  CUpti_ActivityKernel9 other = kernel(1, 2);
  other.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  REQUIRE(added(other).dropped == 0);
  REQUIRE(added(other).activities.empty());
}
