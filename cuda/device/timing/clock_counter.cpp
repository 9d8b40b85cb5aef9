// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/timing/clock_counter.h"

#include "cuda/kernels/timing/clock_stamp.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/clock_stamps.h"

namespace scaleworth::gpu {
namespace {

static_assert(sizeof(probes::ClockStamp) == clock_stamp_words * sizeof(std::uint64_t));

// %smid may exceed the number of multiprocessors where some are switched off.
constexpr int spare_slots = 256;

}  // namespace

ClockCounter::ClockCounter(const DeviceHealth& health) {
  check(
      cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, health.ordinal()));
  slots_ = multiprocessors_ + spare_slots;
  const std::size_t bytes = 2 * static_cast<std::size_t>(slots_) * sizeof(probes::ClockStamp);
  stamps_ = allocate_device(health, bytes);
  fetched_ = allocate_pinned(health, bytes);
}

void ClockCounter::stamp(int which, cudaStream_t stream) {
  auto* stamps = static_cast<std::uint64_t*>(stamps_.get());
  check(launch_clock_stamp(
      stamps + which * slots_ * clock_stamp_words, slots_, batch_, multiprocessors_, stream));
}

void ClockCounter::begin(cudaStream_t stream) {
  ++batch_;
  stamp(0, stream);
}

void ClockCounter::end(cudaStream_t stream) {
  stamp(1, stream);
}

void ClockCounter::fetch(cudaStream_t stream) {
  check(cudaMemcpyAsync(fetched_.get(),
                        stamps_.get(),
                        2 * static_cast<std::size_t>(slots_) * sizeof(probes::ClockStamp),
                        cudaMemcpyDeviceToHost,
                        stream));
}

std::optional<double> ClockCounter::clock_hz() const {
  const auto* stamps = static_cast<const probes::ClockStamp*>(fetched_.get());
  const auto slots = static_cast<std::size_t>(slots_);
  return probes::clock_between({stamps, slots}, {stamps + slots, slots}, batch_);
}

}  // namespace scaleworth::gpu
