// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions.h"
#include "cuda/kernels/fill.h"
#include "cuda/kernels/roofline.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/batching.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace scaleworth::gpu {
namespace {

constexpr std::uint32_t vector_bytes = 16;  // float4, the widest access of a thread
constexpr std::uint32_t vector_floats = 4;
constexpr int most_stream_passes = 1 << 16;  // a clock that stands still ends here
constexpr std::uint32_t first_seed = 1;      // any two that differ
constexpr std::uint32_t second_seed = 2;

StreamOperation operation_of(MemoryKernel kernel) {
  if (kernel == MemoryKernel::write) return StreamOperation::write;
  if (kernel == MemoryKernel::copy) return StreamOperation::copy;
  return kernel == MemoryKernel::triad ? StreamOperation::triad : StreamOperation::read;
}

int arrays_of(StreamOperation operation) {
  if (operation == StreamOperation::triad) return 3;
  return operation == StreamOperation::copy ? 2 : 1;
}

/// The arrays of a question and what is done with them.
class DeviceStream {
 public:
  DeviceStream(Workbench& bench, const StreamWork& work)
      : bench_(bench),
        kernel_{operation_of(work.kernel),
                work.variant.block_threads,
                work.variant.unroll,
                work.variant.streaming},
        one_shot_(work.variant.grid == StreamGrid::one_shot),
        doing_(fmt::format("{} of {:.0f} bytes ({})",
                           key_of(work.kernel),
                           work.working_set.value(),
                           word_of(work.variant))) {
    const int arrays = arrays_of(kernel_.operation);
    arrays_.vectors =
        static_cast<std::uint64_t>(work.working_set.value() / (vector_bytes * arrays));
    if (arrays_.vectors == 0) {
      throw ProbeFailure("GPU {}: {} bytes are too few for {} arrays",
                         bench.description().ordinal,
                         work.working_set.value(),
                         arrays);
    }
    arrays_.a = uniform(a_, kernel_.operation == StreamOperation::read, first_seed);
    if (arrays > 1) arrays_.b = uniform(b_, true, first_seed);
    if (arrays > 2) arrays_.c = uniform(c_, true, second_seed);
    sum_ = bench_.allocate(2 * sizeof(double));
    arrays_.sum = static_cast<double*>(sum_.get());
    int resident = 0;
    check(stream_occupancy(kernel_, &resident));
    blocks_ = one_shot_ ? 0 : std::max(1, resident) * bench_.description().multiprocessors;
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
    const auto wanted = [this](std::uint64_t index) { return expected(index); };
    require_floats(bench_, arrays_.a, elements(), wanted, doing_);
  }

 private:
  std::uint64_t elements() const { return arrays_.vectors * vector_floats; }

