// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/chains.h"
#include "cuda/device/questions/questions.h"
#include "cuda/device/questions/samples.h"
#include "cuda/kernels/roofline/fma.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/rounded_fma.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::NumberFormat;

constexpr int checked_iterations = 4;
constexpr int most_iterations = 1 << 20;

FmaFormat fma_format(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp64:
      return FmaFormat::fp64;
    case NumberFormat::fp16:
      return FmaFormat::fp16;
    case NumberFormat::bf16:
      return FmaFormat::bf16;
    default:
      return FmaFormat::fp32;
  }
}

/// fp16 and bf16 go in pairs.
int numbers_at_once(NumberFormat format) {
  return format == NumberFormat::fp16 || format == NumberFormat::bf16 ? 2 : 1;
}

void check_chains(Workbench& bench,
                  NumberFormat format,
                  const FmaConstants& constants,
                  FmaData data,
                  std::uint64_t numbers) {
  const std::string doing =
      fmt::format("a chain of multiply-adds in {}", number_format_name(format));
  const auto bytes = static_cast<std::size_t>(probes::element_bytes(format));
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

probes::DeviceMeasured time_cuda_cores(Workbench& bench,
                                       NumberFormat format,
                                       const probes::Target& target) {
  require_chain_format(bench.description(), format);
  const auto [a, b] = probes::chain_constants(format);
  const FmaConstants constants{a, b};
  const int at_once = numbers_at_once(format);
  const auto numbers = static_cast<std::uint64_t>(fma_block_threads * fma_chains * at_once);
  const std::size_t bytes = numbers * static_cast<std::size_t>(probes::element_bytes(format));
  const DeviceBuffer initial = bench.allocate(bytes);
  const DeviceBuffer results = bench.allocate(bytes);
  fill_uniform(bench, format, initial.get(), numbers);
  const FmaData data{initial.get(), results.get(), false};
  check_chains(bench, format, constants, data, numbers);

  const int blocks = bench.description().multiprocessors * fma_blocks_per_multiprocessor;
  const auto work = [&](int iterations) {
    return BatchWork{.doing = fmt::format("multiply-adds in {}", number_format_name(format)),
                     .enqueue = [=](cudaStream_t stream, int) {
                       return launch_fma(
                           fma_format(format), blocks, iterations, constants, data, stream);
                     }};
  };
  const int iterations = bench.passes_for(work, most_iterations);
  probes::DeviceMeasured measured = bench.time(work(iterations), target, bench.batch_options());
  measured.flops = Flops(2.0 * at_once * fma_chains * fma_steps * fma_block_threads *
                         static_cast<double>(blocks) * iterations);
  return measured;
}

}  // namespace scaleworth::gpu
