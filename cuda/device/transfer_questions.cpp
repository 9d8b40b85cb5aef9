// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions.h"
#include "cuda/kernels/fill.h"
#include "cuda/kernels/roofline.h"
#include "cuda/kernels/timing.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "src/core/error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
namespace {

/// The content of an end repeats after so many numbers: hashing a whole gibibyte takes seconds.
constexpr std::uint64_t pattern_floats = 1U << 20U;

/// The memory at one end of a transfer, a GPU's or the host's: `bytes` (a multiple of 16).
class TransferEnd {
 public:
  /// Host memory without a wanted NUMA node lies on the asked GPU's. Throws OutOfMemory,
  /// NothingToMeasure, gpu::Error.
  TransferEnd(Workbench& bench, const Endpoint& endpoint, std::size_t bytes)
      : bench_(bench), endpoint_(endpoint), bytes_(bytes) {
    if (endpoint.device) {
      const DeviceGuard guard(*endpoint.device);
      on_device_ = allocate_device(bench.health(), bytes);
    } else {
      const auto& own = bench.description().numa_node;
      const HostPlacement placement{endpoint.numa_node ? endpoint.numa_node : own,
                                    endpoint.numa_node.has_value()};
      on_host_.emplace(bench.health(), bytes, endpoint.pinned, placement);
    }
  }

  void* data() const { return on_host_ ? on_host_->data() : on_device_.get(); }
  /// The GPU whose memory it is; absent for host memory.
  std::optional<int> device() const { return endpoint_.device; }
  std::optional<Finding> remark() const { return on_host_ ? on_host_->remark() : std::nullopt; }

  /// fp32 numbers uniform_value(i modulo 2^20, seed).
  void fill(std::uint32_t seed) {
    spread([&](float* numbers) {
      for (std::size_t i = 0; i < pattern_bytes() / sizeof(float); ++i) {
        numbers[i] = uniform_value(i, seed);
      }
    });
  }

  /// All bits set, so that what does not arrive shows.
  void poison() {
    spread([&](float* numbers) { std::memset(numbers, 0xff, pattern_bytes()); });
  }

  /// Throws ProbeFailure unless samples hold what `fill(seed)` writes.
  void require(std::uint32_t seed, const std::string& doing) {
    require_floats(
        bench_,
        static_cast<const float*>(data()),
        bytes_ / sizeof(float),
        [seed](std::uint64_t index) { return uniform_value(index % pattern_floats, seed); },
        doing);
  }

 private:
  std::size_t pattern_bytes() const {
    return std::min<std::size_t>(pattern_floats * sizeof(float), bytes_);
  }

  /// Copies pattern_bytes() that `write` made in page-locked memory over all of it, again and
  /// again; waits.
  template <class Write>
  void spread(Write write) {
    const PinnedBuffer pattern = allocate_pinned(bench_.health(), pattern_bytes());
    write(static_cast<float*>(pattern.get()));
    auto* to = static_cast<std::byte*>(data());
    for (std::size_t begin = 0; begin < bytes_; begin += pattern_bytes()) {
      const std::size_t count = std::min(pattern_bytes(), bytes_ - begin);
      if (on_host_) {
        std::memcpy(to + begin, pattern.get(), count);
      } else {
        check(
            cudaMemcpyAsync(to + begin, pattern.get(), count, cudaMemcpyDefault, bench_.stream()));
      }
    }
    bench_.timer().wait("preparing a transfer");
  }

  Workbench& bench_;
  Endpoint endpoint_;
  std::size_t bytes_;
  DeviceBuffer on_device_;
  std::optional<HostRegion> on_host_;
};

/// Lets kernels and copies of `from` reach the memory of `to` from now on. False where the hardware
/// or its isolation forbids it. Throws gpu::Error.
bool enable_peer_access(int from, int to) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, from, to));
  if (possible == 0) return false;
  const DeviceGuard guard(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return true;
  }
  check(status);
  return true;
}

/// One direction; `seed` of what is sent to check it.
struct Way {
  Way(Workbench& bench,
      const Endpoint& from,
      const Endpoint& to,
      std::size_t bytes,
      std::uint32_t number)
      : source(bench, from, bytes), target(bench, to, bytes), seed(number) {}
  TransferEnd source;
  TransferEnd target;
  std::uint32_t seed;
};

