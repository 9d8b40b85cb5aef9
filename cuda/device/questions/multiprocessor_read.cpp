// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline/multiprocessor_read.h"

#include "cuda/device/questions/questions.h"
#include "cuda/device/questions/samples.h"
#include "cuda/kernels/roofline/fill.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t vector_floats = 4;
constexpr std::uint32_t seed = 1;
constexpr int most_passes = 1 << 20;

class MultiprocessorWork {
 public:
  MultiprocessorWork(Workbench& bench, const probes::StreamWork& work)
      : bench_(bench), shared_(work.scope == probes::StreamScope::shared) {
    require_readable(work);
    read_.blocks = bench.description().multiprocessors;
    read_.block_threads = work.variant.block_threads;
    read_.unroll = work.variant.unroll;
    const auto threads = static_cast<std::uint32_t>(read_.block_threads);
    const auto vectors = static_cast<std::uint32_t>(work.working_set.value() / vector_bytes);
    read_.vectors = std::max(threads, vectors / threads * threads);
    const auto blocks = static_cast<std::size_t>(read_.blocks);
    data_ = bench.allocate(blocks * read_.vectors * vector_bytes);
    sums_ = bench.allocate(blocks * threads * sizeof(float));
    places_ = bench.allocate(blocks * sizeof(unsigned));
    check(launch_fill_fp32(data(), blocks * read_.vectors * vector_floats, seed, bench.stream()));
  }

  double bytes() const { return static_cast<double>(read_.vectors) * vector_bytes * read_.blocks; }

  BatchWork passes(int count) const {
    return {.doing = doing(), .enqueue = [this, count](cudaStream_t stream, int) {
              return launch(count, false, stream);
            }};
  }

  /// The sums of each thread of the first, the middle and the last block: the host adds in the same
  /// order.
  void check_result() {
    const auto threads = static_cast<std::size_t>(read_.block_threads);
    const std::size_t count = static_cast<std::size_t>(read_.blocks) * threads;
    check(cudaMemsetAsync(sums_.get(), 0xff, count * sizeof(float), bench_.stream()));
    check(launch(1, true, bench_.stream()));
    for (const int block : {0, read_.blocks / 2, read_.blocks - 1}) {
      const std::uint64_t first = static_cast<std::uint64_t>(block) * read_.vectors * vector_floats;
      require_floats(
          bench_,
          static_cast<const float*>(sums_.get()) + static_cast<std::size_t>(block) * threads,
          threads,
          [&](std::uint64_t thread) { return sum_of_thread(first, thread); },
          doing());
    }
  }

  /// Multiprocessors that had a block in the last launch.
  std::size_t multiprocessors_met() {
    const auto blocks = static_cast<std::size_t>(read_.blocks);
    const PinnedBuffer fetched = allocate_pinned(bench_.health(), blocks * sizeof(unsigned));
    check(cudaMemcpyAsync(fetched.get(),
                          places_.get(),
                          blocks * sizeof(unsigned),
                          cudaMemcpyDeviceToHost,
                          bench_.stream()));
    bench_.timer().wait(doing());
    const auto* places = static_cast<const unsigned*>(fetched.get());
    return std::set<unsigned>(places, places + blocks).size();
  }

 private:
  void require_readable(const probes::StreamWork& work) const {
    if (work.kernel != probes::MemoryKernel::read) {
      throw NothingToMeasure("inside a multiprocessor only reading is measured");
    }
    if (!shared_) return;
    int limit = 0;
    const int ordinal = bench_.description().ordinal;
    check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
    if (work.working_set.value() > limit) {
      throw NothingToMeasure(
          fmt::format("GPU {} gives a block at most {} bytes of shared memory, {:.0f} were asked "
                      "for",
                      ordinal,
                      limit,
                      work.working_set.value()));
    }
  }

  float* data() const { return static_cast<float*>(data_.get()); }

  std::string doing() const {
    return fmt::format("reading {} bytes of {} per multiprocessor",
                       read_.vectors * vector_bytes,
                       shared_ ? "shared memory" : "L1");
  }

  cudaError_t launch(int passes, bool want_sums, cudaStream_t stream) const {
    MultiprocessorRead read = read_;
    read.passes = passes;
    const MultiprocessorReadResult result{
        static_cast<float*>(sums_.get()), want_sums, static_cast<unsigned*>(places_.get())};
    return shared_ ? launch_shared_read(read, data(), result, stream)
                   : launch_l1_read(read, data(), result, stream);
  }

  float sum_of_thread(std::uint64_t first, std::uint64_t thread) const {
    float sums[vector_floats] = {};
    for (std::uint64_t i = thread; i < read_.vectors;
         i += static_cast<std::uint64_t>(read_.block_threads)) {
      for (std::uint32_t c = 0; c < vector_floats; ++c) {
        sums[c] += uniform_value(first + i * vector_floats + c, seed);
      }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  Workbench& bench_;
  bool shared_;
  MultiprocessorRead read_;
  DeviceBuffer data_;
  DeviceBuffer sums_;
  DeviceBuffer places_;
};

}  // namespace

probes::DeviceMeasured time_multiprocessor_read(Workbench& bench,
                                                const probes::StreamWork& work,
                                                const probes::Target& target) {
  MultiprocessorWork reading(bench, work);
  reading.check_result();
  const int passes =
      bench.passes_for([&](int count) { return reading.passes(count); }, most_passes);
  probes::BatchOptions options = bench.batch_options();
  options.operations = passes;
  probes::DeviceMeasured measured = bench.time(reading.passes(passes), target, options);
  measured.bytes = Bytes(reading.bytes());
  const std::size_t met = reading.multiprocessors_met();
  const auto all = static_cast<std::size_t>(bench.description().multiprocessors);
  if (met != all) {
    measured.warnings.push_back(
        fmt::format("only {} of {} multiprocessors had work: some had two blocks", met, all));
  }
  return measured;
}

}  // namespace scaleworth::gpu
