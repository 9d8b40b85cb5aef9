// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions.h"
#include "cuda/kernels/fill.h"
#include "cuda/kernels/roofline.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstring>

namespace scaleworth::gpu {
namespace {

template <class T>
T read_as(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

double number_at(NumberFormat format, const ArraySample& sample, std::size_t index) {
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  const std::byte* from = sample.bytes.data() + index * bytes;
  if (format == NumberFormat::fp64) return read_as<double>(from);
  if (format == NumberFormat::fp16) return fp16_value(read_as<std::uint16_t>(from));
  if (format == NumberFormat::bf16) return bf16_value(read_as<std::uint16_t>(from));
  return read_as<float>(from);
}

std::string capability_text(int compute_capability) {
  return fmt::format("{}.{}", compute_capability / 10, compute_capability % 10);
}

// What the questions about chains of multiply-adds share: formats, data and the check by the host.

/// fp32 for what is none of the four.
FmaFormat fma_format(NumberFormat format) {
  if (format == NumberFormat::fp64) return FmaFormat::fp64;
  if (format == NumberFormat::fp16) return FmaFormat::fp16;
  return format == NumberFormat::bf16 ? FmaFormat::bf16 : FmaFormat::fp32;
}

/// Throws NothingToMeasure with the reason unless the GPU's CUDA cores multiply and add in
/// `format`: fp64, fp32 and fp16 on all, bf16 from compute capability 8.0.
void require_chain_format(const DeviceDescription& description, NumberFormat format) {
  static_cast<void>(chain_constants(format));
  // Ampere's CUDA cores are the first with bf16.
  if (format == NumberFormat::bf16 && description.compute_capability < 80) {
    throw NothingToMeasure(FindingId::no_bf16_on_cores,
                           description.ordinal,
                           capability_text(description.compute_capability));
  }
}

/// Queues: data[0..numbers) uniform in [-1, 1].
void fill_uniform(Workbench& bench, NumberFormat format, void* data, std::uint64_t numbers) {
  constexpr std::uint32_t seed = 1;  // any: a fixed one repeats the data
  check(launch_fill_uniform(fma_format(format), data, numbers, seed, bench.stream()));
}

/// Throws ProbeFailure unless each number in `after` is the one in `before` after `steps` of the
/// format's chain (chain_constants). Both were taken from arrays of the same layout.
void require_chains(const DeviceHealth& health,
                    NumberFormat format,
                    const std::vector<ArraySample>& before,
                    const std::vector<ArraySample>& after,
                    int steps,
                    const std::string& doing) {
  const ChainConstants constants = chain_constants(format);
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  // The host needs some 50 ns per step: a tenth of a second must do.
  constexpr std::size_t most_steps = 2'000'000;
  const std::size_t numbers = before.size() * before.front().bytes.size() / bytes;
  const std::size_t stride = 1 + numbers * static_cast<std::size_t>(steps) / most_steps;
  for (std::size_t s = 0; s < before.size(); ++s) {
    for (std::size_t i = 0; i < before[s].bytes.size() / bytes; i += stride) {
      const double wanted =
          rounded_chain(format, number_at(format, before[s], i), constants, steps);
      const double found = number_at(format, after.at(s), i);
      if (!(found == wanted)) wrong_result(health, doing, before[s].first + i, found, wanted);
    }
  }
}

// A wrong instruction shows at once; the host repeats each step.
constexpr int checked_iterations = 4;
// Seconds for one launch: a clock that stands still ends here.
constexpr int most_iterations = 1 << 20;

void check_chains(Workbench& bench,
                  NumberFormat format,
                  const FmaConstants& constants,
                  FmaData data,
                  std::uint64_t numbers) {
  const std::string doing = fmt::format("a chain of multiply-adds in {}", key_of(format));
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  const auto before = take_samples(bench, data.initial, numbers, bytes);
  check(cudaMemsetAsync(data.results, 0xff, numbers * bytes, bench.stream()));
  data.want_results = true;
  const int blocks = bench.description().multiprocessors * fma_blocks_per_multiprocessor;
  check(
      launch_fma(fma_format(format), blocks, checked_iterations, constants, data, bench.stream()));
  const auto after = take_samples(bench, data.results, numbers, bytes);
  require_chains(bench.health(), format, before, after, fma_steps * checked_iterations, doing);
}

}  // namespace

DeviceMeasured time_cuda_cores(Workbench& bench, NumberFormat format, const Target& target) {
  require_chain_format(bench.description(), format);
  const auto [a, b] = chain_constants(format);
  const FmaConstants constants{a, b};
  // Formats of 16 bits are packed in pairs.
  const int at_once = format == NumberFormat::fp16 || format == NumberFormat::bf16 ? 2 : 1;
  const auto numbers = static_cast<std::uint64_t>(fma_block_threads * fma_chains * at_once);
  const std::size_t bytes = numbers * static_cast<std::size_t>(element_bytes(format));
  const DeviceBuffer initial = bench.allocate(bytes);
  const DeviceBuffer results = bench.allocate(bytes);
  fill_uniform(bench, format, initial.get(), numbers);
  const FmaData data{initial.get(), results.get(), false};
  check_chains(bench, format, constants, data, numbers);

  const int blocks = bench.description().multiprocessors * fma_blocks_per_multiprocessor;
  const auto work = [&](int iterations) {
    return BatchWork{.doing = fmt::format("multiply-adds in {}", key_of(format)),
                     .enqueue = [=](cudaStream_t stream, int) {
                       return launch_fma(
                           fma_format(format), blocks, iterations, constants, data, stream);
                     }};
  };
  const int iterations = bench.passes_for(work, most_iterations);
  DeviceMeasured measured = bench.time(work(iterations), target);
  measured.flops = Flops(2.0 * at_once * fma_chains * fma_steps * fma_block_threads *
                         static_cast<double>(blocks) * iterations);
  return measured;
}

}  // namespace scaleworth::gpu
