// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline/chase.h"

#include "cuda/device/questions/questions.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/random_cycle.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t seed = 1;
// Of one repetition: enough for the GPU's timer, which may step by a microsecond.
constexpr int loads_at_least = 4096;
// What fits an L1 cache of 512 KiB must be walked through in the launch that is timed.
constexpr std::uint32_t most_warmed_nodes = 4096;

class Chase {
 public:
  Chase(Workbench& bench, const probes::ChaseWork& work) : bench_(bench) {
    const auto stride = static_cast<std::uint64_t>(work.stride.value());
    const auto bytes = static_cast<std::uint64_t>(work.working_set.value());
    const std::uint64_t count = stride == 0 ? 0 : bytes / stride;
    if (stride % line_bytes != 0 || count < 2 || count > 0xffffffffU) {
      throw ProbeFailure(fmt::format(
          "GPU {}: {} bytes with a stride of {} make no cycle: at least two nodes and a "
          "multiple of {} bytes are needed",
          bench.description().ordinal,
          bytes,
          stride,
          line_bytes));
    }
    doing_ = fmt::format("a chain of loads through {} bytes, stride {}", bytes, stride);
    memory_ = bench.allocate(count * stride);
    state_ = bench.allocate(sizeof(ChaseState));
    fetched_ = allocate_pinned(bench.health(), sizeof(ChaseState));
    nodes_.base = memory_.get();
    nodes_.stride = stride;
    nodes_.spread = stride > line_bytes ? line_bytes : 0;
    nodes_.count = static_cast<std::uint32_t>(count);
    link();
  }

  /// Follows a few thousand loads and compares where they lead with the host's walk.
  void check_result() {
    rewind();
    const ChaseState state = follow(0, loads_at_least);
    const auto* found = static_cast<const std::byte*>(state.position);
    const std::byte* wanted = address_of(probes::place_after(next_, 0, loads_at_least));
    if (found != wanted) {
      throw ProbeFailure(fmt::format("GPU {}: {} led to a wrong address; its timing is not kept",
                                     bench_.description().ordinal,
                                     doing_));
    }
  }

  probes::BatchTiming run(int repetitions) {
    const std::uint64_t warm = nodes_.count <= most_warmed_nodes ? rounded_up(nodes_.count) : 0;
    const ChaseState state = follow(warm, std::uint64_t{loads_at_least} * repetitions);
    probes::BatchTiming timing;
    timing.time = Seconds(1e-9 * static_cast<double>(state.nanoseconds));
    if (timing.time.value() > 0.5e-3) {
      timing.clock_hz = static_cast<double>(state.cycles) / timing.time.value();
    }
    return timing;
  }

 private:
  static std::uint64_t rounded_up(std::uint64_t loads) {
    return (loads + chase_loads_at_once - 1) / chase_loads_at_once * chase_loads_at_once;
  }

  std::byte* address_of(std::uint32_t index) const {
    return static_cast<std::byte*>(memory_.get()) + nodes_.stride * index +
           nodes_.spread * index % nodes_.stride;
  }

  void link() {
    next_ = probes::random_cycle(nodes_.count, seed);
    const std::size_t bytes = next_.size() * sizeof(std::uint32_t);
    const DeviceBuffer on_gpu = bench_.allocate(bytes);
    check(cudaMemcpyAsync(
        on_gpu.get(), next_.data(), bytes, cudaMemcpyHostToDevice, bench_.stream()));
    nodes_.next = static_cast<const std::uint32_t*>(on_gpu.get());
    check(launch_chase_link(nodes_, bench_.stream()));
    bench_.timer().wait(doing_);
    nodes_.next = nullptr;
  }

  void rewind() {
    const ChaseState start{memory_.get(), 0, 0};
    std::memcpy(fetched_.get(), &start, sizeof start);
    check(cudaMemcpyAsync(
        state_.get(), fetched_.get(), sizeof start, cudaMemcpyHostToDevice, bench_.stream()));
  }

  ChaseState follow(std::uint64_t warm, std::uint64_t loads) {
    check(launch_chase(static_cast<ChaseState*>(state_.get()), warm, loads, bench_.stream()));
    check(cudaMemcpyAsync(
        fetched_.get(), state_.get(), sizeof(ChaseState), cudaMemcpyDeviceToHost, bench_.stream()));
    bench_.timer().wait(doing_);
    ChaseState state{};
    std::memcpy(&state, fetched_.get(), sizeof state);
    return state;
  }

  Workbench& bench_;
  std::string doing_;
  std::vector<std::uint32_t> next_;
  DeviceBuffer memory_;
  DeviceBuffer state_;
  PinnedBuffer fetched_;
  ChaseNodes nodes_;
};

}  // namespace

probes::DeviceMeasured time_chase(Workbench& bench,
                                  const probes::ChaseWork& work,
                                  const probes::Target& target) {
  Chase chase(bench, work);
  chase.check_result();
  probes::BatchFunction runner([&](int repetitions) { return chase.run(repetitions); });
  probes::BatchOptions options = bench.batch_options();
  options.maximum_repetitions = 1 << 16;
  options.operations = loads_at_least;
  return bench.watched([&] { return probes::sample_batches(runner, target, options); });
}

}  // namespace scaleworth::gpu