  /// An array of the question, allocated in `buffer`; with numbers if it is read.
  float* uniform(DeviceBuffer& buffer, bool filled, std::uint32_t seed) {
    buffer = bench_.allocate(arrays_.vectors * vector_bytes);
    auto* data = static_cast<float*>(buffer.get());
    if (filled) {
      check(launch_fill_uniform(FmaFormat::fp32, data, elements(), seed, bench_.stream()));
    }
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
    // Rounding grows with the root of the number: of a whole GPU's memory, 3.5e10 elements, 19 are
    // allowed, below the 52 of a lost turn. Presumed: less would reject sound sums.
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

constexpr auto line_bytes = static_cast<std::uint64_t>(probes::chase_stride.value());
constexpr std::uint64_t cycle_seed = 1;  // any: a fixed one repeats the order
// Of one repetition: enough for the GPU's timer, which may step by a microsecond.
constexpr int loads_at_least = 4096;
// What fits an L1 cache of 512 KiB must be walked through in the launch that is timed.
constexpr std::uint32_t most_warmed_nodes = 4096;

class Chase {
 public:
  Chase(Workbench& bench, const ChaseWork& work) : bench_(bench) {
    const auto bytes = static_cast<std::uint64_t>(work.working_set.value());
    const std::uint64_t count = bytes / line_bytes;
    if (count < 2 || count > 0xffffffffU) {
      throw ProbeFailure(
          "GPU {}: {} bytes make no cycle: at least two nodes of {} bytes are needed",
          bench.description().ordinal,
          bytes,
          line_bytes);
    }
    doing_ = fmt::format("a chain of loads through {} bytes", bytes);
    memory_ = bench.allocate(count * line_bytes);
    state_ = bench.allocate(sizeof(ChaseState));
    fetched_ = allocate_pinned(bench.health(), sizeof(ChaseState));
    nodes_.base = memory_.get();
    nodes_.stride = line_bytes;
    nodes_.count = static_cast<std::uint32_t>(count);
    link();
  }

  /// Follows a few thousand loads and compares where they lead with the host's walk.
  void check_result() {
    rewind();
    const ChaseState state = follow(0, loads_at_least);
    const auto* found = static_cast<const std::byte*>(state.position);
    const std::byte* wanted = address_of(place_after(next_, 0, loads_at_least));
    if (found != wanted) {
      throw WrongResult("GPU {}: {} led to a wrong address; its timing is not kept",
                        bench_.description().ordinal,
                        doing_);
    }
  }

  BatchTiming run(int repetitions) {
    const std::uint64_t warm = nodes_.count <= most_warmed_nodes ? rounded_up(nodes_.count) : 0;
    const ChaseState state = follow(warm, std::uint64_t{loads_at_least} * repetitions);
    BatchTiming timing;
    timing.time = Seconds(1e-9 * static_cast<double>(state.nanoseconds));
    if (timing.time.value() > 0.5e-3) {  // the GPU's timer steps by up to 1 us: 0.2 %
      timing.clock_hz = static_cast<double>(state.cycles) / timing.time.value();
    }
    return timing;
  }

 private:
  static std::uint64_t rounded_up(std::uint64_t loads) {
    return (loads + chase_loads_at_once - 1) / chase_loads_at_once * chase_loads_at_once;
  }

  std::byte* address_of(std::uint32_t index) const {
    return static_cast<std::byte*>(memory_.get()) + nodes_.stride * index;
  }

  void link() {
    next_ = random_cycle(nodes_.count, cycle_seed);
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

// Checked in each array, spread: a kernel that leaves out a block, or the end, is seen. All would
// take longer than the samples.
constexpr std::uint64_t most_stretches = 64;
constexpr std::uint64_t stretch_elements = 256;  // a kilobyte: a warp's share and more
}  // namespace

DeviceMeasured time_device_stream(Workbench& bench, const StreamWork& work, const Target& target) {
  DeviceStream stream(bench, work);
  stream.check_result();
  // Evict-first loads may stay in L1 for a while, and a second pass in the same launch would find
  // them there, unless the set is larger than all caches.
  const bool one_pass =
      work.variant.streaming && stream.bytes() < 2.0 * bench.description().l2_cache.value();
  const int passes = one_pass ? 1
                              : bench.passes_for([&](int count) { return stream.passes(count); },
                                                 most_stream_passes);
  DeviceMeasured measured = bench.time(stream.passes(passes), target, passes);
  measured.bytes = Bytes(stream.bytes());
  return measured;
}

DeviceMeasured time_chase(Workbench& bench, const ChaseWork& work, const Target& target) {
  Chase chase(bench, work);
  chase.check_result();
  BatchFunction runner([&](int repetitions) { return chase.run(repetitions); });
  BatchOptions options = bench.batch_options();
  options.maximum_repetitions = 1 << 16;
  options.operations = loads_at_least;
  return bench.watched([&] { return sample_batches(runner, target, options); });
}

std::vector<ArraySample> take_samples(Workbench& bench,
                                      const void* array,
                                      std::uint64_t elements,
                                      std::size_t element_bytes) {
  const std::uint64_t count = std::min(elements, stretch_elements);
  const std::size_t length = count * element_bytes;
  std::vector<ArraySample> samples(std::min(most_stretches, elements / count));
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    samples[i].first = (elements - count) / (samples.size() - 1) * i;
  }
  samples.back().first = elements - count;
  const PinnedBuffer staged = allocate_pinned(bench.health(), samples.size() * length);
  auto* stage = static_cast<std::byte*>(staged.get());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    check(cudaMemcpyAsync(stage + i * length,
                          static_cast<const std::byte*>(array) + samples[i].first * element_bytes,
                          length,
                          cudaMemcpyDefault,
                          bench.stream()));
  }
  bench.timer().wait("reading samples of a result");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].bytes.assign(stage + i * length, stage + (i + 1) * length);
  }
  return samples;
}

void require_floats(Workbench& bench,
                    const float* array,
                    std::uint64_t elements,
                    const std::function<float(std::uint64_t)>& expected,
                    const std::string& doing) {
  for (const ArraySample& sample : take_samples(bench, array, elements, sizeof(float))) {
    for (std::size_t i = 0; i < sample.bytes.size() / sizeof(float); ++i) {
      float found = 0.0F;
      std::memcpy(&found, sample.bytes.data() + i * sizeof(float), sizeof(float));
      const float wanted = expected(sample.first + i);
      if (!(found == wanted)) wrong_result(bench.health(), doing, sample.first + i, found, wanted);
    }
  }
}

void wrong_result(const DeviceHealth& health,
                  const std::string& doing,
                  std::uint64_t index,
                  double found,
                  double expected) {
  throw WrongResult(
      "GPU {}: {} gave a wrong result: element {} is {:.9g} instead of {:.9g}; its "
      "timing is not kept. See dmesg for Xid and nvidia-smi -q for memory errors",
      health.ordinal(),
      doing,
      index,
      found,
      expected);
}
}  // namespace scaleworth::gpu
