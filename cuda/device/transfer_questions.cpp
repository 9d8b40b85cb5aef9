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
#include <string>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
using probes::TransferEngine;

/// The content of an end repeats after so many numbers: hashing a whole gibibyte takes seconds.
constexpr std::uint64_t pattern_floats = 1U << 20U;

HostPlacement placement_of(const Workbench& bench, const probes::Endpoint& endpoint) {
  if (endpoint.numa_node) return {endpoint.numa_node, true};
  return {bench.description().numa_node, false};
}

/// The memory at one end of a transfer, a GPU's or the host's: `bytes` (a multiple of 16).
class TransferEnd {
 public:
  /// Host memory without a wanted NUMA node lies on the asked GPU's. Throws OutOfMemory,
  /// NothingToMeasure, gpu::Error.
  TransferEnd(Workbench& bench, const probes::Endpoint& endpoint, std::size_t bytes)
      : bench_(bench), endpoint_(endpoint), bytes_(bytes) {
    if (endpoint.device) {
      const DeviceGuard guard(*endpoint.device);
      on_device_ = allocate_device(bench.health(), bytes);
    } else {
      on_host_.emplace(bench.health(), bytes, endpoint.pinned, placement_of(bench, endpoint));
    }
  }

  void* data() const { return on_host_ ? on_host_->data() : on_device_.get(); }
  /// The GPU whose memory it is; absent for host memory.
  std::optional<int> device() const { return endpoint_.device; }
  std::string remark() const { return on_host_ ? on_host_->remark() : std::string(); }

  /// fp32 numbers uniform_value(i modulo 2^20, seed).
  void fill(std::uint32_t seed) {
    const PinnedBuffer pattern = allocate_pinned(bench_.health(), pattern_bytes());
    auto* numbers = static_cast<float*>(pattern.get());
    for (std::size_t i = 0; i < pattern_bytes() / sizeof(float); ++i) {
      numbers[i] = uniform_value(i, seed);
    }
    spread(pattern.get());
  }

