// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/questions.h"
#include "cuda/device/questions/samples.h"
#include "cuda/kernels/roofline/fill.h"
#include "cuda/kernels/roofline/stream.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::MemoryKernel;

constexpr int vector_bytes = 16;
constexpr int vector_floats = 4;
constexpr int most_passes = 1 << 16;
constexpr std::uint32_t first_seed = 1;
constexpr std::uint32_t second_seed = 2;

StreamOperation operation_of(MemoryKernel kernel) {
  switch (kernel) {
    case MemoryKernel::write:
      return StreamOperation::write;
    case MemoryKernel::copy:
      return StreamOperation::copy;
    case MemoryKernel::triad:
      return StreamOperation::triad;
    case MemoryKernel::read:
      break;
  }
  return StreamOperation::read;
}

int arrays_of(StreamOperation operation) {
  if (operation == StreamOperation::triad) return 3;
  return operation == StreamOperation::copy ? 2 : 1;
}

/// The arrays of a question and what is done with them.
class DeviceStream {
 public:
  DeviceStream(Workbench& bench, const probes::StreamWork& work)
      : bench_(bench),
        kernel_{operation_of(work.kernel),
                work.variant.block_threads,
                work.variant.unroll,
                work.variant.streaming},
        one_shot_(work.variant.grid == probes::StreamGrid::one_shot),
        doing_(fmt::format("{} of {:.0f} bytes ({})",
                           memory_kernel_name(work.kernel),
                           work.working_set.value(),
                           stream_variant_name(work.variant))) {
    const int arrays = arrays_of(kernel_.operation);
    arrays_.vectors =
        static_cast<std::uint64_t>(work.working_set.value() / (vector_bytes * arrays));
    if (arrays_.vectors == 0) {
      throw ProbeFailure(fmt::format("GPU {}: {} bytes are too few for {} arrays",
                                     bench.description().ordinal,
                                     work.working_set.value(),
                                     arrays));
    }
    place_arrays(arrays);
  }

  double bytes() const {
    return static_cast<double>(arrays_.vectors) * vector_bytes * arrays_of(kernel_.operation);
  }

  BatchWork passes(int passes) const {
    return {.doing = doing_, .enqueue = [this, passes](cudaStream_t stream, int) {
              return launch_stream(kernel_, arrays_, blocks_, passes, stream);
            }};
  }

  /// Runs once on arrays of known content and looks at what came out.
  void check_result() {
    if (kernel_.operation == StreamOperation::read) return check_sum();
    // All bits set: a NaN, so that an element that is not written shows.
    check(cudaMemsetAsync(arrays_.a, 0xff, arrays_.vectors * vector_bytes, bench_.stream()));
    bench_.timer().run_once(passes(1));
    require_floats(
        bench_,
        arrays_.a,
        elements(),
        [this](std::uint64_t index) { return expected(index); },
        doing_);
  }

 private:
  std::uint64_t elements() const { return arrays_.vectors * vector_floats; }

  void place_arrays(int arrays) {
    const std::size_t bytes = arrays_.vectors * vector_bytes;
    a_ = bench_.allocate(bytes);
    arrays_.a = static_cast<float*>(a_.get());
    if (kernel_.operation == StreamOperation::read) {
      check(launch_fill_fp32(arrays_.a, elements(), first_seed, bench_.stream()));
    }
    if (arrays > 1) arrays_.b = source(b_, first_seed);
    if (arrays > 2) arrays_.c = source(c_, second_seed);
    sum_ = bench_.allocate(2 * sizeof(double));
    arrays_.sum = static_cast<double*>(sum_.get());
    int resident = 0;
    check(stream_occupancy(kernel_, &resident));
    blocks_ = one_shot_ ? 0 : std::max(1, resident) * bench_.description().multiprocessors;
  }

  const float* source(DeviceBuffer& buffer, std::uint32_t seed) {
    buffer = bench_.allocate(arrays_.vectors * vector_bytes);
    auto* data = static_cast<float*>(buffer.get());
    check(launch_fill_fp32(data, elements(), seed, bench_.stream()));
    return data;
  }

  float expected(std::uint64_t index) const {
    if (kernel_.operation == StreamOperation::write) return arrays_.scalar;
    const float b = uniform_value(index, first_seed);
    if (kernel_.operation == StreamOperation::copy) return b;
    return std::fma(arrays_.scalar, uniform_value(index, second_seed), b);
  }

  /// The kernel's sum, in fp32 per thread, against one in fp64. Numbers in [-1, 1] in random order:
  /// n of them sum up to about sqrt(n / 3), and a lost turn of 2048 vectors to about 52.
  void check_sum() {
    check(cudaMemsetAsync(sum_.get(), 0, 2 * sizeof(double), bench_.stream()));
    StreamArrays summed = arrays_;
    summed.want_sum = true;
    check(launch_stream(kernel_, summed, blocks_, 1, bench_.stream()));
    check(launch_sum(arrays_.a, elements(), arrays_.sum + 1, bench_.stream()));
    const PinnedBuffer fetched = allocate_pinned(bench_.health(), 2 * sizeof(double));
    check(cudaMemcpyAsync(
        fetched.get(), sum_.get(), 2 * sizeof(double), cudaMemcpyDeviceToHost, bench_.stream()));
    bench_.timer().wait(doing_);
    const auto* sums = static_cast<const double*>(fetched.get());
    const double tolerance = 1e-3 + 1e-4 * std::sqrt(static_cast<double>(elements()));
    if (!(std::abs(sums[0] - sums[1]) <= tolerance)) {
      wrong_result(bench_.health(), "the sum of a " + doing_, 0, sums[0], sums[1]);
    }
  }

  Workbench& bench_;
  StreamKernel kernel_;
  bool one_shot_;
  std::string doing_;
  StreamArrays arrays_;
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer c_;
  DeviceBuffer sum_;
  int blocks_ = 0;
};

}  // namespace

probes::DeviceMeasured time_device_stream(Workbench& bench,
                                          const probes::StreamWork& work,
                                          const probes::Target& target) {
  DeviceStream stream(bench, work);
  stream.check_result();
  // Evict-first loads may stay in L1 for a while, and a second pass in the same launch would find
  // them there, unless the set is larger than all caches.
  const bool one_pass =
      work.variant.streaming && stream.bytes() < 2.0 * bench.description().l2_cache.value();
  const int passes =
      one_pass ? 1 : bench.passes_for([&](int count) { return stream.passes(count); }, most_passes);
  probes::BatchOptions options = bench.batch_options();
  options.operations = passes;
  probes::DeviceMeasured measured = bench.time(stream.passes(passes), target, options);
  measured.bytes = Bytes(stream.bytes());
  return measured;
}

}  // namespace scaleworth::gpu
