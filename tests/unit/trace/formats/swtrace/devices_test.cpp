// SPDX-License-Identifier: Apache-2.0
/// Processes that drive several GPUs.
#include "trace/formats/swtrace/swtrace.h"

#include "tests/catch.h"

namespace scaleworth::trace::recording {
namespace {

/// Two devices with a kernel each, launched by thread 0 (correlations 1 and 2); thread 1 launches
/// on device 1 only (3); thread 2 loads data; thread 1 also waits.
Recording two_devices() {
  Recording recording;
  const auto kernel = [&](std::uint16_t device, std::uint64_t correlation) {
    DeviceEvent event;
    event.device = device;
    event.correlation = correlation;
    recording.device_events.push_back(event);
  };
  const auto call = [&](std::uint32_t thread, std::uint64_t correlation, int start) {
    HostEvent event;
    event.start = nanoseconds(start);
    event.thread = thread;
    event.correlation = correlation;
    recording.host_events.push_back(event);
  };
  kernel(0, 1);
  kernel(1, 2);
  kernel(1, 3);
  call(0, 1, 10);
  call(0, 2, 20);
  call(1, 3, 30);
  call(1, 0, 40);  // waits
  call(2, 0, 50);  // loads data
  call(0, 0, 60);  // of the thread that launches on both
  recording.threads = {"a", "b", "c"};
  recording.losses["dropped_records"] = 7;
  recording.origin.rank = 0;
  return recording;
}

std::map<std::uint64_t, DeviceRanks> seen(std::set<std::int32_t> first,
                                          std::set<std::int32_t> second) {
  return {{0xabc, {4, {{0, std::move(first)}, {1, std::move(second)}}}}};
}

std::vector<int> starts(const Recording& recording) {
  std::vector<int> result;
  for (const HostEvent& event : recording.host_events)
    result.push_back(static_cast<int>(event.start.count()));
  return result;
}

TEST_CASE("GPUs of one process that are a rank each become recordings of their own",
          "[recording]") {
  const auto parts = split_by_device(two_devices(), seen({2}, {3}));
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].origin.rank == 2);
  CHECK(parts[1].origin.rank == 3);
  CHECK(parts[1].origin.device == 1);
  CHECK(parts[1].origin.world_size == 4);
  CHECK(parts[0].device_events.size() == 1);
  CHECK(parts[1].device_events.size() == 2);
  CHECK(starts(parts[0]) == std::vector{10, 50, 60});
  CHECK(starts(parts[1]) == std::vector{20, 30, 40, 50, 60});
  CHECK(parts[1].threads.size() == 3);
  CHECK(parts[1].losses.at("dropped_records") == 7);
}

TEST_CASE("GPUs whose ranks NCCL does not tell apart stay one recording", "[recording]") {
  CHECK(split_by_device(two_devices(), {}).size() == 1);
  CHECK(split_by_device(two_devices(), seen({2}, {2})).size() == 1);
  CHECK(split_by_device(two_devices(), seen({2}, {3, 4})).size() == 1);
  const auto whole = split_by_device(two_devices(), seen({2}, {}));
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].device_events.size() == 3);
  CHECK(whole[0].host_events.size() == 6);
  CHECK(whole[0].origin.rank == 0);
}

TEST_CASE("a process with one GPU is left as it is", "[recording]") {
  Recording recording = two_devices();
  std::erase_if(recording.device_events,
                [](const DeviceEvent& event) { return event.device == 1; });
  CHECK(split_by_device(std::move(recording), seen({2}, {3})).front().origin.rank == 0);
}

TEST_CASE("more GPUs than a node has are not told apart", "[recording]") {
  Recording recording;
  std::map<std::uint64_t, DeviceRanks> communicators;
  for (std::uint16_t device = 0; device < 33; ++device) {
    DeviceEvent event;
    event.device = device;
    recording.device_events.push_back(event);
    communicators[1].size = 33;
    communicators[1].ranks[device] = {device};
  }
  CHECK(split_by_device(std::move(recording), communicators).size() == 1);
}

TEST_CASE("the largest communicator numbers the ranks", "[recording]") {
  auto communicators = seen({0}, {1});
  communicators[0xdef] = {8, {{0, {6}}, {1, {7}}}};
  const auto parts = split_by_device(two_devices(), communicators);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].origin.rank == 6);
  CHECK(parts[0].origin.world_size == 8);
}

}  // namespace
}  // namespace scaleworth::trace::recording