  /// All bits set, so that what does not arrive shows.
  void poison() {
    const PinnedBuffer ones = allocate_pinned(bench_.health(), pattern_bytes());
    std::memset(ones.get(), 0xff, pattern_bytes());
    spread(ones.get());
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

  /// Copies pattern_bytes() of page-locked memory over all of it, again and again; waits.
  void spread(const void* pattern) {
    auto* to = static_cast<std::byte*>(data());
    for (std::size_t begin = 0; begin < bytes_; begin += pattern_bytes()) {
      const std::size_t count = std::min(pattern_bytes(), bytes_ - begin);
      if (on_host_) {
        std::memcpy(to + begin, pattern, count);
      } else {
        check(cudaMemcpyAsync(to + begin, pattern, count, cudaMemcpyDefault, bench_.stream()));
      }
    }
    bench_.timer().wait("preparing a transfer");
  }

  Workbench& bench_;
  probes::Endpoint endpoint_;
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

std::string doing_of(const probes::TransferWork& work) {
  return fmt::format("moving {:.0f} bytes from {} to {} by {}",
                     work.bytes.value(),
                     endpoint_name(work.source),
                     endpoint_name(work.target),
                     transfer_engine_name(work.engine));
}

/// One direction: where from, where to, how.
struct Way {
  const TransferEnd* source;
  const TransferEnd* target;
  std::size_t bytes;
  TransferEngine engine;
  int blocks;  // of the kernel
};

cudaError_t move(const Way& way, cudaStream_t stream) {
  if (way.engine == TransferEngine::kernel) {
    constexpr StreamKernel kernel{StreamOperation::copy, 512, 4, false};
    StreamArrays arrays;
    arrays.a = static_cast<float*>(way.target->data());
    arrays.b = static_cast<const float*>(way.source->data());
    arrays.vectors = way.bytes / 16;
    return launch_stream(kernel, arrays, way.blocks, 1, stream);
  }
  const auto source = way.source->device();
  const auto target = way.target->device();
  if (source && target && *source != *target) {
    return cudaMemcpyPeerAsync(
        way.target->data(), *target, way.source->data(), *source, way.bytes, stream);
  }
  return cudaMemcpyAsync(
      way.target->data(), way.source->data(), way.bytes, cudaMemcpyDefault, stream);
}

/// Everything a transfer needs: its ends, for both directions where asked.
class Transfer {
 public:
  Transfer(Workbench& bench, const probes::TransferWork& work)
      : bench_(bench),
        work_(work),
        doing_(doing_of(work)),
        bytes_(static_cast<std::size_t>(work.bytes.value())) {
    require_possible();
    source_.emplace(bench, work.source, bytes_);
    target_.emplace(bench, work.target, bytes_);
    if (work.both_directions) {
      back_source_.emplace(bench, work.target, bytes_);
      back_target_.emplace(bench, work.source, bytes_);
    }
    find_path();
  }

  BatchWork batch() {
    BatchWork batch{.doing = doing_, .enqueue = [this](cudaStream_t stream, int) {
                      const cudaError_t status = move(way(*source_, *target_), stream);
                      if (status != cudaSuccess || !work_.both_directions) return status;
                      return move(way(*back_source_, *back_target_), bench_.second_stream());
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
    source_->fill(pattern_there);
    target_->poison();
    if (work_.both_directions) {
      back_source_->fill(pattern_back);
      back_target_->poison();
    }
    bench_.timer().run_once(batch());
    target_->require(pattern_there, doing_);
    if (work_.both_directions) back_target_->require(pattern_back, doing_ + ", the way back");
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> remarks;
    for (const auto* end : {&*source_, &*target_}) {
      if (!end->remark().empty()) remarks.push_back(end->remark());
    }
    if (staged_) {
      remarks.push_back(
          fmt::format("{} to {} have no peer access: the copy goes through the host's "
                      "memory",
                      endpoint_name(work_.source),
                      endpoint_name(work_.target)));
    }
    return remarks;
  }

  double bytes() const { return static_cast<double>(bytes_) * (work_.both_directions ? 2.0 : 1.0); }

 private:
  static constexpr std::uint32_t pattern_there = 1;
  static constexpr std::uint32_t pattern_back = 2;

  bool pageable() const {
    return (!work_.source.device && !work_.source.pinned) ||
           (!work_.target.device && !work_.target.pinned);
  }

  std::optional<int> peer() const {
    for (const auto& end : {work_.source, work_.target}) {
      if (end.device && *end.device != bench_.description().ordinal) return end.device;
    }
    return std::nullopt;
  }

  void require_possible() const {
    const int own = bench_.description().ordinal;
    if (work_.source.device != own && work_.target.device != own) {
      throw ProbeFailure(fmt::format("GPU {}: {} does not concern this GPU", own, doing_));
    }
    if (bytes_ == 0 || bytes_ % 16 != 0) {
      throw ProbeFailure(
          fmt::format("GPU {}: {}: a positive multiple of 16 bytes is needed", own, doing_));
    }
    if (work_.engine == TransferEngine::kernel && pageable()) {
      throw NothingToMeasure(
          fmt::format("kernels of GPU {} are measured on page-locked host memory only", own));
    }
  }

  /// Between GPUs: directly where they can. Half of the multiprocessors work for each direction.
  void find_path() {
    const int blocks = 2 * bench_.description().multiprocessors;
    blocks_ = work_.both_directions ? std::max(1, blocks / 2) : blocks;
    const auto other = peer();
    if (!other) return;
    const int own = bench_.description().ordinal;
    const bool direct = enable_peer_access(own, *other) && enable_peer_access(*other, own);
    if (!direct && work_.engine == TransferEngine::kernel) {
      throw NothingToMeasure(fmt::format(
          "kernels of GPU {} cannot reach the memory of GPU {}: no peer access", own, *other));
    }
    staged_ = !direct;
  }

  Way way(const TransferEnd& source, const TransferEnd& target) const {
    return {&source, &target, bytes_, work_.engine, blocks_};
  }

  Workbench& bench_;
  const probes::TransferWork& work_;
  std::string doing_;
  std::size_t bytes_;
  std::optional<TransferEnd> source_;
  std::optional<TransferEnd> target_;
  std::optional<TransferEnd> back_source_;
  std::optional<TransferEnd> back_target_;
  bool staged_ = false;
  int blocks_ = 1;
};
}  // namespace

probes::DeviceMeasured time_transfer(Workbench& bench,
                                     const probes::TransferWork& work,
                                     const probes::Target& target) {
  Transfer transfer(bench, work);
  transfer.check_arrival();
  probes::DeviceMeasured measured = bench.time(transfer.batch(), target, bench.batch_options());
  measured.bytes = Bytes(transfer.bytes());
  for (std::string& remark : transfer.remarks()) measured.warnings.push_back(std::move(remark));
  return measured;
}

namespace {
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

probes::DeviceMeasured time_graph(Workbench& bench, const probes::Target& target) {
  load_empty_kernel(bench);  // loading it is no part of a recording
  const GraphExecutable graph = record_graph();
  check(cudaGraphUpload(graph.get(), bench.stream()));
  const BatchWork work{
      .doing = "launching a graph of empty kernels",
      .enqueue = [&](cudaStream_t stream, int) { return cudaGraphLaunch(graph.get(), stream); }};
  probes::BatchOptions options = bench.batch_options();
  options.operations = graph_nodes;
  options.maximum_repetitions = 50;
  return bench.time(work, target, options);
}

/// Launches one kernel after another, each when the host has seen the last one's end.
class LaunchAndWait {
 public:
  explicit LaunchAndWait(Workbench& bench) : bench_(bench) {}

  probes::BatchTiming run(int repetitions) {
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) {
      check(launch_empty(bench_.stream()));
      wait();
    }
    const std::chrono::duration<double> time = Clock::now() - start;
    return {Seconds{time.count()}, std::nullopt, false};
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Polls without a pause: what the runtime does as well when it waits for a stream.
  void wait() {
    const auto start = Clock::now();
    while (true) {
      const cudaError_t status = cudaStreamQuery(bench_.stream());
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check(status);
      if (Clock::now() - start > std::chrono::seconds{60}) {
        bench_.health().lose(fmt::format(
            "GPU {} did not finish an empty kernel within 60 s: see dmesg for Xid; later "
            "questions to it fail at once",
            bench_.description().ordinal));
        bench_.health().require();
      }
    }
  }

  Workbench& bench_;
};

probes::DeviceMeasured time_launch_and_wait(Workbench& bench, const probes::Target& target) {
  load_empty_kernel(bench);
  LaunchAndWait launching(bench);
  probes::BatchFunction runner([&](int repetitions) { return launching.run(repetitions); });
  probes::BatchOptions options = bench.batch_options();
  options.maximum_repetitions = 10'000;
  probes::DeviceMeasured measured =
      bench.watched([&] { return probes::sample_batches(runner, target, options); });
  // The GPU idles between such launches: its clock says nothing, so it is not asked.
  measured.warnings.clear();
  return measured;
}
}  // namespace

probes::DeviceMeasured time_launch(Workbench& bench,
                                   probes::LaunchKind kind,
                                   const probes::Target& target) {
  switch (kind) {
    case probes::LaunchKind::graph_node:
      return time_graph(bench, target);
    case probes::LaunchKind::synchronise:
      return time_launch_and_wait(bench, target);
    case probes::LaunchKind::empty_kernel:
      break;
  }
  return bench.time({.doing = "launching empty kernels",
                     .enqueue = [](cudaStream_t stream, int) { return launch_empty(stream); }},
                    target,
                    bench.batch_options());
}
}  // namespace scaleworth::gpu