/// Everything a transfer needs: its ends, for both directions where asked.
class Transfer {
 public:
  Transfer(Workbench& bench, const TransferWork& work)
      : bench_(bench),
        work_(work),
        doing_(fmt::format("moving {:.0f} bytes from {} to {} by {}",
                           work.bytes.value(),
                           word_of(place_of(work.source)),
                           word_of(place_of(work.target)),
                           word_of(work.engine))),
        bytes_(static_cast<std::size_t>(work.bytes.value())) {
    require_possible();
    there_.emplace(bench, work.source, work.target, bytes_, 1);
    if (work.both_directions) back_.emplace(bench, work.target, work.source, bytes_, 2);
    find_path();
  }

  BatchWork batch() {
    BatchWork batch{.doing = doing_, .enqueue = [this](cudaStream_t stream, int) {
                      const cudaError_t status = move(*there_, stream);
                      if (status != cudaSuccess || !back_) return status;
                      return move(*back_, bench_.second_stream());
                    }};
    if (work_.both_directions) {
      batch.second = bench_.second_stream();
      batch.second_device = bench_.description().ordinal;
    }
    // Pageable and staged copies wait for the GPU while they are queued.
    batch.blocked = !pageable() && !staged_;
    return batch;
  }

  void check_arrival() {
    for (auto* way : {&there_, &back_}) {
      if (!*way) continue;
      (*way)->source.fill((*way)->seed);
      (*way)->target.poison();
    }
    bench_.timer().run_once(batch());
    there_->target.require(there_->seed, doing_);
    if (back_) back_->target.require(back_->seed, doing_ + ", the way back");
  }

  void add_remarks(std::vector<Finding>& remarks) const {
    for (const auto* end : {&there_->source, &there_->target})
      if (const auto remark = end->remark()) remarks.push_back(*remark);
    if (staged_)
      remarks.emplace_back(FindingId::copy_through_host,
                           word_of(place_of(work_.source)),
                           word_of(place_of(work_.target)));
  }

  double bytes() const { return static_cast<double>(bytes_) * (work_.both_directions ? 2.0 : 1.0); }

 private:
  bool pageable() const {
    return (!work_.source.device && !work_.source.pinned) ||
           (!work_.target.device && !work_.target.pinned);
  }

  void require_possible() const {
    const int own = bench_.description().ordinal;
    if (work_.source.device != own && work_.target.device != own) {
      throw ProbeFailure("GPU {}: {} does not concern this GPU", own, doing_);
    }
    if (bytes_ == 0 || bytes_ % 16 != 0) {
      throw ProbeFailure("GPU {}: {}: a positive multiple of 16 bytes is needed", own, doing_);
    }
    if (work_.engine == TransferEngine::kernel && pageable()) {
      throw NothingToMeasure(FindingId::kernels_need_locked_memory, own);
    }
  }

  /// Between GPUs: directly where they can. Half of the multiprocessors work for each direction.
  void find_path() {
    const int own = bench_.description().ordinal;
    const int blocks = 2 * bench_.description().multiprocessors;
    blocks_ = work_.both_directions ? std::max(1, blocks / 2) : blocks;
    const auto other =
        work_.source.device.value_or(own) != own ? work_.source.device : work_.target.device;
    if (!other || *other == own) return;
    const bool direct = enable_peer_access(own, *other) && enable_peer_access(*other, own);
    if (!direct && work_.engine == TransferEngine::kernel) {
      throw NothingToMeasure(FindingId::kernels_cannot_reach, own, *other);
    }
    staged_ = !direct;
  }

  cudaError_t move(const Way& way, cudaStream_t stream) const {
    void* const to = way.target.data();
    const void* const from = way.source.data();
    if (work_.engine == TransferEngine::kernel) {
      // As `usual` of probes/gpu/roofline_plan.cpp.
      constexpr StreamKernel kernel{StreamOperation::copy, 512, 4, false};
      StreamArrays arrays;
      arrays.a = static_cast<float*>(to);
      arrays.b = static_cast<const float*>(from);
      arrays.vectors = bytes_ / 16;
      return launch_stream(kernel, arrays, blocks_, 1, stream);
    }
    const auto source = way.source.device();
    const auto target = way.target.device();
    if (source && target && *source != *target) {
      return cudaMemcpyPeerAsync(to, *target, from, *source, bytes_, stream);
    }
    return cudaMemcpyAsync(to, from, bytes_, cudaMemcpyDefault, stream);
  }

  Workbench& bench_;
  const TransferWork& work_;
  std::string doing_;
  std::size_t bytes_;
  std::optional<Way> there_;
  std::optional<Way> back_;
  bool staged_ = false;
  int blocks_ = 1;  // of the kernel
};

// A graph's own launch is shared by so many; about 1022 fit a queue.
constexpr int graph_nodes = 500;

void load_empty_kernel(Workbench& bench) {
  bench.timer().run_once({.doing = "an empty kernel", .enqueue = [](cudaStream_t stream, int) {
                            return launch_empty(stream);
                          }});
}

/// A chain of empty kernels, recorded from a stream.
GraphExecutable record_graph() {
  const Stream recorded = make_stream();
  Capture capture(recorded.get());
  cudaError_t queued = cudaSuccess;
  for (int i = 0; i < graph_nodes && queued == cudaSuccess; ++i) {
    queued = launch_empty(recorded.get());
  }
  const Graph graph = capture.finish();
  check(queued);
  return instantiate(graph);
}

DeviceMeasured time_graph(Workbench& bench, const Target& target) {
  load_empty_kernel(bench);  // loading it is no part of a recording
  const GraphExecutable graph = record_graph();
  check(cudaGraphUpload(graph.get(), bench.stream()));
  const BatchWork work{
      .doing = "launching a graph of empty kernels",
      .enqueue = [&](cudaStream_t stream, int) { return cudaGraphLaunch(graph.get(), stream); }};
  // 50 graphs: 25,000 kernels of 0.5 to 0.8 us (docs/measurements) are some 20 ms.
  return bench.time(work, target, graph_nodes, 50);
}

/// Polls without a pause: what the runtime does as well when it waits for a stream.
void wait_for_empty_kernel(Workbench& bench) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t status = cudaStreamQuery(bench.stream());
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) check(status);
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds{60}) {
      bench.health().lose(
          fmt::format("GPU {} did not finish an empty kernel within 60 s: see dmesg for Xid; later "
                      "questions to it fail at once",
                      bench.description().ordinal));
      bench.health().require();
    }
  }
}

/// Launches one kernel after another, each when the host has seen the last one's end.
DeviceMeasured time_launch_and_wait(Workbench& bench, const Target& target) {
  load_empty_kernel(bench);
  BatchFunction runner([&](int repetitions) -> BatchTiming {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repetitions; ++i) {
      check(launch_empty(bench.stream()));
      wait_for_empty_kernel(bench);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return {Seconds{time.count()}, std::nullopt, false};
  });
  BatchOptions options = bench.batch_options();
  options.maximum_repetitions = 10'000;  // 9 us each (docs/measurements): below 0.1 s
  DeviceMeasured measured = bench.watched([&] { return sample_batches(runner, target, options); });
  // The GPU idles between such launches: its clock says nothing, so it is not asked.
  measured.warnings.clear();
  return measured;
}
}  // namespace

DeviceMeasured time_transfer(Workbench& bench, const TransferWork& work, const Target& target) {
  Transfer transfer(bench, work);
  transfer.check_arrival();
  DeviceMeasured measured = bench.time(transfer.batch(), target);
  measured.bytes = Bytes(transfer.bytes());
  transfer.add_remarks(measured.warnings);
  return measured;
}

DeviceMeasured time_launch(Workbench& bench, LaunchKind kind, const Target& target) {
  switch (kind) {
    case LaunchKind::graph_node:
      return time_graph(bench, target);
    case LaunchKind::synchronise:
      return time_launch_and_wait(bench, target);
    case LaunchKind::empty_kernel:
      break;
  }
  return bench.time({.doing = "launching empty kernels",
                     .enqueue = [](cudaStream_t stream, int) { return launch_empty(stream); }},
                    target);
}
}  // namespace scaleworth::gpu
